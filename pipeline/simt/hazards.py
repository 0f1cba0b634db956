"""Data hazards on shared memory: the kinds, a report, and the definition of each.

The barrier count of a block is its epoch. Within one epoch two *different* warps may not touch one
element if one of them writes it, because nothing orders them. Inside a warp lanes run in lock-step
and there is no hazard, except that two lanes of one store writing one element leave open which
value stays (missing_modules, section 1).
"""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

WARP = 32

RAW = "read_after_write"
WAR = "write_after_read"
WAW = "write_after_write"
COLLISION = "store_collision"
UNINITIALISED = "uninitialised_read"
IN_FLIGHT = "unfinished_copy"
DIVERGENT_BARRIER = "divergent_barrier"

ACCESS_KINDS = (RAW, WAR, WAW, COLLISION, UNINITIALISED, IN_FLIGHT)
"""Kinds that one access can show, in the order of the rows of a report array."""

RACES = (RAW, WAR, WAW, COLLISION, IN_FLIGHT)
"""Kinds that make ``race_count``: without a rule about order the result is open."""

KINDS = (*ACCESS_KINDS, DIVERGENT_BARRIER)

_EXPLAINED = {
    RAW: "reads what {other} wrote since the last barrier",
    WAR: "overwrites what {other} read since the last barrier",
    WAW: "overwrites what {other} wrote since the last barrier",
    COLLISION: "stores two lanes' values to one address; which one stays is open",
    UNINITIALISED: "reads an element that nobody has written",
    IN_FLIGHT: "touches an element whose asynchronous copy has not been waited for",
    DIVERGENT_BARRIER: "waits at a barrier that other threads of the block do not reach",
}


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
        The warp that offends and the warp it collides with; ``other_warp`` is -1 where there is
        none, or where several warps did the other half.
    array, index
        Name of the array and element in it; -1 for a barrier.
    interval
        How many barriers the block had passed.
    source
        File name and line of the access in the kernel.
    """

    kind: str
    block: tuple[int, int, int]
    warp: int
    other_warp: int
    array: str
    index: int
    interval: int
    source: str

    def __str__(self) -> str:
        """Say in one line what happened where."""
        other = f"warp {self.other_warp}" if self.other_warp >= 0 else "several warps"
        where = f"{self.array}[{self.index}]" if self.index >= 0 else "a barrier"
        why = _EXPLAINED[self.kind].format(other=other)
        return (
            f"{self.kind} at {self.source}: block {self.block}, warp {self.warp}, {where}, after "
            f"{self.interval} barriers: {why}"
        )


@dataclass
class History:
    """Who touched which element of one block's shared array: the definition, one lane at a time.

    ``load`` and ``store`` return the kinds of hazard that the instruction shows.
    """

    readers: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    writers: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    initialised: set[int] = field(default_factory=set)

    def barrier(self) -> None:
        """Order everything before against everything after."""
        self.readers.clear()
        self.writers.clear()

    def load(self, index: NDArray[np.int64], active: NDArray[np.bool_], width: int) -> set[str]:
        """Read ``width`` elements from ``index`` on, for every active thread."""
        kinds = set()
        for element, warp in _touched(index, active, width):
            if self.writers[element] - {warp}:
                kinds.add(RAW)
            if element not in self.initialised:
                kinds.add(UNINITIALISED)
            self.readers[element].add(warp)
        return kinds

    def store(self, index: NDArray[np.int64], active: NDArray[np.bool_], width: int) -> set[str]:
        """Write ``width`` elements from ``index`` on, for every active thread."""
        kinds = set()
        stored_by: dict[int, set[int]] = defaultdict(set)
        for element, warp in _touched(index, active, width):
            if self.readers[element] - {warp}:
                kinds.add(WAR)
            if self.writers[element] - {warp}:
                kinds.add(WAW)
            if warp in stored_by[element]:
                kinds.add(COLLISION)
            stored_by[element].add(warp)
            self.writers[element].add(warp)
            self.initialised.add(element)
        return kinds


def _touched(
    index: NDArray[np.int64], active: NDArray[np.bool_], width: int
) -> list[tuple[int, int]]:
    """List (element, warp) in thread order."""
    return [
        (int(index[t]) + j, int(t) // WARP) for t in np.flatnonzero(active) for j in range(width)
    ]
