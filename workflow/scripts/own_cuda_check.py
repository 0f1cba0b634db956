"""Rule ``own_cuda_check``: fail, with the reasons, if a compiled kernel of the user's failed."""

from pathlib import Path

from pipeline import runlog, store
from pipeline.counting.own_cuda_gather import verdict
from pipeline.render.files import publish

runlog.start(snakemake.log[0])

passed = verdict(list(map(store.read, snakemake.input)))
publish({Path(snakemake.output[0]): passed.encode()})
