"""Compiled twin of :mod:`pipeline.simt.coalescing` over all blocks of a batch.

Numba's own sort is not used: its parts are told apart by running numbers only, and functions that
were compiled and stored by different processes then take each other's for their own.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled

WARP = 32
_SECTOR_SHIFT = 5
_LINE_SHIFT = 7
_LINE_MASK = 127


@compiled
def _sort(values: NDArray[np.int64], count: int) -> None:
    """Sort the first few values, at most one per lane, by insertion."""
    for i in range(1, count):
        value = values[i]
        j = i
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@compiled
def _warp_segments(
    base: int,
    offset: NDArray[np.int64],
    active: NDArray[np.bool_],
    first: int,
    last: int,
    scale: int,
    buffer: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Count active lanes, sectors and lines of the warp whose lanes are ``first`` to ``last``.

    Lanes mostly run through memory upwards; then every change of sector is a new one. Only a warp
    that steps back is sorted.
    """
    lanes = 0
    ascending = True
    for t in range(first, last):
        if active[t]:
            buffer[lanes] = ((base + offset[t]) * scale) >> _SECTOR_SHIFT
            ascending = ascending and (lanes == 0 or buffer[lanes] >= buffer[lanes - 1])
            lanes += 1
    if not ascending:
        _sort(buffer, lanes)
    sectors = lines = min(lanes, 1)
    for i in range(1, lanes):
        sectors += buffer[i] != buffer[i - 1]
        lines += buffer[i] >> 2 != buffer[i - 1] >> 2
    return lanes, sectors, lines


@compiled
def block_transactions(
    base: int,
    offset: NDArray[np.int64],
    active: NDArray[np.bool_],
    scale: int,
    buffer: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """Add up warp instructions, active lanes, sectors and lines of one block."""
    warps = lanes = sectors = lines = 0
    threads = offset.shape[0]
    for first in range(0, threads, WARP):
        last = min(first + WARP, threads)
        n, s, k = _warp_segments(base, offset, active, first, last, scale, buffer)
        warps += n > 0
        lanes += n
        sectors += s
        lines += k
    return warps, lanes, sectors, lines


class Shifts(NamedTuple):
    """The blocks of a batch by the alignment of their shift to a line.

    Attributes
    ----------
    block : (shifts, 1)
        One block's part of the index for each alignment that occurs.
    weight : (shifts,)
        How many blocks have it.
    """

    block: NDArray[np.int64]
    weight: NDArray[np.int64]


def shifts(block: NDArray[np.int64], scale: int) -> Shifts:
    """Group the blocks' parts of an index, (blocks, 1), by alignment."""
    _, first, count = np.unique(
        block[:, 0] * scale & _LINE_MASK, return_index=True, return_counts=True
    )
    return Shifts(np.ascontiguousarray(block[first]), count.astype(np.int64))


def every_block(block: NDArray[np.int64]) -> Shifts:
    """Take each block for itself, where they differ by more than a shift."""
    return Shifts(block, np.ones(len(block), np.int64))


def nothing_known() -> NDArray[np.int64]:
    """Return the table of a pattern that has not been counted, (alignment, count)."""
    return np.full((_LINE_MASK + 1, 4), -1, np.int64)


@compiled
def transactions(
    const: int,
    block: NDArray[np.int64],
    weight: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    scale: int,
    known: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """Count what one global access of every thread of a batch costs.

    Parameters
    ----------
    const, block : (shifts, 1), thread : (1 or blocks, threads)
        Element index of thread ``t`` in block ``b`` is ``const + block[b] + thread[b, t]``; one row
        of ``thread`` stands for all blocks.
    weight : (shifts,)
        Blocks that each entry of ``block`` stands for; see :func:`shifts`.
    active : (1 or blocks, threads)
        Threads that take part; warps are 32 consecutive threads.
    scale
        Bytes per element.
    known : (128, 4)
        The counts of one block by alignment of its first byte to a line, -1 where not counted yet;
        filled. From :func:`nothing_known`, or from an earlier call with the same ``thread``,
        ``active`` and ``scale``. Not used where blocks differ by more than a shift.

    Returns
    -------
    warps, lanes, sectors, lines
        Warp instructions, active lanes, distinct 32-byte sectors and 128-byte lines per warp
        instruction, summed over the batch.
    """
    buffer = np.empty(WARP, np.int64)
    sums = np.zeros(4, np.int64)
    one_pattern = thread.shape[0] == 1 and active.shape[0] == 1
    for b in range(block.shape[0]):
        base = const + block[b, 0]
        # A shift by whole lines changes nothing: one count for each alignment that occurs.
        shift = (base * scale) & _LINE_MASK if one_pattern else 0
        if known[shift, 0] < 0 or not one_pattern:
            row = thread[b if thread.shape[0] > 1 else 0]
            lit = active[b if active.shape[0] > 1 else 0]
            counted = block_transactions(base, row, lit, scale, buffer)
            known[shift, 0], known[shift, 1], known[shift, 2], known[shift, 3] = counted
        for i in range(4):
            sums[i] += known[shift, i] * weight[b]
    return sums[0], sums[1], sums[2], sums[3]


@compiled
def repeats(thread: NDArray[np.int64], active: NDArray[np.bool_]) -> int:
    """Count the lanes that hit an address which another lane of their warp has hit already.

    Parameters
    ----------
    thread, active : (1 or blocks, threads)
        Element offsets and activity.

    Returns
    -------
    int
        Summed over the rows; a single row stands for all blocks.
    """
    count = 0
    ordered = np.empty(WARP, np.int64)
    for r in range(max(thread.shape[0], active.shape[0])):
        offset = thread[r if thread.shape[0] > 1 else 0]
        lit = active[r if active.shape[0] > 1 else 0]
        for first in range(0, offset.shape[0], WARP):
            lanes = 0
            for t in range(first, min(first + WARP, offset.shape[0])):
                ordered[lanes] = offset[t]
                lanes += lit[t]
            _sort(ordered, lanes)
            for i in range(1, lanes):
                count += ordered[i] == ordered[i - 1]
    return count
