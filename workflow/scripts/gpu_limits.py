"""Rule ``gpu_limits``: the figures of the GPU sheets that decide occupancy."""

import xarray as xr

from pipeline import runlog, store
from pipeline.vocab.gpus import GPUS
from pipeline.vocab.variable import annotate

runlog.start(snakemake.log[0])

figures = xr.Dataset.from_dict(snakemake.params.gpus)
store.write(annotate(figures, GPUS), snakemake.output[0], snakemake.params)
