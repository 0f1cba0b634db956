"""Rule ``ldmatrix``: bank conflicts of loads of pieces, for every row width, layout and place."""

from pipeline import runlog, store
from pipeline.tensor_core.results import ldmatrix

runlog.start(snakemake.log[0])

store.write(ldmatrix(), snakemake.output[0])
