"""Rule ``decode_compared``: models of decoding against published measurements."""

import xarray as xr
from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.decode.compare import Known, compare
from pipeline.decode.execution import Execution
from pipeline.decode.step_times import Assumptions
from pipeline.decode.workload import Workload

runlog.start(snakemake.log[0])

measured, gpus = map(store.read, (snakemake.input.measured, snakemake.input.gpus))
costs = xr.Dataset.from_dict(snakemake.params.gpus)
workload = TypeAdapter(Workload).validate_python(snakemake.params.workload)
executions = TypeAdapter(dict[str, Execution]).validate_python(snakemake.params.executions)
settings = snakemake.params.settings
kernels, megakernel = (executions[settings[name]] for name in ("kernels", "megakernel"))
assumptions = Assumptions(**settings["assumptions"])
known = Known(measured, gpus, costs, workload, kernels, megakernel, assumptions)
store.write(compare(known), snakemake.output[0])
