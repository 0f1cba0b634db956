"""The threads of a batch of blocks, as lanes of whole warps."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

WARP = 32
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Geometry:
    """Lanes of some blocks of a grid; every block fills whole warps.

    Attributes
    ----------
    grid, block
        Blocks per grid and threads per block, along x, y and z.
    numbers : (blocks,)
        Which blocks of the grid these are, x fastest.
    """

    grid: Triple
    block: Triple
    numbers: NDArray[np.int64]

    @property
    def blocks(self) -> int:
        """Blocks of the batch."""
        return len(self.numbers)

    @cached_property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @cached_property
    def warps_per_block(self) -> int:
        """Warps of a block, the last one perhaps not full."""
        return -(-self.threads // WARP)

    @cached_property
    def block_lanes(self) -> int:
        """Lanes of a block."""
        return self.warps_per_block * WARP

    @cached_property
    def lanes(self) -> int:
        """Lanes of the batch."""
        return self.blocks * self.block_lanes

    @cached_property
    def warps(self) -> int:
        """Warps of the batch."""
        return self.blocks * self.warps_per_block

    @cached_property
    def exists(self) -> NDArray[np.bool_]:
        """Lanes that are threads, (lanes,)."""
        return np.tile(np.arange(self.block_lanes) < self.threads, self.blocks)

    def thread(self, axis: int) -> NDArray[np.uint32]:
        """Coordinate of every lane's thread in its block, (lanes,)."""
        x, y, _ = self.block
        number = np.arange(self.block_lanes)
        each = (number % x, number // x % y, number // (x * y))[axis]
        return np.tile(each.astype(np.uint32), self.blocks)

    def coordinates(self) -> NDArray[np.int64]:
        """Coordinates of the blocks in the grid, (blocks, 3)."""
        x, y, _ = self.grid
        return np.stack([self.numbers % x, self.numbers // x % y, self.numbers // (x * y)], 1)

    def place(self, axis: int) -> NDArray[np.uint32]:
        """Coordinate of every lane's block in the grid, (lanes,)."""
        return np.repeat(self.coordinates()[:, axis].astype(np.uint32), self.block_lanes)

    def block_of_lane(self) -> NDArray[np.int64]:
        """Position of every lane's block in the batch, (lanes,)."""
        return np.repeat(np.arange(self.blocks), self.block_lanes)

    def per_block(self, lanes: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count the lanes of each block, (blocks,)."""
        return np.count_nonzero(lanes.reshape(self.blocks, -1), axis=1)

    def warps_of(self, lanes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Say which warps have one of these lanes, (warps,)."""
        some: NDArray[np.bool_] = np.any(lanes.reshape(self.warps, WARP), axis=1)
        return some

    def masks(self, lanes: NDArray[np.bool_]) -> NDArray[np.uint32]:
        """Pack the lanes of every warp into a bit mask, (warps,)."""
        packed = np.packbits(lanes.reshape(self.warps, WARP), axis=1, bitorder="little")
        return packed.view("<u4")[:, 0]

    def spread(self, per_warp: NDArray) -> NDArray:
        """Repeat a value per warp for each of its lanes, (lanes,)."""
        return np.repeat(per_warp, WARP)
