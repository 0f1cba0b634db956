"""Rule ``decode_spans``: the first layers of a step on a time axis, for every way to run it."""

import xarray as xr
from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.decode.execution import Execution
from pipeline.decode.spans import spans
from pipeline.decode.step_times import Assumptions
from pipeline.decode.workload import Workload

runlog.start(snakemake.log[0])

trace = store.read(snakemake.input[0])
workload = TypeAdapter(Workload).validate_python(snakemake.params.workload)
executions = TypeAdapter(dict[str, Execution]).validate_python(snakemake.params.executions)
gpu = xr.Dataset.from_dict(snakemake.params.gpus)
settings = snakemake.params.settings
assumptions = Assumptions(**settings["assumptions"])
result = spans(workload, executions, gpu, assumptions, trace, settings["layers"])
store.write(result, snakemake.output[0])
