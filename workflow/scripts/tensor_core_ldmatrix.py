"""Rule ``tensor_core_ldmatrix``: bank conflicts for every row width, layout and place."""

from pipeline import runlog, store
from pipeline.tensor_core.ldmatrix_results import ldmatrix

runlog.start(snakemake.log[0])

store.write(ldmatrix(), snakemake.output[0], snakemake.params)
