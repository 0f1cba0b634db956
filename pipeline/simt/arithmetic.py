"""Multiply-adds of all threads of a batch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled


@compiled
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
    for block in range(total.shape[0]):
        lit = active[block if active.shape[0] > 1 else 0]
        if full and total.shape[2] == 1 and total.shape[3] == 1:
            _add_one(a[block], b[block], total[block])
        elif total.shape[3] == 1:
            _add_column(a[block], b[block], lit, total[block])
        else:
            _add_outer(a[block], b[block], lit, total[block])


@compiled
def _add_one(a: NDArray[Any], b: NDArray[Any], total: NDArray[Any]) -> None:
    """Add one product in every thread of a block."""
    for t in range(total.shape[0]):
        total[t, 0, 0] += a[t, 0] * b[t, 0]


@compiled
def _add_column(
    a: NDArray[Any], b: NDArray[Any], lit: NDArray[np.bool_], total: NDArray[Any]
) -> None:
    """Add the products with a single value of ``b`` in the active threads of a block."""
    for t in range(total.shape[0]):
        if lit[t]:
            right = b[t, 0]
            for i in range(total.shape[1]):
                total[t, i, 0] += a[t, i] * right


@compiled
def _add_outer(
    a: NDArray[Any], b: NDArray[Any], lit: NDArray[np.bool_], total: NDArray[Any]
) -> None:
    """Add every product in the active threads of a block."""
    for t in range(total.shape[0]):
        if lit[t]:
            for i in range(total.shape[1]):
                left = a[t, i]
                for j in range(total.shape[2]):
                    total[t, i, j] += left * b[t, j]
