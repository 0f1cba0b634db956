"""Where lanes wait for each other: convergence within a warp, barriers of a block."""

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.geometry import WARP, Geometry

Mask = NDArray[np.bool_]
_CONVERGENCE = 18
WARP_SYNC, WARP_SYNC_APART = 16, 17
"""Numbers of the barriers that WARPSYNC uses, behind those that the code names: lanes of different
masks go on together, or apart."""


class Convergence:
    """The convergence barriers of every warp: who takes part, who waits, and where they go on.

    A lane that meets BSYNC waits for the lanes that were active with it at BSSY; those that have
    ended, or left with BREAK, are not waited for.

    Parameters
    ----------
    geometry
        Lanes of the batch.
    """

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        self.members: NDArray[np.uint32] = np.zeros((_CONVERGENCE, geometry.lanes), np.uint32)
        self.waiting: Mask = np.zeros((_CONVERGENCE, geometry.lanes), np.bool_)
        self._next = np.zeros(geometry.lanes, np.int64)

    def open(self, number: int, lanes: Mask) -> None:
        """Enter these lanes as those that will meet."""
        masks = self._geometry.spread(self._geometry.masks(lanes))
        np.copyto(self.members[number], masks, where=lanes)

    def leave(self, number: int, lanes: Mask) -> None:
        """Take lanes out of the barrier of their warps."""
        gone = self._geometry.spread(self._geometry.masks(lanes))
        self.members[number] &= ~gone

    def complete(self, number: int, lanes: Mask, alive: Mask) -> bool:
        """Say whether these lanes are all that meet here, so that nobody waits."""
        masks = self._geometry.spread(self._geometry.masks(lanes))
        living = self._geometry.spread(self._geometry.masks(alive))
        here = self.members[number] & living & ~masks == 0
        if number == WARP_SYNC_APART:
            here &= masks & ~self.members[number] == 0
        return bool(np.all(here | ~lanes))

    def wait(self, number: int, lanes: Mask, following: int) -> None:
        """Let lanes wait, to go on at position ``following``."""
        self.waiting[number] |= lanes
        self._next[lanes] = following

    def following(self) -> list[int]:
        """Return the positions at which waiting lanes will go on."""
        waiting: list[int] = np.unique(self._next[self.waiting.any(axis=0)]).tolist()
        return waiting

    def released(self, alive: Mask) -> list[tuple[int, Mask]]:
        """Return the lanes that go on, by position, and let them go."""
        found = []
        living = self._geometry.spread(self._geometry.masks(alive))
        for number in range(_CONVERGENCE):
            if not self.waiting[number].any():
                continue
            arrived = self._geometry.spread(self._geometry.masks(self.waiting[number]))
            ready = self.waiting[number] & (self.members[number] & living & ~arrived == 0)
            if not ready.any():
                continue
            self.waiting[number] &= ~ready
            for part in self._apart(ready) if number == WARP_SYNC_APART else [ready]:
                for position in np.unique(self._next[part]).tolist():
                    found.append((position, part & (self._next == position)))
        return found

    def _apart(self, lanes: Mask) -> list[Mask]:
        """Cut lanes into parts that have one mask in every warp."""
        parts, rest = [], lanes
        while rest.any():
            active = rest.reshape(-1, WARP)
            masks = self.members[WARP_SYNC_APART].reshape(-1, WARP)
            first = masks[np.arange(len(masks)), active.argmax(axis=1)]
            part = (active & (masks == first[:, None])).reshape(-1)
            parts.append(part)
            rest = rest & ~part
        return parts


class BlockBarriers:
    """The barriers of every block of a batch.

    Attributes
    ----------
    results : (lanes,)
        What the last barrier with a reduction gave to each lane.
    waiting : (lanes,)
        Lanes that wait.
    """

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry
        self.waiting: Mask = np.zeros(geometry.lanes, np.bool_)
        self.results: NDArray[np.uint32] = np.zeros(geometry.lanes, np.uint32)
        self._arrived: dict[tuple[int, int], Mask] = {}
        # Who has arrived at a barrier may wait at another one by the time that it is complete.
        self._held: dict[tuple[int, int], Mask] = {}
        self._next = np.zeros(geometry.lanes, np.int64)
        self._votes: Mask = np.zeros(geometry.lanes, np.bool_)

    def arrive(
        self, number: int, count: int, lanes: Mask, following: int, votes: Mask | None, waits: bool
    ) -> None:
        """Let lanes arrive at barrier ``number`` for ``count`` threads (0: all of the block)."""
        arrived = self._arrived.setdefault((number, count), np.zeros_like(lanes))
        arrived |= lanes
        if votes is not None:
            np.copyto(self._votes, votes, where=lanes)
        if waits:
            self.waiting |= lanes
            held = self._held.setdefault((number, count), np.zeros_like(lanes))
            held |= lanes
            self._next[lanes] = following

    def following(self) -> list[int]:
        """Return the positions at which waiting lanes will go on."""
        waiting: list[int] = np.unique(self._next[self.waiting]).tolist()
        return waiting

    def released(
        self, alive: Mask, reduction: str | None
    ) -> tuple[list[tuple[int, Mask]], NDArray[np.int64]]:
        """Return the lanes that go on, by position, and how many barriers each block passed."""
        found: list[tuple[int, Mask]] = []
        passed = np.zeros(self._geometry.blocks, np.int64)
        for (number, count), arrived in list(self._arrived.items()):
            complete = self._complete(arrived, alive, count)
            if not complete.any():
                continue
            passed += complete
            chosen = np.repeat(complete, self._geometry.block_lanes)
            held = self._held.get((number, count), np.zeros_like(arrived))
            going = held & chosen
            held &= ~going
            if reduction is not None:
                self._reduce(arrived & chosen, complete, reduction)
            arrived &= ~chosen
            if not arrived.any():
                del self._arrived[number, count]
            self.waiting &= ~going
            for position in np.unique(self._next[going]).tolist():
                found.append((position, going & (self._next == position)))
        return found, passed

    def _complete(self, arrived: Mask, alive: Mask, count: int) -> Mask:
        """Say of which blocks enough threads have arrived."""
        some = self._geometry.per_block(arrived)
        if count:
            # Hardware counts whole warps.
            warps = self._geometry.warps_of(arrived).reshape(self._geometry.blocks, -1).sum(axis=1)
            complete: Mask = warps * WARP >= count
            return complete & (some > 0)
        missing = self._geometry.per_block(alive & ~arrived)
        whole: Mask = (missing == 0) & (some > 0)
        return whole

    def _reduce(self, lanes: Mask, complete: Mask, reduction: str) -> None:
        votes = self._geometry.per_block(self._votes & lanes)
        threads = self._geometry.per_block(lanes)
        value = {"POPC": votes, "OR": votes > 0, "AND": votes == threads}[reduction]
        spread = np.repeat(value.astype(np.uint32), self._geometry.block_lanes)
        np.copyto(self.results, spread, where=np.repeat(complete, self._geometry.block_lanes))
