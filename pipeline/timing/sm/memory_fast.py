"""The load/store unit, L1 and what lies behind it, compiled.

:mod:`pipeline.timing.sm.memory_plain` says what it does.
"""

from pipeline.timing.sm.code import ATOMIC, COPY, SHARED, SHUFFLE, STORE
from pipeline.timing.sm.counts_fast import moved, worked
from pipeline.timing.sm.memory import (
    A_FIRST,
    A_LAST,
    A_STORED,
    A_WAVES,
    ACCESS,
    C_READ,
    C_RETAINED,
    C_SHARE,
    C_STORE,
    C_UNIT,
    C_WRITE,
    CACHED,
    CODE,
    ENTRY,
    F_DRAM,
    F_HIT,
    F_L2,
    F_LOADED,
    GROUPS,
    K_READY,
    K_TAG,
    K_USED,
    L_LINE,
    L_NUMBER,
    L_SECTORS,
    LINE,
    M_DATA,
    M_DRAM,
    M_L2,
    M_LOADS,
    M_LSU,
    M_PENDING,
    M_TAGS,
    M_TURN,
    NEVER,
    Q_FROM,
    Q_GROUP,
    Q_PLACE,
    Q_ROW,
    Q_SPAN,
    Q_WARP,
    ROOM,
    S_FILLED,
    S_HEAD,
    S_QUEUE,
    S_SOON,
    SECTORS,
    SM_AT,
    SUBCORE,
    SUBCORE_AT,
    SUBCORES,
    W_ALIVE,
    W_COPIED,
    W_COPIES,
    W_OPEN,
    W_PENDING,
    W_RELEASED,
    W_WAITING,
    W_WHY,
    WAKE_AT,
    WARP,
    WAYS,
    Places,
    Words,
)  # fmt: skip
from pipeline.timing.sm.numbers import LG, MIO, P_DATA, P_DRAM, P_L2, P_LSU, P_TAGS, inlined
from pipeline.timing.sm.rates import PARTS, Rates


@inlined
def _hash(line: int) -> int:
    mixed = (line ^ line >> 15) * 0x2545F491
    return (mixed ^ mixed >> 17) & 0x7FFFFFFF


@inlined
def _l2_latency(r: Rates, line: int) -> int:
    """Return the latency of L2: that of the slice which holds a line."""
    share = _hash(line) & (PARTS - 1)
    if r.l2_two == 1:
        return r.l2_near if 2 * share < PARTS else r.l2_far
    return r.l2_near + (r.l2_far - r.l2_near) * share // PARTS


@inlined
def _stage(m: Words, at: Places, span: int, stage: int, pipe: int, start: int, parts: int) -> int:
    """Let a stage work from ``start`` on, or when it is free; return when it begins."""
    begin = max(start, m[SM_AT + stage])
    m[SM_AT + stage] = begin + parts
    worked(m, at, span, pipe, parts)
    return begin


@inlined
def _to_l2(m: Words, at: Places, r: Rates, span: int, sectors: int, start: int) -> int:
    """Ask for sectors at the port to L2; return when that begins."""
    moved(m, at, span, F_L2, sectors)
    worked(m, at, span, P_L2, sectors * r.l2_part)
    begin = max(start, m[SM_AT + M_L2])
    m[SM_AT + M_L2] = begin + sectors * r.l2_burst
    return begin


@inlined
def _to_dram(
    m: Words, at: Places, r: Rates, span: int, sectors: int, share: int, start: int
) -> int:
    """Ask DRAM for sectors; return when that begins."""
    cost = sectors * r.dram_part * share // PARTS
    moved(m, at, span, F_DRAM, sectors * share)
    worked(m, at, span, P_DRAM, cost)
    begin = max(start, m[SM_AT + M_DRAM])
    m[SM_AT + M_DRAM] = begin + cost // r.dram_burst
    return begin


