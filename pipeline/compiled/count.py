"""Exact counts of a launch at any size, without values and without running every block.

Blocks whose threads take the same ways at the same alignment count the same. So one block is run
for each such class, together with its neighbours along x, y and z: what differs between them says
how far along each axis nothing changes (:mod:`affine`). Within a block, turns of loops that count
the same are skipped (:mod:`turns`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.affine import Bound, Operands, bounds
from pipeline.compiled.binding import Mask
from pipeline.compiled.decode import Program
from pipeline.compiled.geometry import Geometry, Triple
from pipeline.compiled.launch import Launch, Loaded, Observe, batches, load
from pipeline.compiled.link import link
from pipeline.compiled.machine import Machine
from pipeline.compiled.slicing import Slice, cut
from pipeline.compiled.totals import Totals
from pipeline.compiled.turns import TurnSkipper, alignment_period
from pipeline.compiled.watching import Watcher
from pipeline.errors import ModelError

_COUNTING_LANES = 32_768
"""Lanes that are counted together where every block is run."""
_MOST_CLASSES = 32
"""Classes of blocks beyond which it pays to run every block."""
_MOST_ALIGNMENTS = 256


@lru_cache(maxsize=64)
def slice_of(program: Program) -> Slice:
    """Return what of a program decides on its counters."""
    return cut(program)


def depends_on_data(program: Program) -> str:
    """Say why a kernel must be run with values to be counted; nothing if it need not."""
    on_data = slice_of(program).on_data
    if not on_data:
        return ""
    return (
        f"which threads run and what they touch depends on numbers that are loaded, first at "
        f"{program.instructions[on_data[0]].place}"
    )


@dataclass(frozen=True)
class _Box:
    """Blocks from ``start`` on, ``size`` along each axis."""

    start: Triple
    size: Triple

    @property
    def blocks(self) -> int:
        return math.prod(self.size)


class _Neighbours:
    """How far along each axis blocks do what the first one of a batch does.

    The batch holds the first block, and up to two neighbours along each axis.

    Attributes
    ----------
    reach
        Blocks along each axis, the first one included, that are known to be alike.
    period
        After how many blocks along each axis addresses are aligned as before.
    """

    def __init__(self, machine: Machine, watcher: Watcher, box: _Box, places: list[list[int]]):
        self._machine, self._watcher = machine, watcher
        self._lanes = machine.geometry.block_lanes
        self._places = places
        self.reach = list(box.size)
        self.period = [1, 1, 1]
        self._joint: list[tuple[Bound, list[NDArray[np.int64]]]] = []
        watcher.sinks.append(self._read)
        machine.observers.append(self._touched)

    def _block(self, values: NDArray, number: int) -> NDArray:
        return values[..., number * self._lanes : (number + 1) * self._lanes]

    def _read(self, position: int, lanes: Mask, words: NDArray) -> None:
        first = self._block(lanes, 0)
        if not first.any():
            return
        # Most often all lanes take part: then nothing has to be picked or compared.
        everyone = bool(lanes.all())
        chosen = slice(None) if everyone else first
        base = self._block(words, 0)[:, chosen]
        found: dict[int, list[Bound]] = {}
        for axis, numbers in enumerate(self._places):
            if not numbers or self.reach[axis] == 1:
                continue
            if not everyone and not self._together(axis, numbers, first, lanes):
                continue
            others = [self._block(words, number)[:, chosen] for number in numbers]
            if np.array_equal(others[0], base):
                continue
            limits = self._limits(position, base, others)
            if limits is None:
                self.reach[axis] = 1
            else:
                found[axis] = limits
        self._note(found)

    def _together(self, axis: int, numbers: list[int], first: Mask, lanes: Mask) -> bool:
        """Say whether the neighbours are here with the same lanes; else they are not alike."""
        for far, number in enumerate(numbers, start=1):
            if not (self._block(lanes, number) == first).all():
                self.reach[axis] = min(self.reach[axis], far)
        return self.reach[axis] > 1

    def _limits(self, position: int, base: NDArray, others: list[NDArray]) -> list[Bound] | None:
        """Return the bounds of an instruction from one block to the next along an axis."""
        if len(others) > 1 and not np.array_equal(others[1] - others[0], others[0] - base):
            return None
        instruction = self._machine.program.instructions[position]
        seen = Operands(instruction, self._watcher.readings[position].spans, base, others[0])
        return bounds(instruction, seen)

    def _note(self, found: dict[int, list[Bound]]) -> None:
        """Shorten the reach along axes of their own; keep bounds that several axes share."""
        if not found:
            return
        counts = {len(limits) for limits in found.values()}
        if len(found) == 1 or len(counts) != 1:
            for axis, limits in found.items():
                # ``value`` is that of the neighbour, one step on.
                steps = min((bound.steps() for bound in limits), default=1 << 62)
                self.reach[axis] = min(self.reach[axis], steps + 2)
                if len(found) > 1:
                    self.reach[axis] = 1
            return
        axes = list(found)
        for shared in zip(*found.values(), strict=True):
            slopes = [np.zeros(1, np.int64)] * 3
            for axis, bound in zip(axes, shared, strict=True):
                slopes[axis] = np.broadcast_to(bound.slope, bound.value.shape)
            one = shared[0]
            base = Bound(one.value - one.slope, one.slope, one.low, one.high)
            self._joint.append((base, slopes))

    def _touched(self, _position: int, address: NDArray, lanes: Mask, kind: str) -> None:
        first = self._block(lanes, 0)
        if not first.any():
            return
        base, everyone = self._block(address, 0), bool(lanes.all())
        for axis, numbers in enumerate(self._places):
            if not numbers or self.reach[axis] == 1:
                continue
            if not everyone and not self._together(axis, numbers, first, lanes):
                continue
            mark = {"global": 3, "shared": 2, "local": 1}[kind]
            period = alignment_period(base, self._block(address, numbers[0]), first, mark)
            if period is None:
                self.reach[axis] = 1
            else:
                self.period[axis] = math.lcm(self.period[axis], period)

    def settle(self) -> Triple:
        """Return the size of the box of blocks that are alike."""
        size = [max(1, reach) for reach in self.reach]
        for bound, slopes in self._joint:
            while not _inside(bound, slopes, size):
                moving = [axis for axis in range(3) if size[axis] > 1 and slopes[axis].any()]
                widest = max(moving, key=lambda axis: size[axis])
                size[widest] //= 2
        return size[0], size[1], size[2]


def _inside(bound: Bound, slopes: list[NDArray], size: list[int]) -> bool:
    """Say whether a bound holds in all corners of a box."""
    lowest = highest = bound.value
    for slope, count in zip(slopes, size, strict=True):
        far = slope * (count - 1)
        lowest, highest = lowest + np.minimum(far, 0), highest + np.maximum(far, 0)
    return bool(((lowest >= bound.low) & (highest <= bound.high)).all())


def count(launch: Launch, observe: Sequence[Observe] = ()) -> Totals:
    """Count what a launch does.

    Arrays are not changed, and their contents do not matter.

    Parameters
    ----------
    launch
        What to count.
    observe
        Called with the machine of every batch of blocks that is run; each stands for many.

    Raises
    ------
    ModelError
        If counters depend on data.
    OutOfRangeError
        If a thread leaves its arrays.
    """
    why = depends_on_data(launch.program)
    if why:
        raise ModelError(
            f"{launch.program.kernel}: {why}; so it must be run with values to be counted"
        )
    loaded = load(launch, with_values=False, observe=observe)
    totals = Totals(launch.program, launch.grid, launch.block)
    boxes = [_Box((0, 0, 0), launch.grid)]
    parts: list[tuple[Machine, NDArray[np.int64]]] = []
    while boxes:
        if len(parts) > _MOST_CLASSES:
            return _count_all(loaded)
        box = boxes.pop()
        size, part = _count_class(loaded, box)
        if part is None:
            return _count_all(loaded)
        parts.append(part)
        boxes += _rest(box, size)
    for machine, weight in parts:
        totals.add(machine.tally, weight)
    return totals


def _count_class(
    loaded: Loaded, box: _Box
) -> tuple[Triple, tuple[Machine, NDArray[np.int64]] | None]:
    """Run the first block of a box; return how many are alike, and what to add for them."""
    numbers, places = _batch(loaded.launch, box)
    machine, watcher = _machine(loaded, numbers)
    neighbours = _Neighbours(machine, watcher, box, places)
    machine.run()
    size = neighbours.settle()
    period = [min(turns, count) for turns, count in zip(neighbours.period, size, strict=True)]
    if math.prod(period) == 1:
        weight = np.zeros(len(numbers), np.int64)
        weight[0] = math.prod(size)
        return size, (machine, weight)
    if math.prod(period) > _MOST_ALIGNMENTS:
        return size, None
    return size, _count_alignments(loaded, box.start, size, period)


def _count_alignments(
    loaded: Loaded, start: Triple, size: Triple, period: list[int]
) -> tuple[Machine, NDArray[np.int64]]:
    """Run one block for each alignment that occurs in a box."""
    offsets = np.stack(np.meshgrid(*map(np.arange, period), indexing="ij"), -1).reshape(-1, 3)
    often = [
        (np.array(size)[axis] - offsets[:, axis] + period[axis] - 1) // period[axis]
        for axis in range(3)
    ]
    places = np.array(start) + offsets
    machine, _ = _machine(loaded, _number(loaded.launch.grid, places))
    machine.run()
    return machine, (often[0] * often[1] * often[2]).astype(np.int64)


def _number(grid: Triple, places: NDArray) -> NDArray[np.int64]:
    return (places[:, 0] + grid[0] * (places[:, 1] + grid[1] * places[:, 2])).astype(np.int64)


def _batch(launch: Launch, box: _Box) -> tuple[NDArray[np.int64], list[list[int]]]:
    """Return the first block of a box and its neighbours, and their places in the batch by axis."""
    blocks, places = [box.start], []
    for axis in range(3):
        own = []
        for far in range(1, min(3, box.size[axis])):
            moved = list(box.start)
            moved[axis] += far
            own.append(len(blocks))
            blocks.append((moved[0], moved[1], moved[2]))
        places.append(own)
    return _number(launch.grid, np.array(blocks)), places


def _rest(box: _Box, size: Triple) -> list[_Box]:
    """Cut what is left of a box beside a corner of it into boxes."""
    found = []
    start, extent = list(box.start), list(box.size)
    for axis in range(3):
        if size[axis] < extent[axis]:
            begin, left = list(start), list(extent)
            begin[axis] += size[axis]
            left[axis] -= size[axis]
            found.append(_Box((begin[0], begin[1], begin[2]), (left[0], left[1], left[2])))
            extent[axis] = size[axis]
    return found


def _machine(loaded: Loaded, numbers: NDArray[np.int64]) -> tuple[Machine, Watcher]:
    launch = loaded.launch
    chosen = slice_of(launch.program)
    machine = Machine(
        launch.program,
        Geometry(launch.grid, launch.block, numbers),
        loaded.banks,
        loaded.memory,
        launch.shared_bytes,
        with_values=False,
    )
    watcher = Watcher(machine.registers)
    link(machine, chosen.positions, watcher)
    TurnSkipper(machine, chosen, watcher)
    for look in loaded.observe:
        look(machine)
    return machine, watcher


def _count_all(loaded: Loaded) -> Totals:
    """Run every block of a launch."""
    launch = loaded.launch
    totals = Totals(launch.program, launch.grid, launch.block)
    for numbers in batches(launch, _COUNTING_LANES):
        machine, _ = _machine(loaded, numbers)
        machine.run()
        totals.add(machine.tally, np.ones(len(numbers), np.int64))
    return totals
