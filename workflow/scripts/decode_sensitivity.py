"""Rule ``decode_sensitivity``: times of a decode step with one assumption changed at a time."""

import xarray as xr
from pydantic import TypeAdapter

from pipeline import runlog, store
from pipeline.decode.step_times import Assumptions, Comparison, decode_sensitivity
from pipeline.decode.workload import Workload

runlog.start(snakemake.log[0])

workload = TypeAdapter(Workload).validate_python(snakemake.params.workload)
comparison = TypeAdapter(Comparison).validate_python(snakemake.params.comparison)
gpu = xr.Dataset.from_dict(snakemake.params.gpus)
assumptions = Assumptions(**snakemake.params.settings)
store.write(
    decode_sensitivity(workload, comparison, gpu, assumptions),
    snakemake.output[0],
    snakemake.params,
)
