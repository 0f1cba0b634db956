"""Rule ``compiled_predictions``: times of machine code on the GPUs that it is made for."""

from pipeline import runlog, store
from pipeline.timing.compiled import predict_compiled

runlog.start(snakemake.log[0])

counts = store.read(snakemake.input.counts)
gpus = store.read(snakemake.input.gpus)
store.write(predict_compiled(counts, gpus), snakemake.output[0], snakemake.params)
