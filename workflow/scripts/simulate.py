"""Rule ``simulate``: count what one kernel does at every size that it takes."""

from importlib import import_module

from pipeline import runlog, store
from pipeline.counting.simulate import simulate

runlog.start(snakemake.log[0])

kernel = import_module(snakemake.params.module).KERNEL
options = kernel.options(**snakemake.params.options)
counts = simulate(kernel, options, **snakemake.params.settings)
store.write(counts, snakemake.output[0], snakemake.params)
