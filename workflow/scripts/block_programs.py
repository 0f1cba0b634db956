"""Rule ``block_programs``: what the block programs of the collection do at a few sizes."""

from pipeline import runlog, store
from pipeline.counting.block_programs import block_programs

runlog.start(snakemake.log[0])

result = block_programs(**snakemake.params.settings)
store.write(result, snakemake.output[0], snakemake.params)
