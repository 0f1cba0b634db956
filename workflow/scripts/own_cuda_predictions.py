"""Rule ``own_cuda_predictions``: times of the user's own compiled kernels on every GPU."""

from pipeline import runlog, store
from pipeline.timing.compiled import predict_launches

runlog.start(snakemake.log[0])

counts = store.read(snakemake.input.counts)
gpus = store.read(snakemake.input.gpus)
store.write(predict_launches(counts, gpus), snakemake.output[0], snakemake.params)
