"""Compiled twin of :class:`pipeline.simt.global_races.LaunchHistory`.

Per element of a global array and per kind of access, the state keeps the lowest and the highest
number of a block that did it. That is enough to say whether two different blocks did, and the
numbers do not depend on the order in which blocks run.
"""

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled
from pipeline.simt.hazards_fast import ATOMIC, LOAD, STORE

WARP = 32
_LOWEST, _HIGHEST = 0, 1
_NOBODY = (np.iinfo(np.int32).max, -1)
NONE = -1

REPORT_FIELDS = 5
"""Number of blocks, then of the first one: row, warp, number of the other block, element."""


def new_state(elements: int) -> NDArray[np.int32]:
    """Return the state of an array that nobody has touched, (kind, end, element)."""
    state = np.empty((3, 2, elements), np.int32)
    state[:, _LOWEST], state[:, _HIGHEST] = _NOBODY
    return state


@compiled
def enter(
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    width: int,
    kind: int,
    numbers: NDArray[np.int64],
    state: NDArray[np.int32],
) -> None:
    """Remember who touches what.

    Parameters
    ----------
    const, block : (blocks, 1), thread, active : (1 or blocks, threads), width
        The access, see :class:`pipeline.simt.access.Access`.
    kind
        ``LOAD``, ``STORE`` or ``ATOMIC``.
    numbers : (blocks,)
        Numbers of the blocks in the launch.
    state : (kind, end, element)
        From :func:`new_state`; updated.
    """
    lowest, highest = state[kind, _LOWEST], state[kind, _HIGHEST]
    for b in range(numbers.shape[0]):
        number = np.int32(numbers[b])
        offset = thread[b if thread.shape[0] > 1 else 0]
        lit = active[b if active.shape[0] > 1 else 0]
        base = const + block[b, 0]
        for t in range(offset.shape[0]):
            if lit[t]:
                for element in range(base + offset[t], base + offset[t] + width):
                    lowest[element] = min(lowest[element], number)
                    highest[element] = max(highest[element], number)


@compiled
def any_race(state: NDArray[np.int32]) -> bool:
    """Say whether two blocks touched one element, of which one wrote it.

    Atomics of two blocks are no race.
    """
    for element in range(state.shape[2]):
        low = min(state[LOAD, _LOWEST, element], state[ATOMIC, _LOWEST, element])
        high = max(state[LOAD, _HIGHEST, element], state[ATOMIC, _HIGHEST, element])
        read = state[LOAD, _HIGHEST, element] >= 0
        if read and state[ATOMIC, _HIGHEST, element] >= 0 and low != high:
            return True
        low = min(low, state[STORE, _LOWEST, element])
        high = max(high, state[STORE, _HIGHEST, element])
        if state[STORE, _HIGHEST, element] >= 0 and low != high:
            return True
    return False


@compiled
def _rival(state: NDArray[np.int32], kind: int, number: int, element: int) -> int:
    """Return the block that an access of block ``number`` races with, or ``NONE``."""
    stored = state[STORE, _LOWEST, element]
    if kind == ATOMIC:
        return stored if stored < number else NONE
    first = min(stored, state[ATOMIC, _LOWEST, element])
    if first < number:
        return first
    last = max(state[STORE, _HIGHEST, element], state[ATOMIC, _HIGHEST, element])
    return last if kind == LOAD and last > number else NONE


@compiled
def judge(
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    width: int,
    kind: int,
    numbers: NDArray[np.int64],
    state: NDArray[np.int32],
    report: NDArray[np.int64],
    racing: NDArray[np.bool_],
) -> int:
    """Find the blocks whose access races with another block's.

    Parameters
    ----------
    const, block, thread, active, width, kind, numbers
        As in :func:`enter`.
    state : (kind, end, element)
        After a whole launch was entered.
    report : (REPORT_FIELDS,)
        Filled, if there is a race.
    racing : (blocks,)
        Filled.

    Returns
    -------
    int
        How many blocks race.
    """
    count = 0
    for b in range(numbers.shape[0]):
        offset = thread[b if thread.shape[0] > 1 else 0]
        lit = active[b if active.shape[0] > 1 else 0]
        base = const + block[b, 0]
        racing[b] = False
        for t in range(offset.shape[0]):
            if not lit[t] or racing[b]:
                continue
            for element in range(base + offset[t], base + offset[t] + width):
                rival = _rival(state, kind, numbers[b], element)
                if rival != NONE and not racing[b]:
                    racing[b] = True
                    if count == 0:
                        report[1], report[2], report[3], report[4] = b, t // WARP, rival, element
        count += racing[b]
    report[0] = count
    return count
