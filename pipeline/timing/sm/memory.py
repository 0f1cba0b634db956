"""How traces and state of a replay lie in one array of whole numbers.

One array, because a compiled function that takes many pays for each at every call. Times are
cycles; those of stages with a bandwidth are in parts of a cycle (``rates.PARTS``).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelError
from pipeline.timing.sm import result
from pipeline.timing.sm.code import ALU, DOUBLE, SPECIAL, TENSOR, UNIFORM, Code
from pipeline.timing.sm.numbers import WAIT
from pipeline.timing.sm.rates import Rates
from pipeline.timing.sm.trace import Trace

Words = NDArray[np.int64]

NEVER = 1 << 60
SCOREBOARDS, GROUPS, BARRIERS, SUBCORES, BANKS, SLOTS, WAYS = 6, 16, 16, 4, 2, 3, 16
MOST_WARPS, MOST_BLOCKS = 64, 32
SECTORS = 4
CODE_LINE = 8
"""Instructions of a line of the instruction cache: 128 bytes."""

# A warp.
(W_STEP, W_PLACE, W_SPAN, W_WHY, W_SINCE, W_GROUP, W_PENDING, W_ALIVE, W_WAITING, W_FETCHED,
 W_BLOCK, W_STEPS, W_LAST, W_ROWS, W_FREE, W_UNIT) = range(16)  # fmt: skip
W_RELEASED = 16
W_OPEN = W_RELEASED + SCOREBOARDS
W_LONG = W_OPEN + SCOREBOARDS
W_COPIES = W_LONG + SCOREBOARDS
W_COPIED = W_COPIES + GROUPS
WARP = W_COPIED + GROUPS

# A sub-core.
ROOM = 1 << 9
"""Entries that a queue has room for: eight accesses of each warp, where none is to be limited."""
(S_LAST, S_BLOCKED, S_HEAD, S_FILLED, S_GENERATED, S_INSERTS, S_SOON) = range(7)
S_BUSY = 7
S_PORT = S_BUSY + 8
S_KEPT = S_PORT + BANKS
S_QUEUE = S_KEPT + SLOTS * BANKS
(Q_WARP, Q_PLACE, Q_ROW, Q_FROM, Q_GROUP, Q_SPAN) = range(6)
ENTRY = 6
SUBCORE = S_QUEUE + ROOM * ENTRY

# The SM.
(M_LSU, M_TURN, M_DATA, M_TAGS, M_L2, M_DRAM, M_STEPS, M_NEXT, M_LOADS) = range(9)
M_PRESENT = 9
M_ARRIVED = M_PRESENT + MOST_BLOCKS
M_PENDING = M_ARRIVED + MOST_BLOCKS * BARRIERS
MOST_PENDING = 1 << 12
SM = M_PENDING + MOST_PENDING

WAKE_AT = MOST_WARPS * WARP
"""When to look at each warp again: apart from the rest of it, as this is asked in every cycle."""
SUBCORE_AT = WAKE_AT + MOST_WARPS
SM_AT = SUBCORE_AT + SUBCORES * SUBCORE
TABLES_AT = SM_AT + SM

# An instruction.
(C_UNIT, C_STALL, C_STAY, C_WRITE, C_READ, C_WAIT, C_LONG, C_STORE, C_NUMBER, C_COUNT, C_CYCLES,
 C_SHARE, C_RETAINED) = range(13)  # fmt: skip
C_REGISTER = 13
C_WORDS = C_REGISTER + SLOTS
C_REUSE = C_WORDS + SLOTS
CODE = C_REUSE + SLOTS

(T_PLACE, T_SPAN) = range(2)
STEP = 2
(A_WAVES, A_STORED, A_FIRST, A_LAST) = range(4)
ACCESS = 4
(L_LINE, L_NUMBER, L_SECTORS) = range(3)
LINE = 3
(K_TAG, K_USED, K_READY) = range(3)
CACHED = 2 + SECTORS

(G_LOW, G_HIGH, G_FROM, G_TO) = range(4)
PROGRESS = 4

REASONS, PIPES, TRAFFIC = len(result.STALLS), len(result.PIPES), 4
(F_LOADED, F_HIT, F_L2, F_DRAM) = range(TRAFFIC)


class Places(NamedTuple):
    """Where tables begin, and how large some are."""

    warps: int
    instructions: int
    sets: int
    code_lines: int
    code: int
    steps: int
    rows: int
    accesses: int
    lines: int
    cache: int
    seen: int
    inserted: int
    progress: int
    stalls: int
    work: int
    traffic: int
    log: int


def lay_out(
    trace: Trace, code: Code, rates: Rates, share: NDArray[np.int64], retained: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Places]:
    """Put everything that a replay reads and changes into one array.

    Parameters
    ----------
    trace, code, rates
        What runs, and on what.
    share, retained : (instructions,)
        Parts of ``PARTS``: of sectors asked for first that are charged to this SM, and of lines
        that L2 holds.

    Raises
    ------
    ModelError
        If there are more warps or blocks than an SM holds.
    """
    warps, blocks, count = len(trace.path), int(trace.block.max()) + 1, len(code.unit)
    if warps > MOST_WARPS or blocks > MOST_BLOCKS:
        raise ModelError(
            f"a replay of {warps} warps in {blocks} blocks; an SM holds at most {MOST_WARPS} and "
            f"{MOST_BLOCKS}"
        )
    spans, sets = len(trace.turns), max(1, rates.l1_lines // WAYS)
    code_lines = -(-count // CODE_LINE)
    sizes = {
        "code": count * CODE, "steps": len(trace.position) * STEP, "rows": len(trace.row),
        "accesses": len(trace.wavefronts) * ACCESS, "lines": len(trace.line) * LINE,
        "cache": sets * WAYS * CACHED, "seen": trace.lines, "inserted": SUBCORES * code_lines,
        "progress": spans * PROGRESS, "stalls": spans * count * REASONS,
        "work": spans * PIPES, "traffic": spans * TRAFFIC,
        "log": 2 * rates.log_cycles * warps,
    }  # fmt: skip
    starts = np.concatenate([[TABLES_AT], TABLES_AT + np.cumsum(list(sizes.values()))]).tolist()
    at = Places(warps, count, sets, code_lines, *starts[:-1])
    memory = np.zeros(starts[-1], np.int64)
    _warps(memory, trace, code, rates.stagger)
    memory[SUBCORE_AT:SM_AT].reshape(SUBCORES, SUBCORE)[:, S_LAST] = -1 - (1 << 30)
    memory[SUBCORE_AT:SM_AT].reshape(SUBCORES, SUBCORE)[:, S_KEPT:S_QUEUE] = -1
    memory[SM_AT + M_PRESENT :][:blocks] = np.bincount(trace.block)
    _tables(memory, at, trace, code, rates, share, retained)
    return memory, at


def _warps(memory: NDArray[np.int64], trace: Trace, code: Code, stagger: int) -> None:
    table = memory[: len(trace.path) * WARP].reshape(-1, WARP)
    starts = trace.path_start[trace.path]
    table[:, W_PLACE], table[:, W_SPAN] = trace.position[starts], trace.span[starts]
    table[:, W_UNIT] = code.unit[trace.position[starts]]
    table[:, W_SINCE] = memory[WAKE_AT:][: len(table)] = trace.block * stagger
    table[:, W_WHY], table[:, W_ALIVE], table[:, W_WAITING] = WAIT, 1, -1
    table[:, W_FETCHED], table[:, W_BLOCK] = -9, trace.block
    table[:, W_STEPS], table[:, W_ROWS] = starts, trace.row_start
    table[:, W_LAST] = trace.path_start[trace.path + 1] - starts - 1


def _pipe_cycles(code: Code, rates: Rates) -> NDArray[np.int64]:
    """Return for how many cycles every instruction takes its pipe."""
    cycles = np.full(len(code.unit), rates.fma_interval, np.int64)
    for unit, interval in (
        (ALU, rates.alu_interval),
        (UNIFORM, rates.uniform_interval),
        (SPECIAL, rates.special_interval),
        (DOUBLE, rates.double_interval),
    ):
        cycles[code.unit == unit] = interval
    return np.where(code.unit == TENSOR, np.ceil(code.products / rates.tensor_rate), cycles).astype(
        np.int64
    )


def _tables(
    memory: NDArray[np.int64], at: Places, trace: Trace, code: Code, rates: Rates,
    share: NDArray[np.int64], retained: NDArray[np.int64],
) -> None:  # fmt: skip
    table = memory[at.code : at.steps].reshape(-1, CODE)
    columns: dict[int, NDArray[Any]] = {
        C_UNIT: code.unit, C_STALL: code.stall, C_STAY: code.stay, C_WRITE: code.write_barrier,
        C_READ: code.read_barrier, C_WAIT: code.wait, C_LONG: code.long, C_STORE: code.store,
        C_NUMBER: code.number, C_COUNT: code.warps, C_SHARE: share, C_RETAINED: retained,
        C_CYCLES: _pipe_cycles(code, rates),
    }  # fmt: skip
    for field, column in columns.items():
        table[:, field] = column
    table[:, C_REGISTER:C_WORDS] = code.register
    table[:, C_WORDS:C_REUSE], table[:, C_REUSE:] = code.words, code.reuse
    steps = memory[at.steps : at.rows].reshape(-1, STEP)
    steps[:, T_PLACE], steps[:, T_SPAN] = trace.position, trace.span
    memory[at.rows : at.accesses] = trace.row
    accesses = memory[at.accesses : at.lines].reshape(-1, ACCESS)
    accesses[:, A_WAVES], accesses[:, A_STORED] = trace.wavefronts, trace.stored_wavefronts
    accesses[:, A_FIRST], accesses[:, A_LAST] = trace.line_start[:-1], trace.line_start[1:]
    lines = memory[at.lines : at.cache].reshape(-1, LINE)
    lines[:, L_LINE], lines[:, L_NUMBER] = trace.line, trace.number
    lines[:, L_SECTORS] = trace.sectors
    cached = memory[at.cache : at.seen].reshape(-1, CACHED)
    cached[:, K_TAG], cached[:, K_READY:] = -1, NEVER
    progress = memory[at.progress : at.stalls].reshape(-1, PROGRESS)
    progress[:, G_LOW], progress[:, G_HIGH] = trace.low, trace.high
    marks = np.concatenate([trace.low, trace.high])
    memory[SM_AT + M_NEXT] = min(marks[marks > 0], default=NEVER)
    memory[at.log : at.log + rates.log_cycles * at.warps] = -1
