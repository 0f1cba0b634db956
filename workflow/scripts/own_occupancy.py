"""Rule ``own_occupancy``: resident blocks of the user's own kernels on every GPU."""

import xarray as xr

from pipeline import runlog, store
from pipeline.counting.own_kernels import own_launches
from pipeline.hardware.occupancy import ladder_occupancy

runlog.start(snakemake.log[0])

gpus = xr.Dataset.from_dict(snakemake.params.gpus)
launches = own_launches(store.read(snakemake.input[0]), snakemake.params.launches)
store.write(ladder_occupancy(launches, gpus), snakemake.output[0])
