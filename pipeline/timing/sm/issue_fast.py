"""What warps wait for and what issuing does, compiled; ``replay_plain`` says what it does."""

from pipeline.timing.sm.code import (
    BARRIER,
    COPY,
    DOUBLE,
    EXIT,
    FIRST_MEMORY,
    FMA,
    FREE,
    GROUP,
    HEAVY,
    LAST_MEMORY,
    SHARED,
    SHUFFLE,
    WAIT_GROUPS,
)
from pipeline.timing.sm.counts_fast import worked
from pipeline.timing.sm.memory import (
    BARRIERS,
    C_COUNT,
    C_CYCLES,
    C_LONG,
    C_NUMBER,
    C_READ,
    C_REGISTER,
    C_REUSE,
    C_STALL,
    C_STAY,
    C_UNIT,
    C_WAIT,
    C_WORDS,
    C_WRITE,
    CODE,
    CODE_LINE,
    ENTRY,
    G_FROM,
    G_HIGH,
    G_LOW,
    G_TO,
    GROUPS,
    M_ARRIVED,
    M_NEXT,
    M_PRESENT,
    M_STEPS,
    NEVER,
    PROGRESS,
    Q_FROM,
    Q_GROUP,
    Q_PLACE,
    Q_ROW,
    Q_SPAN,
    Q_WARP,
    REASONS,
    ROOM,
    S_BLOCKED,
    S_BUSY,
    S_FILLED,
    S_GENERATED,
    S_HEAD,
    S_INSERTS,
    S_KEPT,
    S_LAST,
    S_PORT,
    S_QUEUE,
    S_SOON,
    SCOREBOARDS,
    SLOTS,
    SM_AT,
    STEP,
    SUBCORE,
    SUBCORE_AT,
    SUBCORES,
    T_PLACE,
    T_SPAN,
    W_ALIVE,
    W_BLOCK,
    W_COPIED,
    W_COPIES,
    W_FETCHED,
    W_FREE,
    W_GROUP,
    W_LAST,
    W_LONG,
    W_OPEN,
    W_PENDING,
    W_PLACE,
    W_RELEASED,
    W_ROWS,
    W_SINCE,
    W_SPAN,
    W_STEP,
    W_STEPS,
    W_UNIT,
    W_WAITING,
    W_WHY,
    WAKE_AT,
    WARP,
    Places,
    Words,
)  # fmt: skip
from pipeline.timing.sm.numbers import (
    AT_BARRIER,
    DRAIN,
    FETCH,
    LG,
    LONG,
    MATH,
    MIO,
    PIPE_OF_UNIT,
    SELECTED,
    SHORT,
    WAIT,
    inlined,
)
from pipeline.timing.sm.rates import Rates


@inlined
def note(m: Words, at: Places, r: Rates, w: int, reason: int, t: int) -> None:
    """Book what a warp did since its reason last changed; the next one is ``reason``."""
    base = w * WARP
    if m[base + W_WHY] == reason:
        return
    since = m[base + W_SINCE]
    if t > since:
        place = (m[base + W_SPAN] * at.instructions + m[base + W_PLACE]) * REASONS
        m[at.stalls + place + m[base + W_WHY]] += t - since
        for i in range(max(since - r.log_first, 0), min(t - r.log_first, r.log_cycles)):
            m[at.log + i * at.warps + w] = m[base + W_PLACE]
            m[at.log + (r.log_cycles + i) * at.warps + w] = m[base + W_WHY]
        m[base + W_SINCE] = t
    m[base + W_WHY] = reason


@inlined
def _scoreboards(m: Words, w: int, wait: int) -> int:
    """Return when the scoreboards that are waited for are clear; odd if the wait is a long one."""
    base = w * WARP
    until = 0
    if wait == 0:
        return 0
    for b in range(SCOREBOARDS):
        if wait >> b & 1:
            clear = NEVER if m[base + W_OPEN + b] > 0 else m[base + W_RELEASED + b]
            until = max(until, 2 * clear + m[base + W_LONG + b])
    return until


