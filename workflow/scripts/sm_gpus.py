"""Rule ``sm_gpus``: the figures of the GPU sheets that replays read."""

from pipeline import runlog, store
from pipeline.hardware.sm_figures import sm_gpus_of

runlog.start(snakemake.log[0])

store.write(sm_gpus_of(snakemake.params.sheets), snakemake.output[0], snakemake.params)
