"""Move values between memory and the registers of all threads of a batch.

Both directions check every active thread's access before anything moves: an index outside the array
or a vector access off its alignment is reported by position and nothing is transferred.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled

_QUAD = 4
"""Elements of the widest accesses to single precision."""

FINE = -1
"""Returned when every access is allowed; otherwise the position block * threads + thread."""


@compiled
def _all_fine(
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    size: int,
    width: int,
    repeat: int,
    step: int,
) -> bool:
    """Say whether no thread at all, active or not, could be out of range or misaligned."""
    low = high = block[0, 0]
    bits = step
    for b in range(block.shape[0]):
        value = block[b, 0]
        low = min(low, value)
        high = max(high, value)
        bits |= const + value
    least = most = thread[0, 0]
    for r in range(thread.shape[0]):
        for t in range(thread.shape[1]):
            value = thread[r, t]
            least = min(least, value)
            most = max(most, value)
            bits |= value
    # Nothing is added to an index, which may be as large as an integer can be.
    allowed = size - width - (repeat - 1) * step
    inside = const + low + least >= 0 and const + high + most <= allowed
    return inside and (bits & (width - 1)) == 0


@compiled
def first_fault(
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    size: int,
    width: int,
    repeat: int,
    step: int,
) -> int:
    """Find the first active thread whose access is out of range or misaligned.

    Parameters
    ----------
    const, block, thread, active, width, repeat, step
        The access, see :class:`pipeline.simt.access.Access`.
    size
        Elements of the array; of one block's copy, if shared. Neither ``repeat * step`` nor the
        sum of the three parts of an index leaves 64-bit integers.

    Returns
    -------
    int
        ``FINE``, or block * threads + thread.
    """
    if _all_fine(const, block, thread, size, width, repeat, step):
        return FINE
    threads = thread.shape[1]
    allowed = size - width - (repeat - 1) * step
    for b in range(block.shape[0]):
        row = thread[b if thread.shape[0] > 1 else 0]
        lit = active[b if active.shape[0] > 1 else 0]
        for t in range(threads):
            if lit[t]:
                index = const + block[b, 0] + row[t]
                if index < 0 or index > allowed or index % width != 0 or step % width != 0:
                    return b * threads + t
    return FINE


@compiled
def gather(
    flat: NDArray[Any],
    stride: int,
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    full: bool,
    size: int,
    width: int,
    step: int,
    out: NDArray[Any],
) -> int:
    """Read ``out[b, t, :]`` from consecutive elements; inactive threads get zeros.

    Parameters
    ----------
    flat : (elements,)
        The array, or the arrays of all blocks one after the other.
    stride
        Elements from one block's array to the next; 0 for global memory.
    full
        Whether all threads are active.
    out : (blocks, threads, repeat * width)
        Written, one access after the other.

    Returns
    -------
    int
        As :func:`first_fault`, which also documents the other parameters.
    """
    repeat = out.shape[2] // width
    fault = first_fault(const, block, thread, active, size, width, repeat, step)
    if fault != FINE:
        return fault
    for b in range(out.shape[0]):
        base = const + block[b, 0] + b * stride
        row = thread[b if thread.shape[0] > 1 else 0]
        if full and width == 1:
            _gather_single(flat, base, row, step, out[b])
        elif full and width == _QUAD:
            _gather_quads(flat, base, row, step, out[b])
        else:
            lit = active[b if active.shape[0] > 1 else 0]
            _gather_some(flat, base, row, lit, width, step, out[b])
    return FINE


@compiled
def _gather_single(
    flat: NDArray[Any], base: int, row: NDArray[np.int64], step: int, out: NDArray[Any]
) -> None:
    """Read single elements for every thread of a block."""
    if out.shape[1] == 1:
        for t in range(out.shape[0]):
            out[t, 0] = flat[np.uint64(base + row[t])]
        return
    for t in range(out.shape[0]):
        for r in range(out.shape[1]):
            out[t, r] = flat[np.uint64(base + row[t] + r * step)]


@compiled
def _gather_quads(
    flat: NDArray[Any], base: int, row: NDArray[np.int64], step: int, out: NDArray[Any]
) -> None:
    """Read four elements at a time for every thread of a block."""
    for t in range(out.shape[0]):
        line, first = out[t], base + row[t]
        for r in range(out.shape[1] // _QUAD):
            start, to = np.uint64(first + r * step), np.uint64(r * _QUAD)
            line[to] = flat[start]
            line[to + np.uint64(1)] = flat[start + np.uint64(1)]
            line[to + np.uint64(2)] = flat[start + np.uint64(2)]
            line[to + np.uint64(3)] = flat[start + np.uint64(3)]


@compiled
def _gather_some(
    flat: NDArray[Any],
    base: int,
    row: NDArray[np.int64],
    lit: NDArray[np.bool_],
    width: int,
    step: int,
    out: NDArray[Any],
) -> None:
    """Read for the active threads of a block, and give zeros to the others."""
    for t in range(out.shape[0]):
        line = out[t]
        if not lit[t]:
            line[:] = 0
            continue
        for r in range(out.shape[1] // width):
            start = base + row[t] + r * step
            for j in range(width):
                line[r * width + j] = flat[np.uint64(start + j)]


@compiled
def scatter(
    flat: NDArray[Any],
    stride: int,
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    size: int,
    value: NDArray[Any],
) -> int:
    """Write ``value[b, t, :]``, (blocks, threads, width), to consecutive elements.

    Threads store in order, so of two that store to one element the later one stays. The parameters
    and the result are those of :func:`gather`.
    """
    width = value.shape[2]
    fault = first_fault(const, block, thread, active, size, width, 1, 0)
    if fault != FINE:
        return fault
    for b in range(value.shape[0]):
        base = const + block[b, 0] + b * stride
        row = thread[b if thread.shape[0] > 1 else 0]
        lit = active[b if active.shape[0] > 1 else 0]
        for t in range(value.shape[1]):
            if lit[t]:
                for j in range(width):
                    flat[np.uint64(base + row[t] + j)] = value[b, t, j]
    return FINE
