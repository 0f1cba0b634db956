"""Rule ``counters_measured``: counters of a profiler beside simulated ones."""

from pathlib import Path

from pipeline import runlog, store
from pipeline.counting.measured_counters import compare_counters
from pipeline.measured.kernels import nsight_counters

runlog.start(snakemake.log[0])

gpus = store.read(snakemake.input.gpus)
measured = nsight_counters(Path(snakemake.input.measured))
store.write(compare_counters(measured, gpus), snakemake.output[0], snakemake.params)