@inlined
def _copies(m: Words, w: int, left: int) -> int:
    """Return when all groups of asynchronous copies but the last few are there."""
    base = w * WARP
    until = 0
    closed = m[base + W_GROUP]
    for g in range(max(0, closed - GROUPS + 1), closed - left):
        if m[base + W_COPIES + g % GROUPS] > 0:
            return NEVER
        until = max(until, m[base + W_COPIED + g % GROUPS])
    return until


@inlined
def _fetched(m: Words, at: Places, r: Rates, w: int, sc: int, t: int) -> int:
    """Return when a warp's next instruction is there.

    Lines that follow each other are fetched ahead; a jump to a line that the sub-core has lost
    waits for it.
    """
    base, sub = w * WARP, SUBCORE_AT + sc * SUBCORE
    line = m[base + W_PLACE] // CODE_LINE
    before = m[base + W_FETCHED]
    if before == line:
        return t
    entry = at.inserted + sc * at.code_lines + line
    inside = m[entry] > 0 and m[sub + S_INSERTS] - m[entry] < r.code_lines
    if not inside:
        m[sub + S_INSERTS] += 1
        m[entry] = m[sub + S_INSERTS]
    m[base + W_FETCHED] = line
    return t if inside or before == line - 1 else t + r.code_latency


@inlined
def _pipe_free(m: Words, r: Rates, sc: int, unit: int) -> int:
    busy = SUBCORE_AT + sc * SUBCORE + S_BUSY
    if unit == FMA:
        heavy = m[busy + HEAVY]
        return min(m[busy + FMA], heavy) if r.fma_pipes == 2 else heavy
    return m[busy + unit] if unit < FREE else 0


@inlined
def _awaited(m: Words, at: Places, r: Rates, w: int, sc: int, t: int) -> tuple[int, int]:
    """Return why a warp waits for its instruction or its operands, -1 if not, and until when."""
    code = at.code + m[w * WARP + W_PLACE] * CODE
    until = _fetched(m, at, r, w, sc, t)
    if until > t:
        return FETCH, until
    clear = _scoreboards(m, w, m[code + C_WAIT])
    if clear >> 1 > t:
        return (LONG if clear & 1 else SHORT), clear >> 1
    if m[w * WARP + W_UNIT] == WAIT_GROUPS:
        until = _copies(m, w, m[code + C_NUMBER])
        if until > t:
            return LONG, until
    return -1, t


@inlined
def _held_up(m: Words, r: Rates, w: int, sc: int, t: int) -> tuple[int, int]:
    """Return why a sub-core cannot take a warp's instruction, -1 if it can, and until when."""
    base = w * WARP
    unit = m[base + W_UNIT]
    if unit == EXIT and m[base + W_PENDING] > 0:
        return DRAIN, NEVER
    full = m[SUBCORE_AT + sc * SUBCORE + S_FILLED] >= r.queue
    if full and FIRST_MEMORY <= unit <= LAST_MEMORY:
        return (MIO if unit in (SHARED, SHUFFLE) else LG), NEVER
    until = _pipe_free(m, r, sc, unit)
    if until > t:
        return MATH, until
    return -1, t


@inlined
def ready(m: Words, at: Places, r: Rates, w: int, sc: int, t: int) -> bool:
    """Say whether a warp can issue now; else note why not, and when to look again."""
    reason, until = -1, t
    # What is there once stays so until the warp issues.
    if m[w * WARP + W_FREE] == 0:
        reason, until = _awaited(m, at, r, w, sc, t)
    if reason < 0:
        m[w * WARP + W_FREE] = 1
        reason, until = _held_up(m, r, w, sc, t)
    if reason < 0:
        return True
    note(m, at, r, w, reason, t)
    m[WAKE_AT + w] = until
    return False


