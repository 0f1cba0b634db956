"""Multiply-adds of all threads of a batch."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def add_products(
    a: NDArray[Any],
    b: NDArray[Any],
    active: NDArray[np.bool_],
    full: bool,
    total: NDArray[Any],
) -> None:
    """Add every product of a thread's values of ``a`` and ``b`` to its accumulators.

    Parameters
    ----------
    a : (block, thread, p), b : (block, thread, q)
        Values per thread.
    active : (1 or block, thread)
        Threads that take part; all of them if ``full``.
    total : (block, thread, p, q)
        Changed in place. Each product is rounded before it is added, where an FFMA rounds once; the
        difference is far below the error of the sum.
    """
    blocks, threads, p, q = total.shape
    for block in range(blocks):
        lit = active[block if active.shape[0] > 1 else 0]
        if full and p == 1 and q == 1:
            for t in range(threads):
                total[block, t, 0, 0] += a[block, t, 0] * b[block, t, 0]
            continue
        for t in range(threads):
            if not (full or lit[t]):
                continue
            if q == 1:
                right = b[block, t, 0]
                for i in range(p):
                    total[block, t, i, 0] += a[block, t, i] * right
                continue
            for i in range(p):
                left = a[block, t, i]
                for j in range(q):
                    total[block, t, i, j] += left * b[block, t, j]
