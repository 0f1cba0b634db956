"""Rule ``validation``: predictions against published rates, each with the tiles measured."""

from pipeline import runlog, store
from pipeline.timing.compare import compare_rates

runlog.start(snakemake.log[0])

measured = store.read(snakemake.input.measured)
gpus = store.read(snakemake.input.gpus)
result = compare_rates(measured, gpus, **snakemake.params.settings)
store.write(result, snakemake.output[0])
