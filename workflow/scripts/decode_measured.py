"""Rule ``decode_measured``: published measurements of decoding in one dataset."""

from pathlib import Path

from pipeline import runlog, store
from pipeline.measured.decode import decode_figures

runlog.start(snakemake.log[0])

store.write(decode_figures(Path(snakemake.input[0])), snakemake.output[0], snakemake.params)