@inlined
def _ask_l2(
    m: Words,
    at: Places,
    r: Rates,
    code: int,
    span: int,
    line: int,
    number: int,
    missing: int,
    start: int,
) -> int:
    """Ask L2 for sectors of a line; return the cycle at which they are there."""
    known = m[at.seen + number]
    m[at.seen + number] = known | missing
    sectors = fresh = 0
    for i in range(SECTORS):
        sectors += missing >> i & 1
        fresh += (missing & ~known) >> i & 1
    begin = _to_l2(m, at, r, span, sectors, start)
    latency = _l2_latency(r, line)
    if fresh == 0 or (_hash(line) >> 10 & PARTS - 1) < m[code + C_RETAINED]:
        return begin // PARTS + latency
    begin = _to_dram(m, at, r, span, fresh, m[code + C_SHARE], begin)
    return begin // PARTS + latency + r.dram_extra


@inlined
def _cache_way(m: Words, at: Places, line: int, t: int) -> int:
    """Return the place of a line in L1, taking that of the line unused for longest if need be."""
    first = at.cache + (_hash(line) >> 3) % at.sets * WAYS * CACHED
    oldest = first
    for way in range(first, first + WAYS * CACHED, CACHED):
        if m[way + K_TAG] == line:
            m[way + K_USED] = t
            return way
        if m[way + K_USED] < m[oldest + K_USED]:
            oldest = way
    m[oldest + K_TAG], m[oldest + K_USED] = line, t
    for i in range(SECTORS):
        m[oldest + K_READY + i] = NEVER
    return oldest


@inlined
def _look_up(
    m: Words, at: Places, r: Rates, code: int, span: int, entry: int, start: int, t: int
) -> int:
    """Look a line up in L1 and fetch what is missing; return when all of it is there."""
    line, wanted = m[entry + L_LINE], m[entry + L_SECTORS]
    way = _cache_way(m, at, line, t)
    done = missing = absent = 0
    for i in range(SECTORS):
        if wanted >> i & 1:
            moved(m, at, span, F_LOADED, 1)
            ready = m[way + K_READY + i]
            if ready == NEVER or r.l1 == 0:
                missing |= 1 << i
                absent += 1
            else:
                moved(m, at, span, F_HIT, 1)
                done = max(done, ready)
    if missing == 0:
        return done
    ready = t
    if m[code + C_STORE] == 0:
        ready = _ask_l2(m, at, r, code, span, line, m[entry + L_NUMBER], missing, start)
    for i in range(SECTORS):
        if missing >> i & 1:
            m[way + K_READY + i] = ready
    m[SM_AT + M_DATA] += absent * r.fill_part
    worked(m, at, span, P_DATA, absent * r.fill_part)
    return max(done, ready)


@inlined
def _load(m: Words, at: Places, r: Rates, code: int, span: int, access: int, t: int) -> int:
    """Load through L1; return when the last sector is there."""
    first, last = m[access + A_FIRST], m[access + A_LAST]
    waves = m[access + A_WAVES]
    tags = _stage(m, at, span, M_TAGS, P_TAGS, t * PARTS, (last - first) * r.tag_part)
    data = _stage(m, at, span, M_DATA, P_DATA, t * PARTS, waves * PARTS)
    done = data // PARTS + waves - 1 + r.l1_latency
    for i in range(first, last):
        start = tags + (i - first) * r.tag_part
        done = max(done, _look_up(m, at, r, code, span, at.lines + i * LINE, start, t))
    loads = m[SM_AT + M_LOADS]
    m[SM_AT + M_PENDING + loads] = done
    m[SM_AT + M_LOADS] = loads + 1 if loads + 1 < r.pending else 0
    return done


@inlined
def _write(m: Words, at: Places, r: Rates, code: int, span: int, access: int, t: int) -> int:
    """Send a store or an atomic to L2; return when an answer comes."""
    first, last = m[access + A_FIRST], m[access + A_LAST]
    tags = _stage(m, at, span, M_TAGS, P_TAGS, t * PARTS, (last - first) * r.tag_part)
    sectors = latency = 0
    for i in range(first, last):
        entry = at.lines + i * LINE
        latency = max(latency, _l2_latency(r, m[entry + L_LINE]))
        for q in range(SECTORS):
            sectors += m[entry + L_SECTORS] >> q & 1
    begin = _to_l2(m, at, r, span, sectors, tags)
    _to_dram(m, at, r, span, sectors, m[code + C_SHARE], begin)
    return begin // PARTS + latency


