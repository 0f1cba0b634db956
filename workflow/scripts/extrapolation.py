"""Rule ``extrapolation``: the counters at sizes that nobody simulates."""

from pipeline import runlog, store
from pipeline.counting.extrapolate import extrapolate

runlog.start(snakemake.log[0])

counts = store.read(snakemake.input[0])
result = extrapolate(counts, **snakemake.params.settings)
store.write(result, snakemake.output[0], snakemake.params)
