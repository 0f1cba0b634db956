"""Rule ``gpus``: every figure of the GPU sheets in one dataset."""

from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.hardware.gpus import gpus
from pipeline.hardware.sheet import Sheet

runlog.start(snakemake.log[0])

sheets = TypeAdapter(dict[str, Sheet]).validate_python(snakemake.params.sheets)
store.write(gpus(sheets), snakemake.output[0], snakemake.params)