@inlined
def _wake_throttled(m: Words, at: Places, sc: int, t: int) -> None:
    """Wake the warps that wait for room in the queue of a sub-core."""
    for w in range(sc, at.warps, SUBCORES):
        if m[w * WARP + W_WHY] in (MIO, LG):
            m[WAKE_AT + w] = m[SUBCORE_AT + sc * SUBCORE + S_SOON] = t


@inlined
def _accept(m: Words, at: Places, r: Rates, sc: int, t: int) -> None:
    """Take the first access of a sub-core's queue into the load/store unit."""
    sub = SUBCORE_AT + sc * SUBCORE
    entry = sub + S_QUEUE + m[sub + S_HEAD] * ENTRY
    m[sub + S_HEAD] = (m[sub + S_HEAD] + 1) % ROOM
    m[sub + S_FILLED] -= 1
    w, span = m[entry + Q_WARP], m[entry + Q_SPAN]
    base, code = w * WARP, at.code + m[entry + Q_PLACE] * CODE
    unit = m[code + C_UNIT]
    access = at.accesses + m[entry + Q_ROW] * ACCESS
    m[base + W_PENDING] -= 1
    waves = 1 if unit == SHUFFLE else m[access + A_WAVES]
    worked(m, at, span, P_LSU, r.access_interval)
    read = max(t * PARTS, m[SM_AT + M_DATA]) // PARTS + r.operand_release
    if m[code + C_STORE] == 1:
        read += waves - 1
    if unit in (SHARED, SHUFFLE):
        data = _stage(m, at, span, M_DATA, P_DATA, t * PARTS, waves * PARTS)
        done = data // PARTS + waves - 1 + r.shared_latency
    elif unit in (STORE, ATOMIC):
        _stage(m, at, span, M_DATA, P_DATA, t * PARTS, waves * PARTS)
        done = _write(m, at, r, code, span, access, t)
    else:
        done = _load(m, at, r, code, span, access, t)
    if unit == COPY:
        _stage(m, at, span, M_DATA, P_DATA, t * PARTS, m[access + A_STORED] * PARTS)
        group = m[entry + Q_GROUP] % GROUPS
        m[base + W_COPIES + group] -= 1
        m[base + W_COPIED + group] = max(m[base + W_COPIED + group], done)
    for barrier, until in ((m[code + C_WRITE], done), (m[code + C_READ], read)):
        if barrier >= 0:
            m[base + W_OPEN + barrier] -= 1
            m[base + W_RELEASED + barrier] = max(m[base + W_RELEASED + barrier], until)
    if m[WAKE_AT + w] == NEVER and m[base + W_ALIVE] == 1 and m[base + W_WAITING] < 0:
        m[WAKE_AT + w] = m[sub + S_SOON] = t
    m[SM_AT + M_LSU] = t + r.access_interval


@inlined
def serve(m: Words, at: Places, r: Rates, t: int) -> None:
    """Let the load/store unit take the access of the sub-core whose turn it is."""
    for i in range(SUBCORES):
        sc = (m[SM_AT + M_TURN] + i) % SUBCORES
        sub = SUBCORE_AT + sc * SUBCORE
        if m[sub + S_FILLED] > 0 and m[sub + S_QUEUE + m[sub + S_HEAD] * ENTRY + Q_FROM] <= t:
            if m[sub + S_FILLED] == r.queue:
                _wake_throttled(m, at, sc, t)
            _accept(m, at, r, sc, t)
            m[SM_AT + M_TURN] = (sc + 1) % SUBCORES
            break


@inlined
def next_served(m: Words, r: Rates) -> int:
    """Return when the load/store unit can take an access of those that are queued."""
    first = NEVER
    for sc in range(SUBCORES):
        sub = SUBCORE_AT + sc * SUBCORE
        if m[sub + S_FILLED] > 0:
            first = min(first, m[sub + S_QUEUE + m[sub + S_HEAD] * ENTRY + Q_FROM])
    if first == NEVER:
        return NEVER
    free = max(m[SM_AT + M_LSU], m[SM_AT + M_PENDING + m[SM_AT + M_LOADS]])
    return max(first, free, -(-m[SM_AT + M_DATA] // PARTS) - r.backlog)
