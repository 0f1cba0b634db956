"""The replay in plain words: what its compiled twin does, as objects that speak for themselves.

It runs traces of a few thousand steps; :mod:`pipeline.timing.sm.replay_fast` runs all others, and a
property test holds the two equal. In every cycle the load/store unit may take an access from one of
the four sub-cores, and then each sub-core may issue one instruction.

Where a figure's own source does not say it: issue, control word, register file and queues follow
Huerta et al. (arXiv 2503.20481), wavefronts the hardware's rule (``pipeline.simt.banks``); states
of warps have the names of Nsight Compute.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelError
from pipeline.timing.sm import code as units
from pipeline.timing.sm.code import SLOTS, Code
from pipeline.timing.sm.memory import CODE_LINE, NEVER, SCOREBOARDS, SUBCORES
from pipeline.timing.sm.memory_plain import Access, Done, Memory, Tables
from pipeline.timing.sm.rates import Rates
from pipeline.timing.sm.result import PIPES, STALLS
from pipeline.timing.sm.trace import Trace

_ISSUE = list(PIPES).index("issue")
_REASONS = {name: number for number, name in enumerate(STALLS)}


@dataclass
class Scoreboard:
    """Accesses under way, when the last one known is done, and whether it is a long one."""

    under_way: int = 0
    clear: int = 0
    long: int = 0

    @property
    def until(self) -> int:
        """When it is clear."""
        return NEVER if self.under_way else self.clear


@dataclass
class Copies:
    """A group of asynchronous copies: how many are under way, and when those known are there."""

    under_way: int = 0
    there: int = 0


@dataclass
class Warp:
    """A warp: where it stands, and what it waits for."""

    number: int
    block: int
    places: NDArray[np.int32]
    spans: NDArray[np.int16]
    rows: NDArray[np.int32]
    step: int = 0
    earliest: int = 0
    alive: bool = True
    at_barrier: int | None = None
    released: bool = False
    fetched: int = -9
    arrives: int = 0
    pending: int = 0
    scoreboards: list[Scoreboard] = field(
        default_factory=lambda: [Scoreboard() for _ in range(SCOREBOARDS)]
    )
    groups: list[Copies] = field(default_factory=lambda: [Copies()])

    @property
    def place(self) -> int:
        """Number of the next instruction."""
        return int(self.places[self.step])

    @property
    def span(self) -> int:
        """Span of the next step."""
        return int(self.spans[self.step])


class SubCore:
    """A quarter of an SM: its pipes, its register file, its instruction cache."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.last = -1 - (1 << 30)
        self.blocked = 0
        self.generated = 0
        self.ports = [0, 0]
        self.kept: dict[tuple[int, int], tuple[int, int] | None] = {}
        self.busy = [0] * units.FREE
        self.lines: dict[int, int] = {}
        self.inserted = 0


