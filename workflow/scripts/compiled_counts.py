"""Rule ``compiled_counts``: the counts of all kernels and architectures in one dataset."""

import xarray as xr

from pipeline import runlog, store

runlog.start(snakemake.log[0])

counts = xr.concat(map(store.read, snakemake.input), "kernel")
store.write(counts, snakemake.output[0], snakemake.params)
