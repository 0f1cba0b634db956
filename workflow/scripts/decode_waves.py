"""Rule ``decode_waves``: how many waves launches take, and what the last one leaves idle."""

import xarray as xr
from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.decode.waves import Launch, decode_waves
from pipeline.decode.workload import Workload

runlog.start(snakemake.log[0])

workload = TypeAdapter(Workload).validate_python(snakemake.params.workload)
launches = TypeAdapter(dict[str, Launch]).validate_python(snakemake.params.launches)
gpus = xr.Dataset.from_dict(snakemake.params.gpus)
settings = snakemake.params.settings
step = workload.step(settings["model"], settings["plan"])
store.write(
    decode_waves(step, launches, gpus, settings["gpu"]), snakemake.output[0], snakemake.params
)
