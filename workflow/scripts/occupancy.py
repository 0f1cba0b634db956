"""Rule ``occupancy``: resident blocks of every kernel on every GPU."""

from pipeline import runlog, store
from pipeline.hardware.occupancy import ladder_occupancy
from pipeline.kernels.launches import launches

runlog.start(snakemake.log[0])

gpus = store.read(snakemake.input.gpus)
result = ladder_occupancy(launches(snakemake.params.launches), gpus)
store.write(result, snakemake.output[0], snakemake.params)
