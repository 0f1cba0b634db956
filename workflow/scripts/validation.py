"""Rule ``validation``: predictions against published rates, each with the tiles measured."""

from pipeline import runlog, store
from pipeline.timing.compare import COMPILED, compare_rates

runlog.start(snakemake.log[0])

measured = store.read(snakemake.input.measured)
gpus = store.read(snakemake.input.gpus)
compiled = store.read(snakemake.input.compiled)
result = compare_rates(measured, gpus, others={COMPILED: compiled}, **snakemake.params.settings)
store.write(result, snakemake.output[0])
