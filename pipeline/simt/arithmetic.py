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
    single = full and total.shape[2] == 1 and total.shape[3] == 1
    for block in range(total.shape[0]):
        lit = active[block if active.shape[0] > 1 else 0]
        if single:
            _add_one(a[block], b[block], total[block])
            continue
        for t in range(total.shape[1]):
            if full or lit[t]:
                _add_outer(a[block, t], b[block, t], total[block, t])


@njit(cache=True, nogil=True)
def _add_one(a: NDArray[Any], b: NDArray[Any], total: NDArray[Any]) -> None:
    """Add one product per thread."""
    for t in range(total.shape[0]):
        total[t, 0, 0] += a[t, 0] * b[t, 0]


@njit(cache=True, nogil=True)
def _add_outer(a: NDArray[Any], b: NDArray[Any], total: NDArray[Any]) -> None:
    """Add the outer product of one thread's values, along its longer side."""
    if b.shape[0] == 1:
        for i in range(a.shape[0]):
            total[i, 0] += a[i] * b[0]
        return
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total[i, j] += a[i] * b[j]
