"""Rule ``own_cuda_counts``: counts, source lines and memory of all compiled kernels together."""

from pipeline import runlog, store
from pipeline.counting.own_cuda_gather import gather_cuda, gather_rows

runlog.start(snakemake.log[0])

labels = snakemake.params.labels
counts = gather_cuda(list(map(store.read, snakemake.input.counts)), labels)
lines, memory = gather_rows(list(map(store.read, snakemake.input.instructions)), labels)
store.write(counts, snakemake.output.counts, snakemake.params)
store.write(lines, snakemake.output.lines, snakemake.params)
store.write(memory, snakemake.output.memory, snakemake.params)
