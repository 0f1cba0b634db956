"""Times of a decode step: every model, GPU and execution; and what the assumptions are worth."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

import numpy as np
import xarray as xr

from pipeline.decode.execution import Execution
from pipeline.decode.operations import Amount
from pipeline.decode.timeline import PARTS, TimelineParams, timeline
from pipeline.decode.workload import Workload
from pipeline.vocab.decode import SENSITIVITY, TIMELINE
from pipeline.vocab.variable import annotate

BASE = "base"


@dataclass(frozen=True)
class Variant:
    """A change of one assumption.

    Attributes
    ----------
    parameter
        A field of :class:`Assumptions`.
    value
        What it is instead, in SI units.
    """

    parameter: str
    value: float


@dataclass(frozen=True)
class Comparison:
    """What is changed, and what is looked at.

    Attributes
    ----------
    executions
        Id -> way to run a step.
    reference
        The execution that others are compared with.
    variants
        Id -> change.
    """

    executions: Mapping[str, Execution]
    reference: str
    variants: Mapping[str, Variant]


@dataclass(frozen=True)
class Assumptions:
    """What a timeline assumes of every GPU; numbers or arrays.

    Attributes
    ----------
    ramp, small, sync, instr_overhead, eff
        As in :class:`pipeline.decode.timeline.TimelineParams`.
    pages, page_bytes
        Pages of shared memory per SM that weights can be read ahead into, and their size (B).
    """

    ramp: Amount
    small: Amount
    sync: Amount
    instr_overhead: Amount
    eff: Amount
    pages: Amount
    page_bytes: Amount

    def parameters(self, gpu: xr.Dataset, execution: Execution) -> TimelineParams:
        """Join them with the figures of GPUs, for one execution."""
        return TimelineParams(
            n_sm=gpu["sm_count"],
            hbm=gpu["dram_bandwidth"],
            launch=gpu[execution.cost] if execution.cost else 0.0,
            ramp=self.ramp,
            small=self.small,
            sync=self.sync,
            instr_overhead=self.instr_overhead,
            eff=self.eff,
            smem_buf=self.pages * self.page_bytes if execution.prefetch else 0,
        )


def decode_timeline(
    workload: Workload,
    executions: Mapping[str, Execution],
    gpus: xr.Dataset,
    assumptions: Assumptions,
) -> xr.Dataset:
    """Time one step of every model on every GPU in every way.

    Parameters
    ----------
    workload
        What is decoded.
    executions
        Id -> way to run a step.
    gpus : (gpu)
        As :func:`pipeline.decode.execution.gpu_costs` gives them.
    assumptions
        Numbers.

    Returns
    -------
    xarray.Dataset
        (model, gpu, execution): ``t`` and ``ideal_t`` (s), ``per_second``, ``launches``,
        ``bandwidth_utilisation``; with ``part`` behind: ``part_t`` (s). (model): ``bytes`` (B).
        (gpu): ``dram_bandwidth`` (B/s). (gpu, execution): ``launch_t`` (s) and ``launch_source``.
    """
    bare = gpus.drop_attrs().reset_coords(drop=True)
    times = [
        _joined(
            _stacked(timeline(step, one.mode, assumptions.parameters(bare, one)))
            for one in executions.values()
            for step in [workload.step(model, one.plan)]
        )
        for model in workload.models
    ]
    (dataset,) = xr.broadcast(xr.concat(times, "model"), exclude=["part"])
    read = [workload.step(model, next(iter(workload.plans))).bytes for model in workload.models]
    dataset = dataset.assign(
        per_second=1 / dataset["t"],
        bytes=("model", read),
        dram_bandwidth=bare["dram_bandwidth"],
    )
    dataset = dataset.merge(_joined(_launch(one, bare) for one in executions.values()))
    labelled = dataset.assign_coords(
        model=list(workload.models),
        model_name=("model", [one.name for one in workload.models.values()]),
        gpu_name=("gpu", gpus["gpu_name"].values),
        execution=list(executions),
        execution_label=("execution", [one.label for one in executions.values()]),
        context=workload.context,
        batch=workload.batch,
    )
    return annotate(labelled.transpose("model", "gpu", "execution", "part"), TIMELINE)


def _joined(datasets: Iterable[xr.Dataset]) -> xr.Dataset:
    return xr.concat(list(datasets), "execution")


def _stacked(times: xr.Dataset) -> xr.Dataset:
    """Put the parts of a timeline side by side."""
    names = [f"t_{part}" for part in PARTS]
    parts = xr.concat(xr.broadcast(*(times[name] for name in names)), "part")
    return times.drop_vars(names).assign(part_t=parts.assign_coords(part=list(PARTS)))


def _launch(execution: Execution, gpus: xr.Dataset) -> xr.Dataset:
    """Say what a launch costs on every GPU, and where that was measured."""
    if execution.cost:
        names = {execution.cost: "launch_t", "launch_source": "launch_source"}
        return gpus[list(names)].rename(names)
    free = xr.zeros_like(gpus["dram_bandwidth"])
    return xr.Dataset({"launch_t": free, "launch_source": xr.full_like(free, "", dtype="<U1")})


def decode_sensitivity(
    workload: Workload, comparison: Comparison, gpu: xr.Dataset, assumptions: Assumptions
) -> xr.Dataset:
    """Change one assumption at a time, and see what becomes of the times.

    Parameters
    ----------
    workload
        Of one model.
    comparison
        What is changed, and what is looked at.
    gpu : ()
        One GPU of what :func:`pipeline.decode.execution.gpu_costs` gives.
    assumptions
        Numbers, unchanged.

    Returns
    -------
    xarray.Dataset
        (variant, execution): ``t`` (s), ``bandwidth_utilisation``, ``speedup``. (variant):
        ``parameter``, ``value`` and ``base_value``. The first variant, ``base``, changes nothing.
    """
    (model,) = workload.models
    executions, variants = comparison.executions, comparison.variants
    changed = _varied(assumptions, variants)
    bare = gpu.drop_attrs().drop_vars(["gpu", "gpu_name"])
    times = _joined(
        timeline(workload.step(model, one.plan), one.mode, changed.parameters(bare, one))[
            ["t", "bandwidth_utilisation"]
        ]
        for one in executions.values()
    ).assign_coords(execution=list(executions))
    times["speedup"] = times["t"].sel(execution=comparison.reference, drop=True) / times["t"]
    parameters = [one.parameter for one in variants.values()]
    labelled = times.transpose("variant", "execution").assign(
        parameter=("variant", ["", *parameters]),
        value=("variant", [np.nan, *(one.value for one in variants.values())]),
        base_value=("variant", [np.nan, *(getattr(assumptions, name) for name in parameters)]),
    )
    return annotate(
        labelled.assign_coords(
            execution_label=("execution", [one.label for one in executions.values()]),
            model=model,
            model_name=workload.models[model].name,
            gpu=gpu["gpu"].item(),
            gpu_name=gpu["gpu_name"].item(),
        ),
        SENSITIVITY,
    )


def _varied(assumptions: Assumptions, variants: Mapping[str, Variant]) -> Assumptions:
    """Give every assumption the dimension ``variant``."""
    names = {"variant": [BASE, *variants]}
    arrays = {
        field: xr.DataArray(
            [base, *(v.value if v.parameter == field else base for v in variants.values())], names
        )
        for field, base in asdict(assumptions).items()
    }
    return Assumptions(**arrays)
