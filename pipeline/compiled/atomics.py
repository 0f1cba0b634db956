"""Compiled loops of atomics: lane after lane, in order."""

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled

ADD, MIN, MAX, AND, OR, XOR, EXCH, CAS, INC, DEC, FADD = range(11)
OPERATIONS = {
    "ADD": ADD, "MIN": MIN, "MAX": MAX, "AND": AND, "OR": OR, "XOR": XOR, "EXCH": EXCH,
    "CAS": CAS, "INC": INC, "DEC": DEC, "FADD": FADD,
}  # fmt: skip


@compiled
def _integer(operation: int, old: np.int64, given: np.int64, swap: np.int64) -> np.int64:
    """Return the new value; ``given`` is what a CAS compares with, ``swap`` what it puts."""
    if operation == ADD:
        return old + given
    if operation <= MAX:
        return min(old, given) if operation == MIN else max(old, given)
    if operation <= XOR:
        return _bits(operation, old, given)
    if operation == EXCH:
        return given
    if operation == CAS:
        return swap if old == given else old
    if operation == INC:
        return np.int64(0) if old >= given else old + 1
    return given if old == 0 or old > given else old - 1


@compiled
def _bits(operation: int, old: np.int64, given: np.int64) -> np.int64:
    if operation == AND:
        return old & given
    return old | given if operation == OR else old ^ given


@compiled
def atomic32(
    memory: NDArray[np.uint32],
    index: NDArray[np.int64],
    lanes: NDArray[np.bool_],
    operation: int,
    signed: bool,
    given: NDArray[np.uint32],
    swap: NDArray[np.uint32],
    old: NDArray[np.uint32],
) -> None:
    """Do one atomic of 32 bits per lane at byte places ``index``; fill ``old``."""
    reals = memory.view(np.float32)
    added = given.view(np.float32)
    for lane in range(index.shape[0]):
        if not lanes[lane]:
            continue
        at = index[lane] >> 2
        before = memory[at]
        old[lane] = before
        if operation == FADD:
            reals[at] = reals[at] + added[lane]
        elif signed:
            new = _integer(
                operation,
                np.int64(np.int32(before)),
                np.int64(np.int32(given[lane])),
                np.int64(swap[lane]),
            )
            memory[at] = np.uint32(new & 0xFFFFFFFF)
        else:
            new = _integer(operation, np.int64(before), np.int64(given[lane]), np.int64(swap[lane]))
            memory[at] = np.uint32(new & 0xFFFFFFFF)


@compiled
def atomic64(
    memory: NDArray[np.int64],
    index: NDArray[np.int64],
    lanes: NDArray[np.bool_],
    operation: int,
    signed: bool,
    given: NDArray[np.int64],
    swap: NDArray[np.int64],
    old: NDArray[np.int64],
) -> None:
    """Do one atomic of 64 bits per lane at byte places ``index``; fill ``old``."""
    reals = memory.view(np.float64)
    added = given.view(np.float64)
    flip = np.int64(0) if signed else np.int64(-(1 << 63))
    for lane in range(index.shape[0]):
        if not lanes[lane]:
            continue
        at = index[lane] >> 3
        old[lane] = memory[at]
        if operation == FADD:
            reals[at] = reals[at] + added[lane]
        elif operation in (MIN, MAX):
            # Without sign, order is that of the numbers with the top bit turned.
            new = _integer(operation, memory[at] ^ flip, given[lane] ^ flip, np.int64(0))
            memory[at] = new ^ flip
        else:
            memory[at] = _integer(operation, memory[at], given[lane], swap[lane])
