"""Sweep of the decode timeline: every parameter, on every GPU, in every way to launch a step.

A region holds one way to launch. Its times depend on some of the parameters only, so the model's
arithmetic runs on arrays that are much smaller than the region, and the last step spreads them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
import xarray as xr
from pydantic import TypeAdapter

from pipeline.decode.execution import Execution
from pipeline.decode.operations import step
from pipeline.decode.step_times import Assumptions
from pipeline.decode.timeline import timeline
from pipeline.decode.workload import Workload
from pipeline.sweep.layout import Sweep, balanced_chunks
from pipeline.vocab.gpus import LAUNCH_FIGURES
from pipeline.vocab.sweeps import NO_RULE, TIMELINES
from pipeline.vocab.variable import annotate

CHUNK_POINTS = 1 << 21
"""Most points of a region: 16 MiB per variable; then arithmetic outweighs what a region costs."""

WHOLE = ("smem_buf", "context", "batch")
"""Parameters that are whole numbers."""

ORDER = (
    "execution",
    "gpu",
    *("launch", "ramp", "small"),
    *("eff", "context", "batch"),
    *("sync", "instr_overhead", "smem_buf"),
)
"""Dimensions of the result. Kernels do not depend on the last three, a megakernel not on launch,
ramp and small: what is equal then lies together, is written at once and takes hardly any room."""

_STORED = ("t", "bandwidth_utilisation")


@dataclass(frozen=True)
class TimelineSpace:
    """What is swept.

    Attributes
    ----------
    axes
        Values of each parameter of the timeline, in SI units, by name: those of
        :class:`pipeline.decode.timeline.TimelineParams` but for the GPU's, and ``context`` and
        ``batch`` of :class:`pipeline.decode.workload.Workload`. ``launch`` is what every kernel
        pays, on a stream and in a graph alike.
    chunk_points
        The most points of a region.
    """

    axes: Mapping[str, tuple[float, ...]]
    chunk_points: int = CHUNK_POINTS


def timeline_sweep(
    workload: Workload,
    executions: Mapping[str, Execution],
    gpus: xr.Dataset,
    space: TimelineSpace,
) -> Sweep:
    """Lay out the sweep of a space of timelines.

    Parameters
    ----------
    workload
        One model; its context and batch are replaced by those of the space.
    executions
        Id -> way to run a step.
    gpus : (gpu)
        As :func:`pipeline.decode.execution.gpu_costs` gives them.
    space
        What is swept.
    """
    (model,) = workload.models
    coordinates = xr.Dataset(
        coords={
            **{name: _axis(name, values) for name, values in space.axes.items()},
            "gpu": gpus["gpu"].to_numpy(),
            "execution": list(executions),
            "gpu_name": ("gpu", gpus["gpu_name"].to_numpy()),
            "execution_label": ("execution", [one.label for one in executions.values()]),
        },
    ).assign_coords(model=model, model_name=workload.models[model].name)
    lengths = {name: coordinates.sizes[name] for name in ORDER}
    figures = gpus.drop_attrs().reset_coords(drop=True)[["sm_count", "dram_bandwidth"]]
    return Sweep(
        name="timeline",
        unit="points",
        coordinates=annotate(coordinates, TIMELINES),
        chunks=balanced_chunks(lengths | {"execution": 1}, space.chunk_points),
        compute=partial(
            compute_timelines,
            workload=workload,
            executions=executions,
            gpus=figures,
        ),
        census=count_points,
    )


def read_sweep(
    workload: Mapping[str, Any],
    executions: Mapping[str, Any],
    gpus: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> Sweep:
    """Lay out a sweep from plain values, as :func:`timeline_sweep` takes them."""
    return timeline_sweep(
        TypeAdapter(Workload).validate_python(workload),
        TypeAdapter(dict[str, Execution]).validate_python(executions),
        xr.Dataset.from_dict(gpus),
        TypeAdapter(TimelineSpace).validate_python(settings),
    )


def count_points(part: xr.Dataset) -> dict[str, int]:
    """Count the points of a region; no rule excludes any."""
    return {NO_RULE: prod(part.sizes[dim] for dim in ORDER)}


def compute_timelines(
    part: xr.Dataset,
    workload: Workload,
    executions: Mapping[str, Execution],
    gpus: xr.Dataset,
) -> xr.Dataset:
    """Time a step at every point of a region.

    Parameters
    ----------
    part
        Coordinates of the region.
    workload, executions
        As in :func:`timeline_sweep`.
    gpus : (gpu)
        ``sm_count`` and ``dram_bandwidth`` of the GPUs.

    Returns
    -------
    xarray.Dataset
        Over :data:`ORDER`: ``t`` (s) and ``bandwidth_utilisation``.
    """
    # Without coordinates nothing has to be aligned at every operation.
    value = {name: xr.DataArray(part[name].variable.to_base_variable()) for name in ORDER}
    cards = gpus.sel(gpu=part["gpu"]).drop_vars("gpu")
    shape = tuple(part.sizes[dim] for dim in ORDER)
    spread = {name: np.empty(shape) for name in _STORED}
    for position, execution in enumerate(part["execution"].to_numpy()):
        times = _times(executions[execution], workload, cards, value)
        for name, values in spread.items():
            missing = [dim for dim in ORDER if dim not in times[name].dims]
            # The only pass over all points: a view of few numbers is spread over the region.
            values[position] = times[name].expand_dims(missing).transpose(*ORDER).to_numpy()[0]
    result = xr.Dataset({name: (ORDER, values) for name, values in spread.items()})
    return annotate(result, TIMELINES)


def _times(
    execution: Execution,
    workload: Workload,
    gpus: xr.Dataset,
    value: Mapping[str, xr.DataArray],
) -> xr.Dataset:
    """Time a step in one way, over the parameters that matter there."""
    (model,) = workload.models
    operations = step(
        workload.models[model],
        workload.plans[execution.plan],
        workload.formats[model],
        context=value["context"],
        batch=value["batch"],
        rows_per_block=workload.rows_per_block,
    )
    assumptions = Assumptions(
        **{name: value[name] for name in ("ramp", "small", "sync", "instr_overhead", "eff")},
        pages=value["smem_buf"],
        page_bytes=1,
    )
    launched = gpus.assign(dict.fromkeys(LAUNCH_FIGURES, value["launch"]))
    parameters = assumptions.parameters(launched, execution)
    return timeline(operations, execution.mode, parameters)


def _axis(name: str, values: tuple[float, ...]) -> np.ndarray:
    return np.array(values, np.int64 if name in WHOLE else np.float64)
