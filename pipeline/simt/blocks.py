"""The blocks of a batch: who they are, and how far each has come."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Blocks:
    """The blocks that run together.

    Attributes
    ----------
    grid
        Blocks of the launch along x, y and z.
    numbers : (blocks,)
        Their numbers, counted through the grid with x fastest.
    epoch : (blocks,)
        Barriers that each has passed; changed in place.
    """

    grid: Triple
    numbers: NDArray[np.int64]
    epoch: NDArray[np.int32]

    @classmethod
    def starting(cls, grid: Triple, numbers: NDArray[np.int64]) -> "Blocks":
        """Make blocks that have passed no barrier."""
        return cls(grid, numbers, np.zeros(len(numbers), np.int32))

    def __len__(self) -> int:
        """How many blocks run together."""
        return len(self.numbers)

    def index(self, number: int) -> Triple:
        """Index along x, y and z of the block with ``number``."""
        x, y, _ = self.grid
        return number % x, number // x % y, number // (x * y)

    def index_at(self, row: int) -> Triple:
        """Index along x, y and z of the batch's block ``row``."""
        return self.index(int(self.numbers[row]))
