"""Rule ``claimed_reads``: how often kernels are said to read shared memory."""

from pathlib import Path

from pipeline import runlog, store
from pipeline.measured.kernels import claimed_reads

runlog.start(snakemake.log[0])

store.write(claimed_reads(Path(snakemake.input[0])), snakemake.output[0], snakemake.params)
