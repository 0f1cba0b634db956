"""Rule ``sm_predictions``: the replays of all kernels in one dataset."""

import xarray as xr

from pipeline import runlog, store

runlog.start(snakemake.log[0])

predictions = xr.concat(map(store.read, snakemake.input), "kernel")
store.write(predictions, snakemake.output[0], snakemake.params)
