"""Rule ``own_counts``: the counters of those of the user's own kernels that passed."""

from pipeline import runlog, store
from pipeline.counting.own_kernels import gather

runlog.start(snakemake.log[0])

counts = gather(list(map(store.read, snakemake.input)), snakemake.params.labels)
store.write(counts, snakemake.output[0], snakemake.params)
