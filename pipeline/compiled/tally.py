"""What instructions did, per position in the program and per block of a batch."""

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.geometry import WARP, Geometry
from pipeline.loops import compiled
from pipeline.simt.banks_fast import block_wavefronts, warp_atomic_wavefronts
from pipeline.simt.coalescing_fast import block_transactions

FIELDS = (
    "requests",
    "lanes",
    "sectors",
    "ideal_sectors",
    "lines",
    "wavefronts",
    "ideal_wavefronts",
)
"""What is counted of every access; sectors and lines of global memory, wavefronts of shared."""


@compiled
def _global_costs(
    address: NDArray[np.int64], lanes: NDArray[np.bool_], size: int, costs: NDArray[np.int64]
) -> None:
    """Add what an access to global memory costs each block, ``address`` (blocks, lanes)."""
    buffer = np.empty(WARP, np.int64)
    for b in range(address.shape[0]):
        warps, active, sectors, lines = block_transactions(0, address[b], lanes[b], 1, buffer)
        costs[b, 0] += warps
        costs[b, 1] += active
        costs[b, 2] += sectors
        costs[b, 4] += lines
        for first in range(0, lanes.shape[1], WARP):
            count = 0
            for t in range(first, first + WARP):
                count += lanes[b, t]
            costs[b, 3] += (count * size + 31) // 32


@compiled
def _shared_costs(
    address: NDArray[np.int64],
    lanes: NDArray[np.bool_],
    size: int,
    paired: bool,
    store: bool,
    counted: bool,
    costs: NDArray[np.int64],
) -> None:
    """Add what an access to shared memory costs each block."""
    for b in range(address.shape[0]):
        warps, active, taken, ideal = block_wavefronts(
            0, address[b], lanes[b], 1, size, paired, store
        )
        # An asynchronous copy has been counted on its global side.
        costs[b, 0] += warps if counted else 0
        costs[b, 1] += active if counted else 0
        costs[b, 5] += taken
        costs[b, 6] += ideal


@compiled
def _atomic_costs(
    address: NDArray[np.int64], lanes: NDArray[np.bool_], size: int, costs: NDArray[np.int64]
) -> None:
    """Add what an atomic on shared memory costs each block."""
    bank_lanes = np.empty(WARP, np.int64)
    words = np.empty(address.shape[1], np.int64)
    for b in range(address.shape[0]):
        for t in range(address.shape[1]):
            words[t] = address[b, t] // size
        for first in range(0, address.shape[1], WARP):
            count = 0
            for t in range(first, first + WARP):
                count += lanes[b, t]
            taken = warp_atomic_wavefronts(
                0, words, lanes[b], first, first + WARP, size, bank_lanes
            )
            costs[b, 0] += count > 0
            costs[b, 1] += count
            costs[b, 5] += taken
            costs[b, 6] += count > 0


class Tally:
    """Counts of one batch.

    Attributes
    ----------
    warps, threads : (instructions + 1, blocks)
        Differences from one position to the next of how many warps and lanes passed.
    skipped : dict
        Lanes that a guard kept from an instruction, (blocks,) per position.
    accesses : dict
        ``FIELDS`` per block, (blocks, fields), per position.
    divergent : (blocks,)
        Warps that met a branch with lanes on both sides.
    barriers : (blocks,)
        Barriers of whole blocks.
    """

    def __init__(self, instructions: int, geometry: Geometry) -> None:
        self._shape = (geometry.blocks, geometry.block_lanes)
        self.warps = np.zeros((instructions + 1, geometry.blocks), np.int64)
        self.threads = np.zeros((instructions + 1, geometry.blocks), np.int64)
        self.skipped: dict[int, NDArray[np.int64]] = {}
        self.accesses: dict[int, NDArray[np.int64]] = {}
        self.divergent = np.zeros(geometry.blocks, np.int64)
        self.barriers = np.zeros(geometry.blocks, np.int64)

    def passed(
        self, first: int, last: int, warps: NDArray[np.int64], threads: NDArray[np.int64]
    ) -> None:
        """Count that warps and threads of each block ran the instructions first to last - 1."""
        self.warps[first] += warps
        self.warps[last] -= warps
        self.threads[first] += threads
        self.threads[last] -= threads

    def kept_off(self, position: int, lanes: NDArray[np.bool_]) -> None:
        """Count lanes that a guard keeps from an instruction."""
        count = np.count_nonzero(lanes.reshape(self._shape), axis=1)
        self.skipped[position] = self.skipped.get(position, 0) + count

    def _costs(self, position: int) -> NDArray[np.int64]:
        if position not in self.accesses:
            self.accesses[position] = np.zeros((self._shape[0], len(FIELDS)), np.int64)
        return self.accesses[position]

    def global_access(
        self, position: int, address: NDArray[np.int64], lanes: NDArray[np.bool_], size: int
    ) -> None:
        """Count an access to global memory, byte addresses (lanes,)."""
        shape = self._shape
        _global_costs(address.reshape(shape), lanes.reshape(shape), size, self._costs(position))

    def shared_access(
        self,
        position: int,
        address: NDArray[np.int64],
        lanes: NDArray[np.bool_],
        size: int,
        store: bool,
        paired: bool = True,
        counted: bool = True,
    ) -> None:
        """Count an access to shared memory by the ``hardware`` rule.

        ``paired`` is off for matrix loads, whose rows are fetched in groups of eight whatever their
        addresses. ``counted`` is off for the shared side of an asynchronous copy, which is one
        request.
        """
        shape = self._shape
        _shared_costs(
            address.reshape(shape), lanes.reshape(shape), size, paired, store, counted,
            self._costs(position),
        )  # fmt: skip

    def shared_atomic(
        self, position: int, address: NDArray[np.int64], lanes: NDArray[np.bool_], size: int
    ) -> None:
        """Count an atomic on shared memory."""
        shape = self._shape
        _atomic_costs(address.reshape(shape), lanes.reshape(shape), size, self._costs(position))

    def executed(self) -> NDArray[np.int64]:
        """Return how many warps of each block ran every instruction, (instructions, blocks)."""
        return np.cumsum(self.warps, axis=0)[:-1]

    def threads_executed(self) -> NDArray[np.int64]:
        """Return how many lanes ran every instruction, guarded ones included."""
        return np.cumsum(self.threads, axis=0)[:-1]
