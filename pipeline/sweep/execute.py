"""Run a sweep from its plan to its store."""

import errno
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import xarray as xr

from pipeline import units
from pipeline.errors import SweepError
from pipeline.sweep.layout import Region, Sweep, template
from pipeline.sweep.local import LOCAL, Finish, run_local, unfinished
from pipeline.sweep.plan import Budget, Plan
from pipeline.sweep.progress import Progress
from pipeline.sweep.remote import exposure, local_cluster, run_remote
from pipeline.vocab.sweeps import NO_RULE

CLUSTER = "cluster"

SAMPLES = 3
"""Regions that are computed before a sweep starts, to time it; their results are kept."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Target(Protocol):
    """A store that is written region by region."""

    def prepare(self, template: xr.Dataset, identity: str) -> Mapping[int, str]:
        """Lay the store out, or take up an earlier run; give the digests of finished regions."""

    def write(self, region: Region, dataset: xr.Dataset) -> str:
        """Store the variables of a region; give their digest."""

    def finish(self, number: int, region: Region, digest: str) -> None:
        """Note that a region is stored."""

    def publish(self) -> None:
        """Put the finished store in its place."""

    def release(self) -> None:
        """Let others write the store."""


@dataclass(frozen=True)
class Limits:
    """Where a sweep runs and what it may take; nothing of it changes the result.

    Attributes
    ----------
    scheduler
        ``threads``, ``processes``, ``cluster`` for worker processes on this machine, or the address
        of a scheduler.
    workers
        Threads or processes on this machine.
    budget
        The most that it may take.
    """

    scheduler: str
    workers: int
    budget: Budget

    @classmethod
    def of(cls, resources: Any, threads: int) -> "Limits":
        """Take them from the resources and threads of a job."""
        budget = Budget(resources.budget_points, resources.budget_bytes, resources.budget_seconds)
        return cls(resources.scheduler, threads, budget)


@dataclass(frozen=True)
class _Surveyed:
    """What is known of a sweep before it runs.

    Attributes
    ----------
    regions
        Its parts.
    points
        Points that are computed, by region.
    plan
        What it will take.
    samples
        What was computed to time the sweep, by number of the region.
    template
        Layout of the result.
    """

    regions: Sequence[Region]
    points: Sequence[int]
    plan: Plan
    samples: Mapping[int, xr.Dataset]
    template: xr.Dataset


def run(
    sweep: Sweep,
    target: Target,
    identity: str,
    limits: Limits,
    progress: Progress,
) -> None:
    """State the plan, hold it against the budget, compute what is missing, publish the store.

    Parameters
    ----------
    sweep
        What to compute.
    target
        Where results go.
    identity
        Digest of all that the result depends on; finished regions of an earlier run are taken over
        if theirs is the same.
    limits
        Where to compute, and the most that it may take.
    progress
        Told of every step.

    Raises
    ------
    SweepError
        If the plan exceeds the budget, the disk is full, or the cluster fails. Finished regions are
        kept for the next run.
    """
    survey = _survey(sweep)
    said = filter(None, (exposure(limits.scheduler), survey.plan.statement()))
    progress.begin("\n".join(said), survey.plan.points)
    survey.plan.require(limits.budget)
    regions, points = survey.regions, survey.points

    def finish(number: int, digest: str) -> None:
        target.finish(number, regions[number], digest)
        progress.step(f"region {number + 1} of {len(regions)}", points[number])

    try:
        done = target.prepare(survey.template, identity)
        progress.found(sum(points[number] for number in done), len(done))
        for number, computed in survey.samples.items():
            if number not in done:
                finish(number, target.write(regions[number], computed))
        _compute(sweep, unfinished(regions, {*done, *survey.samples}), target, finish, limits)
        target.publish()
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise SweepError(
            f"there is no room to write ({error.strerror}); before compression the result takes "
            f"{units.with_prefix(survey.plan.size, 'B')}. Finished regions are kept: make room and "
            f"run the same command again"
        ) from None
    finally:
        target.release()
        progress.end()


def _survey(sweep: Sweep) -> _Surveyed:
    """Count the points by rule, and time a sample of the regions."""
    regions = sweep.regions()
    counted = [Counter(sweep.census(sweep.part(region))) for region in regions]
    total = sum(counted, Counter())
    points = [one[NO_RULE] for one in counted]
    samples, seconds_per_point = _sample(sweep, regions, points)
    laid_out = template(sweep, next(iter(samples.values())))
    plan = Plan(
        name=sweep.name,
        unit=sweep.unit,
        lengths={str(dim): size for dim, size in sweep.coordinates.sizes.items()},
        considered=total.total(),
        points=total[NO_RULE],
        excluded={rule: count for rule, count in total.items() if rule != NO_RULE},
        regions=len(regions),
        size=laid_out.nbytes,
        seconds=total[NO_RULE] * seconds_per_point,
    )
    return _Surveyed(regions, points, plan, samples, laid_out)


def _compute(
    sweep: Sweep, todo: Mapping[int, Region], target: Target, finish: Finish, limits: Limits
) -> None:
    """Compute regions where they are to be computed."""
    if not todo:
        return
    if limits.scheduler in LOCAL:
        run_local(sweep, todo, target.write, finish, limits.scheduler, limits.workers)
    elif limits.scheduler == CLUSTER:
        with local_cluster(limits.workers) as address:
            run_remote(sweep, todo, target.write, finish, address)
    else:
        run_remote(sweep, todo, target.write, finish, limits.scheduler)


def _sample(
    sweep: Sweep, regions: Sequence[Region], points: Sequence[int]
) -> tuple[dict[int, xr.Dataset], float]:
    """Compute regions from all over the sweep, by number; also give seconds per point.

    The first one may compile, so it is timed only where it is all there is.
    """
    busy = [number for number in range(len(regions)) if points[number]] or [0]
    chosen = sorted({busy[len(busy) * i // SAMPLES] for i in range(SAMPLES)})
    computed, seconds = {}, {}
    for number in chosen:
        started = time.perf_counter()
        computed[number] = sweep.compute(sweep.part(regions[number]))
        seconds[number] = time.perf_counter() - started
    timed = chosen[1:] or chosen
    per_point = sum(seconds[number] for number in timed) / max(1, sum(points[i] for i in timed))
    return computed, per_point
