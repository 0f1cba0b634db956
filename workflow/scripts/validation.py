"""Rule ``validation``: predictions against published rates, each with the tiles measured."""

from pipeline import runlog, store
from pipeline.timing.compare import COMPILED, REPLAY, compare_rates

runlog.start(snakemake.log[0])

measured = store.read(snakemake.input.measured)
gpus = store.read(snakemake.input.gpus)
compiled = store.read(snakemake.input.compiled)
replayed = store.read(snakemake.input.replayed)
models = {"others": {COMPILED: compiled}, "row_by_row": {REPLAY: replayed}}
result = compare_rates(measured, gpus, **models, **snakemake.params.settings)
store.write(result, snakemake.output[0], snakemake.params)
