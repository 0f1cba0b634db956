"""What is decoded and how, read back from the plain values that rules hand to their jobs."""

from collections.abc import Mapping
from typing import Any

import xarray as xr
from pydantic import TypeAdapter

from pipeline.decode.execution import Execution
from pipeline.decode.step_times import Assumptions
from pipeline.decode.workload import Workload

Plain = Mapping[str, Any]


def workload(values: Plain) -> Workload:
    """Read models, number formats, fusion plans and sizes back."""
    return TypeAdapter(Workload).validate_python(values)


def executions(values: Plain) -> dict[str, Execution]:
    """Read ways to run a step back, by their ids."""
    return TypeAdapter(dict[str, Execution]).validate_python(values)


def gpus(values: Plain) -> xr.Dataset:
    """Read figures of GPUs back."""
    return xr.Dataset.from_dict(values)


def assumptions(values: Plain) -> Assumptions:
    """Read the assumptions of the lecture's timeline back."""
    return Assumptions(**values)
