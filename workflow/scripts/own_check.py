"""Rule ``own_check``: fail, with the reason, if a kernel of the user's own failed."""

from pathlib import Path

from pipeline import runlog, store
from pipeline.counting.own_kernels import verdict
from pipeline.render.files import publish

runlog.start(snakemake.log[0])

passed = verdict(store.read(snakemake.input[0]))
publish({Path(snakemake.output[0]): f"{passed}\n".encode()})
