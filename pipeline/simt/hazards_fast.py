"""Compiled twin of :class:`pipeline.simt.hazards.History`, over the blocks of a batch.

One row of state per element of a shared array says which warp last wrote it, which warp last read
it, each with the epoch, which store instruction wrote it last, and how many asynchronous copies to
it are under way. ``SEVERAL`` stands for more than one warp within the epoch, which is all that a
later access needs to know.

As long as every block of a batch does the same to its shared memory, one copy of the state stands
for all of them.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

WARP = 32
NEVER = -1
SEVERAL = -2
_WRITE_EPOCH, _WRITER, _READ_EPOCH, _READER, _STAMP, _FLYING, _ATOMIC_EPOCH = range(7)
FIELDS = 7

LOAD, STORE, ATOMIC, COPY_ISSUED, COPY_LANDED = range(5)
"""What an access does to the elements it touches."""

_RAW, _WAR, _WAW, _COLLISION, _UNINITIALISED, _IN_FLIGHT, _ANY = range(7)

REPORT_ROWS = 7
"""One row per access kind, and a last one for instructions that show any race."""

REPORT_FIELDS = 5
"""Number of blocks, then of the first one: row, warp, other warp, element."""


def new_state(elements: int) -> NDArray[np.int32]:
    """Return the state of an array that nobody has touched, (1, field, element)."""
    state = np.full((1, FIELDS, elements), NEVER, np.int32)
    state[:, _FLYING] = 0
    return state


def all_written(state: NDArray[np.int32]) -> bool:
    """Say whether every element has been written in every block."""
    return bool((state[:, _WRITE_EPOCH] != NEVER).all())


@njit(cache=True, nogil=True)
def _note(
    report: NDArray[np.int64],
    seen: NDArray[np.bool_],
    kind: int,
    block: int,
    warp: int,
    other: int,
    element: int,
) -> None:
    """Report ``kind`` once per block and instruction, and keep the details of the first block."""
    if seen[kind]:
        return
    seen[kind] = True
    if report[kind, 0] == 0:
        report[kind, 1] = block
        report[kind, 2] = warp
        report[kind, 3] = max(other, -1)
        report[kind, 4] = element
    report[kind, 0] += 1


@njit(cache=True, nogil=True)
def _load(
    state: NDArray[np.int32],
    epoch: int,
    element: int,
    warp: int,
    block: int,
    report: NDArray[np.int64],
    seen: NDArray[np.bool_],
) -> None:
    """Let ``warp`` read ``element``."""
    if state[_WRITE_EPOCH, element] == epoch and state[_WRITER, element] != warp:
        _note(report, seen, _RAW, block, warp, state[_WRITER, element], element)
    if state[_WRITE_EPOCH, element] == NEVER:
        _note(report, seen, _UNINITIALISED, block, warp, -1, element)
    if state[_FLYING, element] > 0:
        _note(report, seen, _IN_FLIGHT, block, warp, -1, element)
    again = state[_READ_EPOCH, element] == epoch and state[_READER, element] != warp
    state[_READER, element] = SEVERAL if again else warp
    state[_READ_EPOCH, element] = epoch


@njit(cache=True, nogil=True)
def _store(
    state: NDArray[np.int32],
    epoch: int,
    stamp: int,
    element: int,
    warp: int,
    block: int,
    kind: int,
    report: NDArray[np.int64],
    seen: NDArray[np.bool_],
) -> None:
    """Let ``warp`` write ``element`` with the instruction number ``stamp``.

    Atomic instructions are ordered among themselves, whichever warps and lanes they come from.
    """
    if state[_READ_EPOCH, element] == epoch and state[_READER, element] != warp:
        _note(report, seen, _WAR, block, warp, state[_READER, element], element)
    writer = state[_WRITER, element]
    again = state[_WRITE_EPOCH, element] == epoch and writer != warp
    ordered = kind == ATOMIC and state[_ATOMIC_EPOCH, element] == epoch
    if again and not ordered:
        _note(report, seen, _WAW, block, warp, writer, element)
    if kind != COPY_LANDED and state[_FLYING, element] > 0:
        _note(report, seen, _IN_FLIGHT, block, warp, -1, element)
    if kind != ATOMIC and state[_STAMP, element] == stamp * 64 + warp:
        _note(report, seen, _COLLISION, block, warp, warp, element)
    state[_STAMP, element] = stamp * 64 + warp
    state[_WRITER, element] = SEVERAL if again else warp
    state[_WRITE_EPOCH, element] = epoch
    state[_ATOMIC_EPOCH, element] = epoch if kind == ATOMIC else NEVER
    state[_FLYING, element] += (kind == COPY_ISSUED) - (kind == COPY_LANDED)


@njit(cache=True, nogil=True)
def reads_written(
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    width: int,
    state: NDArray[np.int32],
) -> bool:
    """Say whether every element that a load touches has been written; see :func:`check_access`."""
    for b in range(state.shape[0]):
        offset = thread[b if thread.shape[0] > 1 else 0]
        lit = active[b if active.shape[0] > 1 else 0]
        for t in range(offset.shape[0]):
            if lit[t]:
                first = const + block[b, 0] + offset[t]
                for element in range(first, first + width):
                    if state[b, _WRITE_EPOCH, element] == NEVER:
                        return False
    return True


@njit(cache=True, nogil=True)
def check_access(
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    width: int,
    kind: int,
    state: NDArray[np.int32],
    epoch: NDArray[np.int32],
    stamp: int,
    report: NDArray[np.int64],
) -> int:
    """Check one shared access of a batch against what came before, and remember it.

    Parameters
    ----------
    const, block : (blocks, 1), thread, active : (1 or blocks, threads), width
        The access, see :class:`pipeline.simt.access.Access`.
    kind
        ``LOAD``, ``STORE``, ``ATOMIC``, ``COPY_ISSUED`` or ``COPY_LANDED``.
    state : (1 or blocks, field, element)
        History of the array; updated. One row stands for all blocks.
    epoch : (blocks,)
        Barriers that each block has passed.
    stamp
        Number of this instruction.
    report : (REPORT_ROWS, REPORT_FIELDS)
        Filled.

    Returns
    -------
    int
        Rows of the report that say something.
    """
    seen = np.empty(REPORT_ROWS, np.bool_)
    for b in range(state.shape[0]):
        offset = thread[b if thread.shape[0] > 1 else 0]
        lit = active[b if active.shape[0] > 1 else 0]
        base = const + block[b, 0]
        seen[:] = False
        for t in range(offset.shape[0]):
            if not lit[t]:
                continue
            warp = t // WARP
            for element in range(base + offset[t], base + offset[t] + width):
                if kind == LOAD:
                    _load(state[b], epoch[b], element, warp, b, report, seen)
                else:
                    _store(state[b], epoch[b], stamp, element, warp, b, kind, report, seen)
        racing = seen[_RAW] or seen[_WAR] or seen[_WAW] or seen[_COLLISION] or seen[_IN_FLIGHT]
        report[_ANY, 0] += racing
    reported = 0
    for row in range(REPORT_ROWS):
        reported += report[row, 0] > 0
    return reported
