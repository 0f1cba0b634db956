"""Read, change and write elements of memory, thread after thread."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled
from pipeline.simt import transfer

ADD, MAX, MIN = range(3)

INTEGERS = ("int32", "uint32", "int64", "uint64")
TYPES = {ADD: (*INTEGERS, "float16", "float32", "float64"), MAX: INTEGERS, MIN: INTEGERS}
"""Element types that CUDA has each operation for (CUDA C++ guide, atomic functions)."""


@compiled
def _modify(
    flat: NDArray[Any],
    stride: int,
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    operation: int,
    value: NDArray[Any],
    old: NDArray[Any],
) -> None:
    """Change ``flat`` one thread after the other; see :func:`modify`."""
    for b in range(value.shape[0]):
        base = const + block[b, 0] + b * stride
        row = thread[b if thread.shape[0] > 1 else 0]
        lit = active[b if active.shape[0] > 1 else 0]
        for t in range(value.shape[1]):
            if lit[t]:
                at = np.uint64(base + row[t])
                before, given = flat[at], value[b, t]
                old[b, t] = before
                if operation == ADD:
                    flat[at] = before + given
                elif operation == MAX:
                    flat[at] = max(before, given)
                else:
                    flat[at] = min(before, given)


# Numba has no arithmetic for halves: their loop runs as it stands.
_modify_halves = getattr(_modify, "py_func", _modify)


def modify(
    flat: NDArray[Any],
    stride: int,
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    size: int,
    operation: int,
    value: NDArray[Any],
    old: NDArray[Any],
) -> int:
    """Apply an atomic of every active thread, in the order of blocks and threads.

    Parameters
    ----------
    flat, stride, const, block, thread, active, size
        As in :func:`pipeline.simt.transfer.gather`.
    operation
        ``ADD``, ``MAX`` or ``MIN``; integers wrap around.
    value : (blocks, threads)
        The other operand, of the type of ``flat``.
    old : (blocks, threads)
        Filled with what each active thread found.

    Returns
    -------
    int
        As :func:`pipeline.simt.transfer.first_fault`; with a fault nothing is changed.
    """
    fault: int = transfer.first_fault(const, block, thread, active, size, 1, 1, 0)
    if fault == transfer.FINE:
        loop = _modify_halves if flat.dtype == np.float16 else _modify
        with np.errstate(over="ignore"):
            loop(flat, stride, const, block, thread, active, operation, value, old)
    return fault
