"""Rule ``tensor_core_fragments``: which lane holds which element of a tensor-core instruction."""

from pipeline import runlog, store
from pipeline.tensor_core.fragment_results import fragments

runlog.start(snakemake.log[0])

store.write(fragments(), snakemake.output[0], snakemake.params)
