"""Rule ``sm_gpus``: the figures of the GPU sheets that replays read."""

from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.hardware.sheet import Sheet
from pipeline.hardware.sm_figures import sm_gpus

runlog.start(snakemake.log[0])

sheets = TypeAdapter(dict[str, Sheet]).validate_python(snakemake.params.sheets)
store.write(sm_gpus(sheets), snakemake.output[0], snakemake.params)
