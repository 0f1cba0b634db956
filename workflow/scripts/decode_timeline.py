"""Rule ``decode_timeline``: times of a decode step on every GPU, in every way to launch it."""

import xarray as xr
from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.decode.execution import Execution
from pipeline.decode.step_times import Assumptions, decode_timeline
from pipeline.decode.workload import Workload

runlog.start(snakemake.log[0])

workload = TypeAdapter(Workload).validate_python(snakemake.params.workload)
executions = TypeAdapter(dict[str, Execution]).validate_python(snakemake.params.executions)
gpus = xr.Dataset.from_dict(snakemake.params.gpus)
assumptions = Assumptions(**snakemake.params.settings)
store.write(
    decode_timeline(workload, executions, gpus, assumptions), snakemake.output[0], snakemake.params
)
