"""Rule ``measured``: published rates in one dataset."""

from pathlib import Path

from pipeline import runlog, store
from pipeline.measured.kernels import sgemm_rates

runlog.start(snakemake.log[0])

store.write(sgemm_rates(Path(snakemake.input[0])), snakemake.output[0], snakemake.params)
