"""Rule ``own_occupancy``: resident blocks of the user's own kernels on every GPU."""

from pipeline import runlog, store
from pipeline.counting.own_kernels import own_launches
from pipeline.hardware.occupancy import ladder_occupancy

runlog.start(snakemake.log[0])

gpus = store.read(snakemake.input.gpus)
launches = own_launches(store.read(snakemake.input.counts), snakemake.params.launches)
store.write(ladder_occupancy(launches, gpus), snakemake.output[0], snakemake.params)