@inlined
def _read_operands(m: Words, r: Rates, code: int, w: int, sc: int, t: int) -> int:
    """Reserve the ports of the register banks; return by how many cycles they come too late."""
    sub = SUBCORE_AT + sc * SUBCORE
    late = 0
    for slot in range(SLOTS):
        register = m[code + C_REGISTER + slot]
        if register < 0:
            continue
        keeps = m[code + C_REUSE + slot]
        mark = w * 256 + register
        kept = sub + S_KEPT + 2 * slot + (register & 1)
        known = r.reuse == 1 and m[kept] == mark
        m[kept] = mark if keeps else -1
        if known or r.banks == 0:
            continue
        for i in range(m[code + C_WORDS + slot]):
            port = sub + S_PORT + ((register + i) & 1)
            m[port] = max(m[port], t) + 1
            late = max(late, m[port] - t - r.operand_window)
    return late


@inlined
def _take_pipe(m: Words, at: Places, r: Rates, code: int, span: int, sc: int, t: int) -> None:
    """Keep the pipe of an instruction busy."""
    pipe, cycles = m[code + C_UNIT], m[code + C_CYCLES]
    if pipe >= FREE:
        return
    busy = SUBCORE_AT + sc * SUBCORE + S_BUSY
    if pipe == FMA and (r.fma_pipes == 1 or m[busy + FMA] > t):
        pipe = HEAVY
    m[busy + pipe] = t + cycles
    if pipe < DOUBLE:
        worked(m, at, span, PIPE_OF_UNIT[pipe], cycles)


@inlined
def _open_barrier(
    m: Words, r: Rates, at: Places, block: int, number: int, count: int, t: int
) -> None:
    """Let the warps at a barrier go if all have come."""
    arrived = SM_AT + M_ARRIVED + block * BARRIERS + number
    wanted = count if count > 0 else m[SM_AT + M_PRESENT + block]
    if wanted == 0 or m[arrived] < wanted:
        return
    m[arrived] = 0
    until = t + r.barrier_latency
    for w in range(at.warps):
        if m[w * WARP + W_BLOCK] == block and m[w * WARP + W_WAITING] == number:
            m[w * WARP + W_WAITING] = -1
            m[WAKE_AT + w] = until
            sub = SUBCORE_AT + w % SUBCORES * SUBCORE
            m[sub + S_SOON] = min(m[sub + S_SOON], until)


@inlined
def _queue_access(m: Words, r: Rates, code: int, w: int, sc: int, row: int, t: int) -> None:
    """Put an access at the end of its sub-core's queue."""
    base, sub = w * WARP, SUBCORE_AT + sc * SUBCORE
    entry = sub + S_QUEUE + (m[sub + S_HEAD] + m[sub + S_FILLED]) % ROOM * ENTRY
    m[sub + S_GENERATED] = max(m[sub + S_GENERATED] + r.address_interval, t + r.address_latency)
    m[sub + S_FILLED] += 1
    m[entry + Q_WARP], m[entry + Q_PLACE], m[entry + Q_ROW] = w, m[base + W_PLACE], row
    m[entry + Q_FROM], m[entry + Q_GROUP] = m[sub + S_GENERATED], m[base + W_GROUP]
    m[entry + Q_SPAN] = m[base + W_SPAN]
    m[base + W_PENDING] += 1
    for barrier in (m[code + C_WRITE], m[code + C_READ]):
        if barrier >= 0:
            m[base + W_OPEN + barrier] += 1
            m[base + W_LONG + barrier] = m[code + C_LONG]
    if m[code + C_UNIT] == COPY:
        m[base + W_COPIES + m[base + W_GROUP] % GROUPS] += 1


