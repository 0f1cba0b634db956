"""Rule ``tile_order``: DRAM traffic of a product for every order of its blocks."""

from pipeline import runlog, store
from pipeline.timing.block_order import block_orders

runlog.start(snakemake.log[0])

gpus = store.read(snakemake.input.gpus)
store.write(block_orders(gpus, **snakemake.params.settings), snakemake.output[0], snakemake.params)
