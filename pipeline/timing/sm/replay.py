"""Replay the resident blocks of one SM, and carry what happened to all turns of their loops."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelError
from pipeline.timing.sm import memory as lay
from pipeline.timing.sm import replay_fast
from pipeline.timing.sm.code import Code
from pipeline.timing.sm.memory import lay_out
from pipeline.timing.sm.numbers import LONG, P_DATA, P_DRAM, P_ISSUE, P_L2, P_TAGS, SELECTED
from pipeline.timing.sm.origin import Origin
from pipeline.timing.sm.rates import PARTS, Rates
from pipeline.timing.sm.result import Log
from pipeline.timing.sm.trace import Trace

_MOST_CYCLES = 1 << 40
_IN_PARTS = [P_DATA, P_TAGS, P_L2, P_DRAM]


@dataclass(frozen=True)
class Replay:
    """What happened on one SM while its blocks ran, with the turns that were left out.

    Attributes
    ----------
    cycles
        From the start of the first to the end of the last.
    stalls : (instructions, reasons)
        Warp cycles.
    executed : (instructions,)
        Warp instructions.
    work : (pipes,)
        Cycles for which each pipe was busy, those of all sub-cores together.
    loaded, hits, from_l2, from_dram
        Sectors: loaded by warps, found in L1, exchanged with L2, and charged to this SM from DRAM.
    log
        Every cycle of a span, if that was wanted.
    """

    cycles: float
    stalls: NDArray[np.float64]
    executed: NDArray[np.float64]
    work: NDArray[np.float64]
    loaded: float
    hits: float
    from_l2: float
    from_dram: float
    log: Log | None


def replay(trace: Trace, code: Code, origin: Origin, rates: Rates) -> Replay:
    """Replay traces until all warps have ended.

    Raises
    ------
    ModelError
        If warps wait for what never comes.
    """
    share = np.rint(origin.share * PARTS).astype(np.int64)
    retained = np.rint(origin.retained * PARTS).astype(np.int64)
    memory, at = lay_out(trace, code, rates, share, retained)
    end = int(replay_fast.run(memory, at, rates, _MOST_CYCLES))
    if end < 0:
        raise ModelError("the replay stands still: warps wait for what never comes")
    # As long as a block: later ones start later, and end later.
    return _whole(memory, at, trace, rates, end - rates.stagger * int(trace.block.max()))


def averaged(replays: Sequence[Replay]) -> Replay:
    """Return the mean of replays of the same blocks; the log is that of the first."""
    return Replay(
        **{
            field.name: sum(getattr(one, field.name) for one in replays) / len(replays)
            for field in fields(Replay)
            if field.name != "log"
        },
        log=replays[0].log,
    )


def bounded(found: Replay, warps: int) -> Replay:
    """Let a replay last as long as the SM's share of L2 and DRAM bandwidth asks for.

    In a replay an SM may take more than its share for a while, as others do something else then;
    in all it cannot. What it waits more is for loads.
    """
    least = max(found.work[P_L2], found.work[P_DRAM])
    if least <= found.cycles:
        return found
    stalls = found.stalls.copy()
    column = stalls[:, LONG]
    weight = column if column.any() else stalls.sum(axis=1)
    column += (least - found.cycles) * warps * weight / weight.sum()
    return replace(found, cycles=float(least), stalls=stalls)


def _whole(
    memory: NDArray[np.int64], at: lay.Places, trace: Trace, rates: Rates, end: int
) -> Replay:
    """Add the turns that were left out: each takes as long as those that were measured."""
    spans = len(trace.turns)
    progress = memory[at.progress : at.stalls].reshape(spans, lay.PROGRESS)
    stalls = memory[at.stalls : at.work].reshape(spans, -1, lay.REASONS)
    # A warp is selected once for each instruction.
    executed = np.ascontiguousarray(stalls[..., SELECTED])
    work = memory[at.work : at.traffic].reshape(spans, lay.PIPES).astype(float)
    work[:, P_ISSUE] = executed.sum(axis=1)
    work[:, _IN_PARTS] /= PARTS
    traffic = memory[at.traffic : at.log].reshape(spans, lay.TRAFFIC)
    turn = (progress[:, lay.G_TO] - progress[:, lay.G_FROM]) / trace.measured
    more = np.where(trace.left_out > 0, turn * trace.left_out, 0)
    often = 1 + trace.left_out / trace.turns
    moved = often @ traffic
    return Replay(
        cycles=end + float(more.sum()),
        stalls=_waits(stalls, often, more * len(trace.path)),
        executed=often @ executed,
        work=often @ work,
        loaded=float(moved[lay.F_LOADED]),
        hits=float(moved[lay.F_HIT]),
        from_l2=float(moved[lay.F_L2]),
        from_dram=float(moved[lay.F_DRAM]) / PARTS,
        log=_log(memory, at, trace, rates) if rates.log_cycles else None,
    )


def _waits(
    stalls: NDArray[np.int64], often: NDArray[np.float64], more: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Add the warp cycles of turns that were left out, ``more`` over (spans,).

    Each of their steps takes a cycle to issue; what else warps do has the proportions of the turns
    that were replayed.
    """
    issued = stalls[..., SELECTED].sum(axis=1)
    waited = stalls.sum(axis=(1, 2)) - issued
    rest = np.maximum(waited + more - issued * (often - 1), 0)
    longer = np.divide(rest, waited, out=np.ones(len(often)), where=waited > 0)
    weights = np.repeat(longer[:, None], stalls.shape[-1], axis=1)
    weights[:, SELECTED] = often
    return np.einsum("sr,sir->ir", weights, stalls)


def _log(memory: NDArray[np.int64], at: lay.Places, trace: Trace, rates: Rates) -> Log:
    shape = (rates.log_cycles, at.warps)
    size = rates.log_cycles * at.warps
    return Log(
        first=rates.log_first,
        position=memory[at.log : at.log + size].reshape(shape).astype(np.int32),
        state=memory[at.log + size : at.log + 2 * size].reshape(shape).astype(np.int8),
        subcore=np.arange(at.warps, dtype=np.int32) % lay.SUBCORES,
        block=trace.block,
    )
