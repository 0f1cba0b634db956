"""Compiled twin of :class:`pipeline.simt.hazards.History`, over the blocks of a batch.

One row of state per element of a shared array says who wrote it, who changed it by an atomic and
who read it, each as the epoch with the first two different warps of it; which store instruction
wrote it last; and how many asynchronous copies to it are under way, with the warp of the last. Two
warps are all that a later access needs to know: one of them is another than its own.

As long as every block of a batch does the same to its shared memory, one copy of the state stands
for all of them.
"""

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled

WARP = 32
NEVER = -1
_NO_EPOCH = -3
# An epoch, and in the two fields after it the first two warps: see _other and _enter.
_WRITE_EPOCH, _ATOMIC_EPOCH, _READ_EPOCH = 0, 3, 6
_STAMP, _FLYING, _COPIER = 9, 10, 11
FIELDS = 12

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


@compiled
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
        report[kind, 3] = other
        report[kind, 4] = element
    report[kind, 0] += 1


@compiled
def _other(state: NDArray[np.int32], field: int, epoch: int, element: int, warp: int) -> int:
    """Return another warp that did this since the last barrier, or ``NEVER``."""
    if state[field, element] != epoch:
        return NEVER
    first = state[field + 1, element]
    return first if first != warp else state[field + 2, element]


@compiled
def _enter(state: NDArray[np.int32], field: int, epoch: int, element: int, warp: int) -> None:
    """Remember that ``warp`` did this."""
    if state[field, element] != epoch:
        state[field, element] = epoch
        state[field + 1, element] = warp
        state[field + 2, element] = NEVER
    elif state[field + 1, element] != warp and state[field + 2, element] == NEVER:
        state[field + 2, element] = warp


@compiled
def _load(
    state: NDArray[np.int32],
    epoch: int,
    element: int,
    warp: int,
    block: int,
    rare: bool,
    report: NDArray[np.int64],
    seen: NDArray[np.bool_],
) -> None:
    """Let ``warp`` read ``element``."""
    other = _other(state, _WRITE_EPOCH, epoch, element, warp)
    if rare and other == NEVER:
        other = _other(state, _ATOMIC_EPOCH, epoch, element, warp)
    if other != NEVER:
        _note(report, seen, _RAW, block, warp, other, element)
    if state[_WRITE_EPOCH, element] == NEVER:
        _note(report, seen, _UNINITIALISED, block, warp, -1, element)
    if rare and state[_FLYING, element] > 0:
        _note(report, seen, _IN_FLIGHT, block, warp, state[_COPIER, element], element)
    _enter(state, _READ_EPOCH, epoch, element, warp)


@compiled
def _store(
    state: NDArray[np.int32],
    epoch: int,
    stamp: int,
    element: int,
    warp: int,
    block: int,
    kind: int,
    rare: bool,
    report: NDArray[np.int64],
    seen: NDArray[np.bool_],
) -> None:
    """Let ``warp`` write ``element``, or start to, with the instruction number ``stamp``."""
    other = _other(state, _READ_EPOCH, epoch, element, warp)
    if other != NEVER:
        _note(report, seen, _WAR, block, warp, other, element)
    other = _other(state, _WRITE_EPOCH, epoch, element, warp)
    if rare and other == NEVER:
        other = _other(state, _ATOMIC_EPOCH, epoch, element, warp)
    if other != NEVER:
        _note(report, seen, _WAW, block, warp, other, element)
    if rare and state[_FLYING, element] > 0:
        _note(report, seen, _IN_FLIGHT, block, warp, state[_COPIER, element], element)
    if state[_STAMP, element] == stamp * WARP + warp:
        _note(report, seen, _COLLISION, block, warp, warp, element)
    state[_STAMP, element] = stamp * WARP + warp
    _enter(state, _WRITE_EPOCH, epoch, element, warp)
    if kind == COPY_ISSUED:
        state[_FLYING, element] += 1
        state[_COPIER, element] = warp


@compiled
def _atomic(
    state: NDArray[np.int32],
    epoch: int,
    element: int,
    warp: int,
    block: int,
    report: NDArray[np.int64],
    seen: NDArray[np.bool_],
) -> None:
    """Let ``warp`` read, change and write ``element`` at once."""
    other = _other(state, _READ_EPOCH, epoch, element, warp)
    if other != NEVER:
        _note(report, seen, _WAR, block, warp, other, element)
    other = _other(state, _WRITE_EPOCH, epoch, element, warp)
    if other != NEVER:
        _note(report, seen, _WAW, block, warp, other, element)
    if state[_FLYING, element] > 0:
        _note(report, seen, _IN_FLIGHT, block, warp, state[_COPIER, element], element)
    if state[_WRITE_EPOCH, element] == NEVER:
        _note(report, seen, _UNINITIALISED, block, warp, -1, element)
        state[_WRITE_EPOCH, element] = _NO_EPOCH
    _enter(state, _ATOMIC_EPOCH, epoch, element, warp)


@compiled
def _land(state: NDArray[np.int32], epoch: int, element: int, warp: int) -> None:
    """Let an asynchronous copy of ``warp`` arrive: who touched it before has been reported."""
    state[_FLYING, element] -= 1
    _enter(state, _WRITE_EPOCH, epoch, element, warp)


@compiled
def _check_block(
    base: int,
    offset: NDArray[np.int64],
    lit: NDArray[np.bool_],
    width: int,
    kind: int,
    rare: bool,
    state: NDArray[np.int32],
    epoch: int,
    stamp: int,
    block: int,
    report: NDArray[np.int64],
    seen: NDArray[np.bool_],
) -> None:
    """Check one access of the threads of a block."""
    for t in range(offset.shape[0]):
        if not lit[t]:
            continue
        warp = t // WARP
        for element in range(base + offset[t], base + offset[t] + width):
            if kind == LOAD:
                _load(state, epoch, element, warp, block, rare, report, seen)
            elif kind == ATOMIC:
                _atomic(state, epoch, element, warp, block, report, seen)
            elif kind == COPY_LANDED:
                _land(state, epoch, element, warp)
            else:
                _store(state, epoch, stamp, element, warp, block, kind, rare, report, seen)


@compiled
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


@compiled
def check_access(
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    width: int,
    kind: int,
    rare: bool,
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
    rare
        Whether the array has seen an atomic or an asynchronous copy.
    state : (1 or blocks, field, element)
        History of the array; updated. One row stands for all blocks.
    epoch : (blocks,)
        Barriers that each block has passed.
    stamp
        Number of this instruction; no older one with the same number may be remembered.
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
        _check_block(
            base, offset, lit, width, kind, rare, state[b], epoch[b], stamp, b, report, seen
        )
        racing = seen[_RAW] or seen[_WAR] or seen[_WAW] or seen[_COLLISION] or seen[_IN_FLIGHT]
        report[_ANY, 0] += racing
    reported = 0
    for row in range(REPORT_ROWS):
        reported += report[row, 0] > 0
    return reported