@inlined
def _set_scoreboards(m: Words, r: Rates, code: int, w: int, t: int) -> None:
    """Let the scoreboards of an instruction that is no access clear after a fixed time."""
    base = w * WARP
    for barrier, until in (
        (m[code + C_WRITE], t + r.special_latency), (m[code + C_READ], t + r.operand_latency)
    ):  # fmt: skip
        if barrier >= 0:
            m[base + W_RELEASED + barrier] = max(m[base + W_RELEASED + barrier], until)
            m[base + W_LONG + barrier] = 0


@inlined
def _end(m: Words, at: Places, r: Rates, w: int, t: int) -> None:
    """End a warp; barriers wait for it no longer."""
    base = w * WARP
    block = m[base + W_BLOCK]
    m[base + W_ALIVE] = 0
    m[WAKE_AT + w] = NEVER
    m[SM_AT + M_PRESENT + block] -= 1
    for number in range(BARRIERS):
        if m[SM_AT + M_ARRIVED + block * BARRIERS + number] > 0:
            _open_barrier(m, r, at, block, number, 0, t)


@inlined
def _progress(m: Words, at: Places, t: int) -> None:
    """Count a step; note when so many are done that spans are at their turns of interest."""
    m[SM_AT + M_STEPS] += 1
    done = m[SM_AT + M_STEPS]
    if done != m[SM_AT + M_NEXT]:
        return
    soon = NEVER
    for one in range(at.progress, at.stalls, PROGRESS):
        if m[one + G_LOW] == done:
            m[one + G_FROM] = t
        if m[one + G_HIGH] == done:
            m[one + G_TO] = t
        for mark in (m[one + G_LOW], m[one + G_HIGH]):
            if done < mark < soon:
                soon = mark
    m[SM_AT + M_NEXT] = soon


@inlined
def issue(m: Words, at: Places, r: Rates, w: int, sc: int, t: int) -> None:
    """Issue a warp's next instruction."""
    base, sub = w * WARP, SUBCORE_AT + sc * SUBCORE
    place, span = m[base + W_PLACE], m[base + W_SPAN]
    code = at.code + place * CODE
    unit = m[code + C_UNIT]
    note(m, at, r, w, SELECTED, t)
    note(m, at, r, w, WAIT, t + 1)
    m[base + W_FREE] = 0
    _progress(m, at, t)
    m[sub + S_BLOCKED] = t + 1 + max(_read_operands(m, r, code, w, sc, t), 0)
    _take_pipe(m, at, r, code, span, sc, t)
    m[sub + S_LAST] = w if m[code + C_STAY] == 1 or r.hints == 0 else -1 - w
    row = -1
    if FIRST_MEMORY <= unit <= LAST_MEMORY:
        row = m[at.rows + m[base + W_ROWS] + m[base + W_STEP]]
    if row >= 0 or unit == SHUFFLE:
        _queue_access(m, r, code, w, sc, row, t)
    else:
        _set_scoreboards(m, r, code, w, t)
    if unit == GROUP:
        m[base + W_GROUP] += 1
        m[base + W_COPIES + m[base + W_GROUP] % GROUPS] = 0
        m[base + W_COPIED + m[base + W_GROUP] % GROUPS] = 0
    m[WAKE_AT + w] = t + max(1, m[code + C_STALL])
    if m[base + W_STEP] == m[base + W_LAST]:
        _end(m, at, r, w, t)
        return
    m[base + W_STEP] += 1
    step = at.steps + (m[base + W_STEPS] + m[base + W_STEP]) * STEP
    following = m[step + T_PLACE]
    m[base + W_PLACE], m[base + W_SPAN] = following, m[step + T_SPAN]
    m[base + W_UNIT] = m[at.code + following * CODE + C_UNIT]
    if unit == BARRIER:
        block, number = m[base + W_BLOCK], m[code + C_NUMBER]
        m[SM_AT + M_ARRIVED + block * BARRIERS + number] += 1
        m[base + W_WHY], m[base + W_WAITING], m[WAKE_AT + w] = AT_BARRIER, number, NEVER
        _open_barrier(m, r, at, block, number, m[code + C_COUNT], t)
