"""Stores in which two threads of a block write one element."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Collisions(NamedTuple):
    """Where the threads of a store collide.

    Attributes
    ----------
    colliding : (1 or blocks,)
        Blocks in which two threads do; a single row stands for all blocks.
    row, thread, other, offset
        The first such block, the later and the earlier of two threads in it, and their offset.
    """

    colliding: NDArray[np.bool_]
    row: int
    thread: int
    other: int
    offset: int


def collisions(thread: NDArray[np.int64], active: NDArray[np.bool_]) -> Collisions | None:
    """Find the blocks in which two active threads of one store write one element.

    Parameters
    ----------
    thread, active : (1 or blocks, threads)
        Element offsets and activity. Accesses are aligned to their width, so that two of them
        overlap only if they start at the same element.

    Returns
    -------
    Collisions or None
        None if no block shows one.
    """
    # Inactive threads go below all others, each to a place of its own.
    nowhere = thread.min() - 1 - np.arange(thread.shape[1])
    offset = np.where(active, thread, nowhere)
    ordered = np.sort(offset, axis=1)
    colliding = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if not colliding.any():
        return None
    row = int(np.flatnonzero(colliding)[0])
    _, first = np.unique(offset[row], return_index=True)
    later = int(np.setdiff1d(np.arange(offset.shape[1]), first)[0])
    place = int(offset[row, later])
    earlier = int(np.flatnonzero(offset[row] == place)[0])
    return Collisions(colliding, row, later, earlier, place)
