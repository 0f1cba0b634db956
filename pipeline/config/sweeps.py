"""What ``config/config.yaml`` may hold about sweeps: spaces, budget, and where they run."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainValidator
from pydantic_core import PydanticCustomError

from pipeline.config.section import Number, Section, Whole, as_number, as_whole, each_once, setting
from pipeline.sweep.space import Axis, Range, axis_values

LARGEST_N = 65536
"""As for ``extrapolation.sizes``: beyond it float64 does not hold every count."""

MOST_VALUES = 10_000
MOST_THREADS = 256

SPACINGS: tuple[Literal["linear", "log"], ...] = ("linear", "log")
VALUES = "list of numbers, or {linear: [first, last], count: k}, or the same with log"

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://[^\s/]+:[0-9]+")
_PLACES = ("threads", "processes", "cluster")


def _as_axis(value: object, whole: bool) -> Axis:
    """Accept a list, or a range given by spacing, ends and count."""
    read = as_whole if whole else as_number
    if isinstance(value, dict):
        return _as_range(value, whole)
    if isinstance(value, str) or not isinstance(value, list | tuple) or not value:
        raise PydanticCustomError("axis", "must be a " + VALUES)
    return tuple(sorted(each_once(tuple(read(one) for one in value))))


def _as_range(value: dict[Any, Any], whole: bool) -> Range:
    given = [name for name in SPACINGS if name in value]
    if len(given) != 1 or set(value) != {given[0], "count"}:
        raise PydanticCustomError("axis", "must be a " + VALUES)
    (spacing,) = given
    ends, count = value[spacing], as_whole(value["count"])
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        raise PydanticCustomError("ends", "must have two ends: " + VALUES)
    first, last = (as_number(end) for end in ends)
    if first >= last or (spacing == "log" and first <= 0):
        raise PydanticCustomError("ends", "must have ends that rise, and positive ones with log")
    if not 2 <= count <= MOST_VALUES:
        raise PydanticCustomError(
            "count", "must have a count from 2 to {most}", {"most": MOST_VALUES}
        )
    return Range(spacing, first, last, count, whole)


def _within(least: float, most: float) -> AfterValidator:
    """Require every value of an axis to lie in a range."""

    def check(axis: Axis) -> Axis:
        wrong = [value for value in axis_values(axis) if not least <= value <= most]
        if wrong:
            raise PydanticCustomError(
                "values",
                "must hold values from {least} to {most}, but {wrong} is none",
                {"least": f"{least:g}", "most": f"{most:g}", "wrong": f"{wrong[0]:g}"},
            )
        return axis

    return AfterValidator(check)


def _as_scheduler(value: object) -> str:
    """Accept a way to run on this machine, or the address of a scheduler."""
    if value in _PLACES or (isinstance(value, str) and _ADDRESS.fullmatch(value)):
        return str(value)
    raise PydanticCustomError(
        "scheduler",
        "must be {places} or the address of a scheduler, such as tcp://127.0.0.1:8786",
        {"places": ", ".join(_PLACES)},
    )


Wholes = PlainValidator(lambda value: _as_axis(value, whole=True))
Tile = Annotated[Axis, Wholes, _within(1, 1024)]
Sizes = Annotated[Axis, Wholes, _within(1, LARGEST_N)]
Numbers = PlainValidator(lambda value: _as_axis(value, whole=False))
# Anything longer was given in microseconds.
Seconds = Annotated[Axis, Numbers, _within(0, 0.01)]
SECONDS = f"0 to 0.01: {VALUES}"
Scheduler = Annotated[str, PlainValidator(_as_scheduler)]

TILE_VALUES = f"whole numbers from 1 to 1024: {VALUES}"


class Budget(Section):
    """The most that one sweep may take. Above it a sweep stops before it starts."""

    points: Annotated[Whole, Field(ge=1)] = setting("Points that are computed.", "1", "from 1")
    bytes: Annotated[Whole, Field(ge=1)] = setting(
        "Size of the result before compression.", "B", "from 1"
    )
    seconds: Annotated[Number, Field(gt=0)] = setting(
        "Time, estimated from samples as if one worker did everything.", "s", "above 0"
    )


class Execution(Section):
    """Where sweeps run. Nothing here changes a result, and a change makes nothing anew."""

    scheduler: Scheduler = setting(
        "threads or processes of the job, a cluster of worker processes on this machine, or the "
        "address of a dask scheduler. The environment variable DASK_SCHEDULER_ADDRESS goes before "
        "it. docs/CLUSTERS.md tells how to run on many machines.",
        "1",
        "threads, processes, cluster, or an address such as tcp://127.0.0.1:8786",
    )
    threads: Annotated[Whole, Field(ge=1, le=MOST_THREADS)] = setting(
        "Threads or processes of a sweep on this machine; at most what `--cores` gives. Sweeps of "
        "tiles take one thread, since theirs would wait for each other.",
        "1",
        f"1 to {MOST_THREADS}",
    )


class Tiles(Section):
    """Tiles of the kernels k04, k05, k06 and k09, on every GPU."""

    sizes: Sizes = setting("Sizes n of the square matrices.", "elements", f"1 to {LARGEST_N}")
    n: Annotated[Whole, Field(ge=1)] = setting(
        "The size of the variables that have no size of their own.", "elements", "one of sizes"
    )
    bm: Tile = setting("Rows of C per block.", "elements", TILE_VALUES)
    bn: Tile = setting("Columns of C per block.", "elements", TILE_VALUES)
    bk: Tile = setting("Depth of a step along k.", "elements", TILE_VALUES)
    tm: Tile = setting("Rows of C per thread.", "elements", TILE_VALUES)
    tn: Tile = setting("Columns of C per thread.", "elements", TILE_VALUES)


class WarpTiles(Tiles):
    """Tiles of the warp-tiled kernel k10, on every GPU."""

    wm: Tile = setting("Rows of C per warp.", "elements", TILE_VALUES)
    wn: Tile = setting("Columns of C per warp.", "elements", TILE_VALUES)
    wniter: Tile = setting("Passes of a warp along its columns.", "1", TILE_VALUES)


class Timeline(Section):
    """Parameters of the decode timeline, on every GPU and for every execution of decode.

    The model is that of lecture11. A kernel pays launch, ramp and small; an instruction of a
    megakernel sync and instr_overhead.
    """

    scale: Annotated[Number, Field(ge=1, le=1e6)] = setting(
        "Factor of the number of points: ranges are refined until there are as many; lists stay.",
        "1",
        "1 to 1000000",
    )
    launch: Seconds = setting("From the end of one kernel to the next.", "s", SECONDS)
    ramp: Seconds = setting("From a kernel's start to its first weights.", "s", SECONDS)
    small: Seconds = setting("A kernel that reads no weights.", "s", SECONDS)
    sync: Seconds = setting("Until the next instruction sees a result.", "s", SECONDS)
    instr_overhead: Seconds = setting(
        "What an instruction costs beyond reading and waiting.", "s", SECONDS
    )
    eff: Annotated[Axis, Numbers, _within(0.01, 1)] = setting(
        "Share of the DRAM bandwidth that reading reaches.", "1", f"0.01 to 1: {VALUES}"
    )
    smem_buf: Annotated[Axis, Wholes, _within(0, 2**20)] = setting(
        "Shared memory per SM into which weights are read ahead.",
        "B",
        f"whole numbers from 0 to 1048576: {VALUES}",
    )
    context: Annotated[Axis, Wholes, _within(0, 10**7)] = setting(
        "Tokens per sequence whose keys and values are read.",
        "tokens",
        f"whole numbers from 0 to 10000000: {VALUES}",
    )
    batch: Annotated[Axis, Wholes, _within(1, 10**4)] = setting(
        "Sequences that are decoded together.", "1", f"whole numbers from 1 to 10000: {VALUES}"
    )


class Sweeps(Section):
    """Many points at once: what is swept, how much that may take, and where it runs.

    Every parameter takes a list of values, or a range: `{linear: [8, 64], count: 8}` has equal
    steps, `{log: [8, 64], count: 4}` equal ratios; both ends are included.
    """

    budget: Budget
    execution: Execution
    tiles: Tiles
    warp_tiles: WarpTiles
    timeline: Timeline
