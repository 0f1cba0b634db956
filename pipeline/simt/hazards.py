"""Data hazards: the kinds, a report, and the definition of each.

**Shared memory.** The barrier count of a block is its epoch. Within one epoch two *different* warps
may not touch one element if one of them writes it, because nothing orders them. Inside a warp lanes
run in lock-step and there is no hazard, except that two lanes of one store writing one element
leave open which value stays (missing_modules, section 1). Atomics are ordered among themselves,
whichever warps and lanes they come from; towards plain accesses they are writes. An asynchronous
copy writes when it is issued; until its wait nobody may touch the element, and after the wait it
counts as written by the warp that waited.

**Global memory.** Nothing orders the blocks of a launch, so two different blocks may not touch one
element if one of them writes it; atomics among themselves are again no hazard. The hazard is
reported at the instruction that reads; where both write, at the block with the higher number. So
the count does not depend on the order in which blocks happen to run.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipeline.simt.blocks import Triple

WARP = 32

RAW = "read_after_write"
WAR = "write_after_read"
WAW = "write_after_write"
COLLISION = "store_collision"
UNINITIALISED = "uninitialised_read"
IN_FLIGHT = "unfinished_copy"
GLOBAL_READ = "global_read_race"
GLOBAL_WRITE = "global_write_race"
INACTIVE_LANE = "inactive_lane_read"
DIVERGENT_BARRIER = "divergent_barrier"

ACCESS_KINDS = (RAW, WAR, WAW, COLLISION, UNINITIALISED, IN_FLIGHT)
"""Kinds that one shared access can show, in the order of the rows of a report array."""

GLOBAL_KINDS = (GLOBAL_READ, GLOBAL_WRITE)
"""Kinds that two blocks can show on global memory."""

RACES = (RAW, WAR, WAW, COLLISION, IN_FLIGHT, *GLOBAL_KINDS)
"""Kinds that make ``race_count``: without a rule about order the result is open."""

KINDS = (*ACCESS_KINDS, *GLOBAL_KINDS, INACTIVE_LANE, DIVERGENT_BARRIER)

_EXPLAINED = {
    RAW: "reads what {other} wrote since the last barrier",
    WAR: "overwrites what {other} read since the last barrier",
    WAW: "overwrites what {other} wrote since the last barrier",
    COLLISION: "stores two lanes' values to one address; which one stays is open",
    UNINITIALISED: "reads an element that nobody has written",
    IN_FLIGHT: "touches an element whose asynchronous copy by {other} has not been waited for",
    GLOBAL_READ: "reads what {other} writes in the same launch, and nothing orders blocks",
    GLOBAL_WRITE: "writes what {other} writes in the same launch, and nothing orders blocks",
    INACTIVE_LANE: "a shuffle reads this lane, which does not take part; the value is undefined",
    DIVERGENT_BARRIER: "waits at a barrier that other threads of the block do not reach",
}
_TOLD = "{kind} at {source}: block {block}, warp {warp}, {where}, after {barriers}: {why}"
_BLOCK, _WARP, _LANE, _BARRIER = "block {block}", "warp {warp}", "lane {lane}", "a barrier"
_ONE, _SEVERAL = "1 barrier", "{count} barriers"

TEXTS = (_TOLD, *_EXPLAINED.values(), _BLOCK, _WARP, _LANE, _BARRIER, _ONE, _SEVERAL)
"""What reports are made of: templates, and what fills them."""


def barriers(interval: int) -> str:
    """Say how many barriers a block had passed."""
    return _ONE if interval == 1 else _SEVERAL.format(count=interval)


@dataclass(frozen=True)
class Hazard:
    """The first offender of one kind at one instruction.

    Attributes
    ----------
    kind
        One of ``KINDS``.
    block
        Block index along x, y and z.
    warp, other_warp
        The warp that offends and a warp of its block that it collides with: itself where two of its
        lanes collide, -1 where there is none.
    array, index
        Name of the array and element in it. A barrier has neither, "" and -1; a shuffle has the
        lane that it reads from as ``index``.
    interval
        How many barriers the block had passed.
    source
        File name and line of the access in the kernel.
    other_block
        The block that it collides with on global memory; None for the other kinds.
    """

    kind: str
    block: Triple
    warp: int
    other_warp: int
    array: str
    index: int
    interval: int
    source: str
    other_block: Triple | None = None

    def __str__(self) -> str:
        """Say in one line what happened where."""
        if self.other_block is not None:
            other = _BLOCK.format(block=self.other_block)
        else:
            other = _WARP.format(warp=self.other_warp)
        places = {INACTIVE_LANE: _LANE.format(lane=self.index), DIVERGENT_BARRIER: _BARRIER}
        return _TOLD.format(
            kind=self.kind,
            source=self.source,
            block=self.block,
            warp=self.warp,
            where=places.get(self.kind, f"{self.array}[{self.index}]"),
            barriers=barriers(self.interval),
            why=_EXPLAINED[self.kind].format(other=other),
        )


Warps = defaultdict[int, set[int]]


def _nobody() -> Warps:
    return defaultdict(set)


@dataclass
class History:
    """Who touched which element of one block's shared array: the definition, one lane at a time.

    Every method but ``land`` and ``barrier`` is one instruction and returns the kinds of hazard
    that it shows. ``index`` holds the first element of each thread, ``active`` who takes part.
    """

    readers: Warps = field(default_factory=_nobody)
    writers: Warps = field(default_factory=_nobody)
    updaters: Warps = field(default_factory=_nobody)
    flying: Counter[int] = field(default_factory=Counter)
    initialised: set[int] = field(default_factory=set)

    def barrier(self) -> None:
        """Order everything before against everything after."""
        for warps in (self.readers, self.writers, self.updaters):
            warps.clear()

    def load(self, index: NDArray[np.int64], active: NDArray[np.bool_], width: int) -> set[str]:
        """Read ``width`` elements."""
        kinds = set()
        for element, warp in _touched(index, active, width):
            kinds |= self._unordered(element, warp, {RAW: (self.writers, self.updaters)})
            kinds |= self._unfit(element, reads=True)
            self.readers[element].add(warp)
        return kinds

    def store(self, index: NDArray[np.int64], active: NDArray[np.bool_], width: int) -> set[str]:
        """Write ``width`` elements."""
        return self._write(index, active, width, copy=False)

    def copy(self, index: NDArray[np.int64], active: NDArray[np.bool_], width: int) -> set[str]:
        """Start to write ``width`` elements asynchronously."""
        return self._write(index, active, width, copy=True)

    def atomic(self, index: NDArray[np.int64], active: NDArray[np.bool_]) -> set[str]:
        """Read, change and write one element."""
        kinds = set()
        for element, warp in _touched(index, active, 1):
            kinds |= self._unordered(element, warp, {WAR: (self.readers,), WAW: (self.writers,)})
            kinds |= self._unfit(element, reads=True)
            self.updaters[element].add(warp)
            self.initialised.add(element)
        return kinds

    def land(self, index: NDArray[np.int64], active: NDArray[np.bool_], width: int) -> None:
        """Let an earlier copy arrive: whoever touches it before the next barrier races with it."""
        for element, warp in _touched(index, active, width):
            self.flying[element] -= 1
            self.writers[element].add(warp)

    def _write(
        self, index: NDArray[np.int64], active: NDArray[np.bool_], width: int, copy: bool
    ) -> set[str]:
        kinds = set()
        stored_by = _nobody()
        for element, warp in _touched(index, active, width):
            before = {WAR: (self.readers,), WAW: (self.writers, self.updaters)}
            kinds |= self._unordered(element, warp, before)
            kinds |= self._unfit(element, reads=False)
            if warp in stored_by[element]:
                kinds.add(COLLISION)
            stored_by[element].add(warp)
            self.writers[element].add(warp)
            self.initialised.add(element)
            self.flying[element] += copy
        return kinds

    def _unordered(self, element: int, warp: int, before: dict[str, tuple[Warps, ...]]) -> set[str]:
        """Give the kinds whose earlier accesses include another warp's."""
        return {
            kind for kind, them in before.items() if any(warps[element] - {warp} for warps in them)
        }

    def _unfit(self, element: int, reads: bool) -> set[str]:
        """Give the kinds that depend on the element alone."""
        kinds = {IN_FLIGHT} if self.flying[element] else set()
        return kinds | ({UNINITIALISED} if reads and element not in self.initialised else set())


def _touched(
    index: NDArray[np.int64], active: NDArray[np.bool_], width: int
) -> list[tuple[int, int]]:
    """List (element, warp) in thread order."""
    return [
        (int(index[t]) + j, int(t) // WARP) for t in np.flatnonzero(active) for j in range(width)
    ]
