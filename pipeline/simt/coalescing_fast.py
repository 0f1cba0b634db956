"""Compiled twin of :mod:`pipeline.simt.coalescing` over all blocks of a batch."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

WARP = 32
_SECTOR_SHIFT = 5
_LINE_SHIFT = 7
_LINE_MASK = 127


@njit(cache=True, nogil=True)
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
    ordered = buffer[:lanes] if ascending else np.sort(buffer[:lanes])
    sectors = lines = min(lanes, 1)
    for i in range(1, lanes):
        sectors += ordered[i] != ordered[i - 1]
        lines += ordered[i] >> 2 != ordered[i - 1] >> 2
    return lanes, sectors, lines


@njit(cache=True, nogil=True)
def _block_transactions(
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


def nothing_known() -> NDArray[np.int64]:
    """Return the table of a pattern that has not been counted, (alignment, count)."""
    return np.full((_LINE_MASK + 1, 4), -1, np.int64)


@njit(cache=True, nogil=True)
def transactions(
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    scale: int,
    known: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """Count what one global access of every thread of a batch costs.

    Parameters
    ----------
    const, block : (blocks, 1), thread : (1 or blocks, threads)
        Element index of thread ``t`` in block ``b`` is ``const + block[b] + thread[b, t]``; one row
        of ``thread`` stands for all blocks.
    active : (1 or blocks, threads)
        Threads that take part; warps are 32 consecutive threads.
    scale
        Bytes per element.
    known : (128, 4)
        The counts of one block by alignment of its first byte to a line, -1 where not counted yet;
        filled. From :func:`nothing_known`, or from an earlier call with the same ``thread``,
        ``active`` and ``scale``.

    Returns
    -------
    warps, lanes, sectors, lines
        Warp instructions, active lanes, distinct 32-byte sectors and 128-byte lines per warp
        instruction, summed over the batch.
    """
    buffer = np.empty(WARP, np.int64)
    blocks = block.shape[0]
    if thread.shape[0] > 1 or active.shape[0] > 1:
        total = (0, 0, 0, 0)
        for b in range(blocks):
            row = thread[b if thread.shape[0] > 1 else 0]
            lit = active[b if active.shape[0] > 1 else 0]
            w, n, s, k = _block_transactions(const + block[b, 0], row, lit, scale, buffer)
            total = (total[0] + w, total[1] + n, total[2] + s, total[3] + k)
        return total
    # Blocks differ by a shift only, and a shift by whole lines changes nothing: one count for each
    # alignment that occurs.
    sums = np.zeros(4, np.int64)
    for b in range(blocks):
        base = const + block[b, 0]
        shift = (base * scale) & _LINE_MASK
        if known[shift, 0] < 0:
            w, n, s, k = _block_transactions(base, thread[0], active[0], scale, buffer)
            known[shift, 0] = w
            known[shift, 1] = n
            known[shift, 2] = s
            known[shift, 3] = k
        for i in range(4):
            sums[i] += known[shift, i]
    return sums[0], sums[1], sums[2], sums[3]
