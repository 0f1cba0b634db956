"""Rule ``predictions``: times of every kernel on every GPU, and what sets them."""

from pipeline import runlog, store
from pipeline.timing.predict import predict

runlog.start(snakemake.log[0])

counts = store.read(snakemake.input.counts)
occupancy = store.read(snakemake.input.occupancy)
gpus = store.read(snakemake.input.gpus)
store.write(predict(counts, occupancy, gpus), snakemake.output[0], snakemake.params)
