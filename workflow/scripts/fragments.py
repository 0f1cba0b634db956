"""Rule ``fragments``: which lane holds which element, for every tensor-core instruction."""

from pipeline import runlog, store
from pipeline.tensor_core.results import fragments

runlog.start(snakemake.log[0])

store.write(fragments(), snakemake.output[0])
