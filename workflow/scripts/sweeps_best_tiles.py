"""Rule ``sweeps_best_tiles``: the best tile of every GPU and size, and published choices."""

from pipeline import runlog, store
from pipeline.sweep.best_tiles import best_tiles

runlog.start(snakemake.log[0])

tiles, measured = store.read(snakemake.input.tiles), store.read(snakemake.input.measured)
store.write(best_tiles(tiles, measured), snakemake.output[0], snakemake.params)
