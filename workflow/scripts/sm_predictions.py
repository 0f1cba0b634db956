"""Rule ``sm_predictions``: the replays of the ladder on all GPUs in one dataset."""

import xarray as xr

from pipeline import runlog, store

runlog.start(snakemake.log[0])

predictions = xr.concat(map(store.read, snakemake.input), "gpu")
shown = predictions.sel(gpu=snakemake.params.settings["gpus"])
store.write(shown, snakemake.output[0], snakemake.params)