class Replay:
    """One SM with its resident warps.

    Attributes
    ----------
    stalls, executed
        Over (spans, instructions): warp cycles by reason, and warp instructions.
    tables
        Work of pipes and traffic, over spans.
    """

    def __init__(
        self, trace: Trace, code: Code, rates: Rates, share: list[int], retained: list[int]
    ) -> None:
        spans, count = len(trace.turns), len(code.unit)
        self._code, self._rates = code, rates
        self.stalls = np.zeros((spans, count, len(STALLS)), np.int64)
        self.executed = np.zeros((spans, count), np.int64)
        self.tables = Tables(
            np.zeros((spans, len(PIPES)), np.int64), np.zeros((spans, 4), np.int64)
        )
        self._memory = Memory(trace, code, share, retained, rates, self.tables)
        self._warps = [_warp(trace, number, rates.stagger) for number in range(len(trace.path))]
        self._subcores = [SubCore(number) for number in range(SUBCORES)]
        self._marks = sorted({*trace.low.tolist(), *trace.high.tolist()} - {0})
        self._steps = 0
        self.reached: dict[int, int] = {}

    def run(self, most: int) -> int:
        """Replay until all warps have ended; return the cycle."""
        for t in range(most):
            done = self._memory.serve(t)
            if done:
                self._finish(done)
            for subcore in self._subcores:
                self._cycle(subcore, t)
            if not any(warp.alive for warp in self._warps) and not any(self._memory.queues):
                return t + 1
        raise ModelError("warps wait for what never comes")

    def _finish(self, done: Done) -> None:
        """Tell a warp when the access that was taken will be done."""
        access = done.access
        warp = self._warps[access.warp]
        warp.pending -= 1
        if self._code.unit[access.place] == units.COPY:
            group = warp.groups[access.group]
            group.under_way -= 1
            group.there = max(group.there, done.result)
        for number, until in (
            (self._code.write_barrier[access.place], done.result),
            (self._code.read_barrier[access.place], done.read),
        ):
            if number >= 0:
                board = warp.scoreboards[number]
                board.under_way -= 1
                board.clear = max(board.clear, until)

    def _cycle(self, subcore: SubCore, t: int) -> None:
        """Issue for one warp, and book what all warps of a sub-core do."""
        mine = [
            one
            for one in self._warps[subcore.number :: SUBCORES]
            if one.alive and one.block * self._rates.stagger <= t
        ]
        reasons = {warp.number: self._reason(subcore, warp, t) for warp in mine}
        ready = [number for number, reason in reasons.items() if reason is None]
        for number in ready:
            reasons[number] = "dispatch" if subcore.blocked > t else "not_selected"
        chosen = None
        if ready and subcore.blocked <= t:
            chosen = min(ready, key=lambda number: self._order(subcore, number))
            reasons[chosen] = "selected"
        for warp in mine:
            reason = _REASONS[str(reasons[warp.number])]
            self.stalls[warp.span, warp.place, reason] += 1
        if chosen is not None:
            self._issue(subcore, self._warps[chosen], t)

    def _order(self, subcore: SubCore, number: int) -> tuple[int, int]:
        """Who goes first: the last warp unless it yields, else the youngest or the oldest.

        Without greed the next one in turn.
        """
        last = subcore.last if subcore.last >= 0 else -1 - subcore.last
        if not self._rates.greedy:
            return int(number <= last), number
        rank = 1
        if number == last:
            rank = 0 if subcore.last >= 0 else 2
        return rank, -number if self._rates.youngest else number

    def _reason(self, subcore: SubCore, warp: Warp, t: int) -> str | None:
        """Say why a warp cannot issue; None if it can."""
        if warp.at_barrier is not None or (warp.released and warp.earliest > t):
            return "barrier"
        if warp.earliest > t:
            return "wait"
        warp.released = False
        if self._fetch(subcore, warp, t) > t:
            return "no_instruction"
        place = warp.place
        waits = [
            (board.until, board.long)
            for number, board in enumerate(warp.scoreboards)
            if self._code.wait[place] >> number & 1
        ]
        until, long = max(waits, default=(0, 0))
        if until > t:
            return "long_scoreboard" if long else "short_scoreboard"
        return self._held_up(subcore, warp, place, t)

    def _held_up(self, subcore: SubCore, warp: Warp, place: int, t: int) -> str | None:
        """Say what in the sub-core keeps an instruction whose operands are there."""
        unit = int(self._code.unit[place])
        if unit == units.WAIT_GROUPS:
            closed = warp.groups[: len(warp.groups) - 1 - int(self._code.number[place])]
            if any(group.under_way or group.there > t for group in closed):
                return "long_scoreboard"
        if unit == units.EXIT and warp.pending:
            return "drain"
        full = len(self._memory.queues[subcore.number]) >= self._rates.queue
        if full and units.FIRST_MEMORY <= unit <= units.LAST_MEMORY:
            return "mio_throttle" if unit in (units.SHARED, units.SHUFFLE) else "lg_throttle"
        free = subcore.busy[unit] if unit < units.FREE else 0
        if unit == units.FMA:
            free = subcore.busy[units.HEAVY]
            if self._rates.fma_pipes == 2:
                free = min(free, subcore.busy[units.FMA])
        return "math_pipe_throttle" if free > t else None

    def _fetch(self, subcore: SubCore, warp: Warp, t: int) -> int:
        """Return when the next instruction is there.

        Lines of code that follow each other are fetched ahead; a jump waits for a line that the
        sub-core's cache, which drops the line that came first, no longer holds.
        """
        line = warp.place // CODE_LINE
        if warp.fetched == line:
            return warp.arrives
        held = line in subcore.lines
        held = held and subcore.inserted - subcore.lines[line] < self._rates.code_lines
        if not held:
            subcore.inserted += 1
            subcore.lines[line] = subcore.inserted
        ahead = held or warp.fetched == line - 1
        warp.fetched, warp.arrives = line, t if ahead else t + self._rates.code_latency
        return warp.arrives

    def _issue(self, subcore: SubCore, warp: Warp, t: int) -> None:
        place, span = warp.place, warp.span
        code, unit = self._code, int(self._code.unit[place])
        self.executed[span, place] += 1
        self.tables.work[span, _ISSUE] += 1
        self._steps += 1
        if self._steps in self._marks:
            self.reached[self._steps] = t
        subcore.blocked = t + 1 + self._read_operands(subcore, warp, place, t)
        self._take_pipe(subcore, place, span, t)
        stays = code.stay[place] or not self._rates.hints
        subcore.last = warp.number if stays else -1 - warp.number
        row = int(warp.rows[warp.step])
        if units.FIRST_MEMORY <= unit <= units.LAST_MEMORY and (row >= 0 or unit == units.SHUFFLE):
            self._queue(subcore, warp, row, t)
        else:
            self._set_scoreboards(warp, place, t)
        if unit == units.GROUP:
            warp.groups.append(Copies())
        warp.earliest = t + max(1, int(code.stall[place]))
        if warp.step + 1 == len(warp.places):
            self._end(warp, t)
            return
        warp.step += 1
        if unit == units.BARRIER:
            warp.at_barrier = int(code.number[place])
            self._open(warp.block, warp.at_barrier, int(code.warps[place]), t)

    def _read_operands(self, subcore: SubCore, warp: Warp, place: int, t: int) -> int:
        """Read registers, one of each bank in a cycle; return for how long that blocks issue.

        What the control word keeps in an operand slot is read from there by the warp's next
        instruction that wants it in the same slot.
        """
        code, rates, late = self._code, self._rates, 0
        for slot in range(SLOTS):
            register = int(code.register[place, slot])
            if register < 0:
                continue
            where, mark = (slot, register & 1), (warp.number, register)
            known = bool(rates.reuse) and subcore.kept.get(where) == mark
            subcore.kept[where] = mark if code.reuse[place, slot] else None
            if known or not rates.banks:
                continue
            for word in range(int(code.words[place, slot])):
                bank = (register + word) & 1
                subcore.ports[bank] = max(subcore.ports[bank], t) + 1
                late = max(late, subcore.ports[bank] - t - rates.operand_window)
        return late

    def _take_pipe(self, subcore: SubCore, place: int, span: int, t: int) -> None:
        rates, unit = self._rates, int(self._code.unit[place])
        if unit >= units.FREE:
            return
        pipe = unit
        if unit == units.FMA and (rates.fma_pipes == 1 or subcore.busy[units.FMA] > t):
            pipe = units.HEAVY
        cycles = {
            units.ALU: rates.alu_interval,
            units.UNIFORM: rates.uniform_interval,
            units.SPECIAL: rates.special_interval,
            units.TENSOR: int(np.ceil(self._code.products[place] / rates.tensor_rate)),
            units.DOUBLE: rates.double_interval,
        }.get(unit, rates.fma_interval)
        subcore.busy[pipe] = t + cycles
        names = {
            units.FMA: "fma_lite",
            units.HEAVY: "fma_heavy",
            units.ALU: "alu",
            units.UNIFORM: "uniform",
            units.SPECIAL: "special",
            units.TENSOR: "tensor",
        }
        if pipe in names:
            self.tables.work[span, list(PIPES).index(names[pipe])] += cycles

    def _queue(self, subcore: SubCore, warp: Warp, row: int, t: int) -> None:
        """Send an access to the load/store unit: its address is generated, one after the other."""
        code, rates, place = self._code, self._rates, warp.place
        known = max(subcore.generated + rates.address_interval, t + rates.address_latency)
        subcore.generated = known
        group = len(warp.groups) - 1
        self._memory.queues[subcore.number].append(
            Access(warp.number, place, row, known, group, warp.span)
        )
        warp.pending += 1
        for number in (code.write_barrier[place], code.read_barrier[place]):
            if number >= 0:
                warp.scoreboards[number].under_way += 1
                warp.scoreboards[number].long = int(code.long[place])
        if code.unit[place] == units.COPY:
            warp.groups[group].under_way += 1

    def _set_scoreboards(self, warp: Warp, place: int, t: int) -> None:
        rates = self._rates
        for number, until in (
            (self._code.write_barrier[place], t + rates.special_latency),
            (self._code.read_barrier[place], t + rates.operand_latency),
        ):
            if number >= 0:
                board = warp.scoreboards[number]
                board.clear, board.long = max(board.clear, until), 0

    def _end(self, warp: Warp, t: int) -> None:
        warp.alive = False
        others = [one for one in self._warps if one.block == warp.block and one.alive]
        for number in sorted({one.at_barrier for one in others if one.at_barrier is not None}):
            self._open(warp.block, number, 0, t)

    def _open(self, block: int, number: int, count: int, t: int) -> None:
        """Let the warps at a barrier go if all have come that it waits for."""
        mine = [warp for warp in self._warps if warp.block == block and warp.alive]
        come = [warp for warp in mine if warp.at_barrier == number]
        if len(come) < (count or len(mine)):
            return
        for warp in come:
            warp.at_barrier, warp.released = None, True
            warp.earliest = t + self._rates.barrier_latency


def _warp(trace: Trace, number: int, stagger: int) -> Warp:
    first, last = trace.path_start[trace.path[number] :][:2].tolist()
    start = int(trace.row_start[number])
    return Warp(
        earliest=int(trace.block[number]) * stagger,
        number=number,
        block=int(trace.block[number]),
        places=trace.position[first:last],
        spans=trace.span[first:last],
        rows=trace.row[start : start + last - first],
    )
