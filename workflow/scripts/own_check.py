"""Rule ``own_check``: fail, with the reason, if a kernel of the user's own failed.

A kernel that is right and too large for a GPU is one of which the check says so.
"""

from pathlib import Path

from pipeline import runlog, store
from pipeline.counting.own_fit import notes
from pipeline.counting.own_kernels import own_launches, verdict
from pipeline.hardware.occupancy import ladder_occupancy
from pipeline.render.files import publish

runlog.start(snakemake.log[0])

counts, gpus = store.read(snakemake.input.counts), store.read(snakemake.input.gpus)
passed = verdict(counts)
resident = ladder_occupancy(own_launches(counts, snakemake.params.launches), gpus)
publish({Path(snakemake.output[0]): f"{passed}\n{notes(resident, gpus)}".encode()})
