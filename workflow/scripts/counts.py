"""Rule ``counts``: the counters of all kernels in one dataset."""

import xarray as xr

from pipeline import runlog, store

runlog.start(snakemake.log[0])

counts = xr.concat(map(store.read, snakemake.input), "kernel")
store.write(counts, snakemake.output[0], snakemake.params)
