"""The elements that an instruction touches: what front ends hand to accounting."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Access(NamedTuple):
    """One load or store of every active thread of a batch of blocks.

    Thread ``t`` of block ``b`` touches ``width`` elements from
    ``const + block[b] + thread[b, t]`` on. Threads are in ``tid`` order: 32 consecutive ones are a
    warp.

    Attributes
    ----------
    const, block : (blocks, 1), thread : (1 or blocks, threads)
        The parts of the index; one row of ``thread`` stands for all blocks.
    active : (1 or blocks, threads)
        Threads that take part.
    width
        Consecutive elements per thread: 1, 2, 4, 8 or 16.
    same
        Whether every block touches the same elements of its own copy of an array.
    repeat, step
        ``repeat`` instructions, each ``step`` elements after the one before.
    """

    const: int
    block: NDArray[np.int64]
    thread: NDArray[np.int64]
    active: NDArray[np.bool_]
    width: int
    same: bool
    repeat: int = 1
    step: int = 0

    @property
    def one_pattern(self) -> bool:
        """Whether blocks differ by a shift at most."""
        return len(self.thread) == 1 and len(self.active) == 1
