"""Rule ``decode_gpu_figures``: what decoding depends on, per GPU, from what was measured."""

from pipeline import runlog, store
from pipeline.decode.gpu_figures import decode_gpu_figures

runlog.start(snakemake.log[0])

measured = store.read(snakemake.input.measured)
gpus = store.read(snakemake.input.gpus)
store.write(decode_gpu_figures(measured, gpus), snakemake.output[0], snakemake.params)
