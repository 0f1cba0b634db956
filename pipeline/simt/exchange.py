"""Exchange values between the lanes of a warp: shuffles and votes.

Values, masks and sources are rows over the threads of a block; one row stands for all blocks. The
result has as many rows as the operand that has most.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled

WARP = 32


@compiled
def shuffle(
    value: NDArray[Any],
    lane: NDArray[np.int64],
    active: NDArray[np.bool_],
    out: NDArray[Any],
) -> None:
    """Give every active thread the value of another lane of its warp.

    Parameters
    ----------
    value : (1 or rows, threads, values)
        What each thread offers, as unsigned integers.
    lane : (1 or rows, threads)
        Lane to read from, 0 to 31.
    active : (1 or rows, threads)
        Threads that take part.
    out : (rows, threads, values)
        Filled; 0 for inactive threads, and where the lane does not take part.
    """
    out[:] = 0
    threads = out.shape[1]
    for r in range(out.shape[0]):
        offer = value[r if value.shape[0] > 1 else 0]
        source = lane[r if lane.shape[0] > 1 else 0]
        lit = active[r if active.shape[0] > 1 else 0]
        for t in range(threads):
            other = t - t % WARP + source[t]
            if lit[t] and other < threads and lit[other]:
                for i in range(out.shape[2]):
                    out[r, t, i] = offer[other, i]


@compiled
def silent_lanes(
    lane: NDArray[np.int64], active: NDArray[np.bool_], first: NDArray[np.int64]
) -> int:
    """Count the rows in which a thread reads from a lane that does not take part.

    Parameters
    ----------
    lane, active
        As in :func:`shuffle`.
    first : (3,)
        Filled with row, reading thread and lane of the first one.

    Returns
    -------
    int
        A single row stands for all blocks.
    """
    count = 0
    threads = lane.shape[1]
    for r in range(max(lane.shape[0], active.shape[0])):
        source = lane[r if lane.shape[0] > 1 else 0]
        lit = active[r if active.shape[0] > 1 else 0]
        for t in range(threads):
            other = t - t % WARP + source[t]
            if lit[t] and (other >= threads or not lit[other]):
                if count == 0:
                    first[0], first[1], first[2] = r, t, source[t]
                count += 1
                break
    return count


@compiled
def ballot(holds: NDArray[np.bool_], active: NDArray[np.bool_], out: NDArray[np.uint32]) -> None:
    """Collect the truth values of each warp's active lanes in the bits of a number.

    Parameters
    ----------
    holds, active : (1 or rows, threads)
        Truth value and activity of each thread.
    out : (rows, threads)
        Filled; 0 for inactive threads.
    """
    threads = out.shape[1]
    for r in range(out.shape[0]):
        said = holds[r if holds.shape[0] > 1 else 0]
        lit = active[r if active.shape[0] > 1 else 0]
        for first in range(0, threads, WARP):
            last = min(first + WARP, threads)
            bits = 0
            for t in range(first, last):
                if lit[t] and said[t]:
                    bits |= 1 << (t - first)
            for t in range(first, last):
                out[r, t] = bits if lit[t] else 0
