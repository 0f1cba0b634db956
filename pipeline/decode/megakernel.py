"""What the schedules of a megakernel say: times of every SM, and the path that sets the time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from pipeline.decode.gpu_figures import machine
from pipeline.decode.instructions import Assignment, Dealing, program
from pipeline.decode.machine import NOBODY, Machine, Schedule
from pipeline.decode.program import Floats, Ints, Program
from pipeline.decode.schedule_fast import schedule
from pipeline.decode.workload import Workload
from pipeline.vocab.megakernel import ACTIVITIES, MEGAKERNEL, MEGAKERNEL_TRACE, SIGNAL
from pipeline.vocab.variable import annotate

ASSIGNMENTS: tuple[Assignment, ...] = ("contiguous", "round_robin")

_BUSY = ("setup", "sync", "norm", "multiply")
_WAIT = ("counter", "inputs")
_LOAD = ("keys_values", "weights")
_INTERVALS = 1000


@dataclass(frozen=True)
class Job:
    """One decode step as a megakernel.

    Attributes
    ----------
    workload
        What is decoded.
    model, plan
        Ids: one of its models, and the fusion plan whose groups are the instructions.
    """

    workload: Workload
    model: str
    plan: str

    def program(self, n_sm: int, assignment: Assignment) -> Program:
        """Deal the step out to so many SMs."""
        sizes = self.workload
        dealing = Dealing(n_sm, assignment, sizes.rows_per_block, sizes.context, sizes.batch)
        return program(sizes.models[self.model], sizes.step(self.model, self.plan), dealing)


def simulate(job: Job, figures: xr.Dataset, dram_bandwidth: xr.DataArray) -> xr.Dataset:
    """Run one decode step as a megakernel on every GPU, with either assignment of rows.

    Parameters
    ----------
    job
        The step.
    figures : (gpu,)
        Of :func:`pipeline.decode.gpu_figures.decode_gpu_figures`.
    dram_bandwidth : (gpu,)
        What the ideal time is taken at (B/s).

    Returns
    -------
    (gpu, assignment), (gpu, assignment, sm), (gpu, assignment, activity)
        Times (s), instructions, and where the time goes on each SM and on the critical path.
    """
    most = int(figures["sm_count"].max())
    per_gpu = []
    for gpu in figures["gpu"].values.tolist():
        here = figures.sel(gpu=gpu)
        runs = [_run(job, here, assignment, most) for assignment in ASSIGNMENTS]
        per_gpu.append(xr.concat(runs, xr.Variable("assignment", list(ASSIGNMENTS))))
    result = xr.concat(per_gpu, figures["gpu"].drop_attrs().reset_coords(drop=True))
    result["ideal_t"] = result["bytes"] / dram_bandwidth.drop_attrs().reset_coords(drop=True)
    result["bandwidth_utilisation"] = result["ideal_t"] / result["t"]
    result["per_second"] = 1 / result["t"]
    for name, activities in (("busy_t", _BUSY), ("wait_t", _WAIT), ("load_t", _LOAD)):
        result[name] = result["sm_t"].sel(activity=list(activities)).sum("activity", skipna=False)
    names = figures["gpu_name"].variable
    return annotate(result.assign_coords(gpu_name=names, model=job.model), MEGAKERNEL)


def simulate_one(job: Job, figures: xr.Dataset) -> float:
    """Time (s) of one decode step on one GPU, rows assigned as neighbours; as :func:`simulate`."""
    dealt = job.program(int(figures["sm_count"]), ASSIGNMENTS[0])
    return schedule(dealt, machine(figures)).time


def activity_means(job: Job, figures: xr.Dataset) -> dict[str, float]:
    """Time per activity (s), the mean over the SMs of one GPU; as :func:`simulate`.

    Parameters
    ----------
    job
        The step.
    figures : ()
        One GPU.
    """
    run = _run(job, figures, ASSIGNMENTS[0], int(figures["sm_count"]))
    means = run["sm_t"].mean("sm").to_series()
    return {name: float(means[name]) for name in ACTIVITIES}


def trace(job: Job, figures: xr.Dataset, assignment: Assignment) -> xr.Dataset:
    """List every instruction of one decode step with its moments.

    Parameters
    ----------
    job
        The step.
    figures : ()
        One GPU.
    assignment
        Of rows to instructions.

    Returns
    -------
    (instruction,), (interval,)
        Moments (s), and the bandwidth that DRAM serves in the course of time.
    """
    used = machine(figures)
    dealt = job.program(int(figures["sm_count"]), assignment)
    done = schedule(dealt, used)
    width = done.time / _INTERVALS
    places = np.minimum(done.served_at / width, _INTERVALS - 1).astype(np.int64)
    served = np.bincount(places, done.served_bytes, minlength=_INTERVALS)
    critical = np.zeros(dealt.size, np.bool_)
    critical[critical_path(dealt, done)] = True
    per_instruction = {
        "operation": np.array(dealt.operations)[dealt.operation],
        "layer": dealt.layer,
        "sm": dealt.sm,
        "begin": done.begin,
        "ready": done.ready,
        "set_up": np.maximum(done.begin, done.ready) + used.setup,
        "read": done.read,
        "loaded": done.read + activities(dealt, done, used)["keys_values"],
        "start": done.start,
        "end": done.end,
        "multiply_t": dealt.numbers / used.numbers_per_second,
        "waited_for": done.waited_for,
        "is_critical": critical,
        "bytes": dealt.weight_bytes + dealt.late_bytes,
    }
    result = xr.Dataset(
        {name: ("instruction", values) for name, values in per_instruction.items()}
        | {
            "interval_begin": ("interval", np.arange(_INTERVALS) * width),
            "served_bandwidth": ("interval", served / width),
        },
        coords={"gpu": figures["gpu"].item(), "gpu_name": figures["gpu_name"].item()},
    )
    return annotate(result, MEGAKERNEL_TRACE)


def critical_path(dealt: Program, done: Schedule) -> Ints:
    """Instructions that the last one had to wait for, one behind the other, the first one first."""
    before = _before_on_sm(dealt)
    one = int(np.argmax(done.end))
    path = [one]
    while (one := _held_up_by(one, done, before)) != NOBODY:
        path.append(one)
    return np.array(path[::-1])


def activities(dealt: Program, done: Schedule, used: Machine) -> Mapping[str, Floats]:
    """Time of each instruction per activity (s), from its SM turning to it until its end.

    Parameters
    ----------
    dealt, done, used
        Program, its schedule, and the machine that it was made for.
    """
    multiply = dealt.numbers / used.numbers_per_second
    norm = dealt.norms * used.norm
    return {
        "counter": np.maximum(done.ready - done.begin, 0.0),
        "setup": np.full(dealt.size, used.setup),
        "inputs": np.full(dealt.size, used.fetch),
        "keys_values": np.maximum(done.start - done.read - used.sync - norm, 0.0),
        "sync": np.full(dealt.size, used.sync),
        "norm": norm,
        "multiply": multiply,
        "weights": np.maximum(done.end - done.start - multiply, 0.0),
    }


def _run(job: Job, figures: xr.Dataset, assignment: Assignment, most_sms: int) -> xr.Dataset:
    used = machine(figures)
    dealt = job.program(int(figures["sm_count"]), assignment)
    done = schedule(dealt, used)
    spent = activities(dealt, done, used)
    names = [*ACTIVITIES, SIGNAL]
    sm_t = np.full((most_sms, len(names)), np.nan)
    here = sm_t[: dealt.n_sm]
    here[:] = 0.0
    for place, name in enumerate(names):
        if name in spent:
            here[:, place] = np.bincount(dealt.sm, spent[name], minlength=dealt.n_sm)
    last = np.zeros(dealt.n_sm)
    np.maximum.at(last, dealt.sm, done.end)
    here[:, names.index("idle")] = done.time - last
    return xr.Dataset(
        {
            "t": done.time,
            "bytes": dealt.bytes,
            "instructions": dealt.size,
            "instructions_per_layer": int(np.count_nonzero(dealt.layer == 0)),
            "sm_t": (("sm", "activity"), sm_t),
            "critical_t": ("activity", _critical(dealt, done, used, spent, names)),
        },
        coords={"sm": np.arange(most_sms), "activity": names},
    )


def _critical(
    dealt: Program,
    done: Schedule,
    used: Machine,
    spent: Mapping[str, Floats],
    names: Sequence[str],
) -> list[float]:
    """Time of the critical path per activity; waiting on it is what the one before does (s)."""
    path = critical_path(dealt, done)
    total = {name: float(values[path].sum()) for name, values in spent.items()}
    handed_on = done.ready[path] > done.begin[path]
    total |= {"counter": 0.0, "idle": 0.0, SIGNAL: float(handed_on.sum()) * used.signal}
    return [total[name] for name in names]


def _before_on_sm(dealt: Program) -> Ints:
    before = np.full(dealt.size, NOBODY)
    order = np.argsort(dealt.sm, kind="stable")
    same = dealt.sm[order][1:] == dealt.sm[order][:-1]
    before[order[1:][same]] = order[:-1][same]
    return before


def _held_up_by(one: int, done: Schedule, before: Ints) -> int:
    waited = done.ready[one] > done.begin[one]
    return int(done.waited_for[one] if waited else before[one])
