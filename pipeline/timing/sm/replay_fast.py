"""The replay, compiled: one SM, cycle by cycle.

The plain definition beside it is :mod:`pipeline.timing.sm.replay_plain`, which looks at every warp
in every cycle. Here a sub-core is looked at again when one of its warps can go on, a warp for what
it waits for until that is there, and the load/store unit when it can take an access; nothing
changes in between, so the result is the same.
All that is read and changed lies in one array ``m`` (:mod:`pipeline.timing.sm.memory`).
"""

from pipeline.timing.sm.issue_fast import issue, note, ready
from pipeline.timing.sm.memory import (
    NEVER,
    S_BLOCKED,
    S_LAST,
    S_SOON,
    SUBCORE,
    SUBCORE_AT,
    SUBCORES,
    W_ALIVE,
    WAKE_AT,
    WARP,
    Places,
    Words,
)  # fmt: skip
from pipeline.timing.sm.memory_fast import next_served, serve
from pipeline.timing.sm.numbers import DISPATCH, NOT_SELECTED, compiled, inlined
from pipeline.timing.sm.rates import Rates


@inlined
def _before(m: Words, r: Rates, sc: int, w: int, chosen: int) -> bool:
    """Say whether a ready warp goes before the one chosen so far."""
    last = m[SUBCORE_AT + sc * SUBCORE + S_LAST]
    if chosen < 0:
        return True
    if r.greedy == 0:
        previous = last if last >= 0 else -1 - last
        if (w > previous) != (chosen > previous):
            return w > previous
        return w < chosen
    if last == chosen or last == -1 - w:
        return False
    if last == w or last == -1 - chosen:
        return True
    return (w > chosen) == (r.youngest == 1)


@inlined
def _schedule(m: Words, at: Places, r: Rates, sc: int, t: int) -> int:
    """Issue for the ready warp of a sub-core that goes first; return when to look again."""
    chosen = -1
    soon = NEVER
    blocked = m[SUBCORE_AT + sc * SUBCORE + S_BLOCKED]
    for w in range(sc, at.warps, SUBCORES):
        if m[WAKE_AT + w] <= t and ready(m, at, r, w, sc, t):
            other = w
            if blocked <= t and _before(m, r, sc, w, chosen):
                other, chosen = chosen, w
            if other >= 0:
                note(m, at, r, other, DISPATCH if blocked > t else NOT_SELECTED, t)
                m[WAKE_AT + other] = max(t + 1, blocked)
        soon = min(soon, m[WAKE_AT + w])
    if chosen < 0:
        return soon
    issue(m, at, r, chosen, sc, t)
    return t + 1


@inlined
def _alive(m: Words, at: Places) -> int:
    count = 0
    for w in range(at.warps):
        count += m[w * WARP + W_ALIVE]
    return count


@compiled()
def run(m: Words, at: Places, r: Rates, most: int) -> int:
    """Replay until all warps have ended; return the cycle, or -1 if warps wait for ever."""
    t = served = 0
    while t < most:
        if served <= t:
            serve(m, at, r, t)
        for sc in range(SUBCORES):
            sub = SUBCORE_AT + sc * SUBCORE
            if m[sub + S_SOON] <= t:
                m[sub + S_SOON] = _schedule(m, at, r, sc, t)
        # Nothing happens before one of these.
        served = soon = next_served(m, r)
        for sc in range(SUBCORES):
            soon = min(soon, m[SUBCORE_AT + sc * SUBCORE + S_SOON])
        if soon == NEVER:
            return -1 if _alive(m, at) else t
        t = max(t + 1, soon)
    return -1
