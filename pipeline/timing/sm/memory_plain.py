"""The load/store unit, L1 and what lies behind it, in plain words; see ``replay_plain``."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.timing.sm.code import ATOMIC, COPY, SHARED, SHUFFLE, STORE, Code
from pipeline.timing.sm.memory import NEVER, SECTORS, SUBCORES, WAYS
from pipeline.timing.sm.rates import PARTS, Rates
from pipeline.timing.sm.result import PIPES
from pipeline.timing.sm.trace import Trace


def line_hash(line: int) -> int:
    """Mix the bits of a line's number, as caches do to spread lines over sets and slices."""
    mixed = (line ^ line >> 15) * 0x2545F491
    return (mixed ^ mixed >> 17) & 0x7FFFFFFF


class Access(NamedTuple):
    """A memory instruction on its way: of which warp, from which cycle on its address is known."""

    warp: int
    place: int
    row: int
    known: int
    group: int
    span: int


class Done(NamedTuple):
    """When a warp has the result of an access, and when its operands have been read."""

    access: Access
    result: int
    read: int


@dataclass
class Way:
    """A line in L1: its number, when it was used last, and when each sector is there."""

    line: int = -1
    used: int = 0
    ready: list[int] = field(default_factory=lambda: [NEVER] * SECTORS)


class Tables(NamedTuple):
    """What is counted: cycles (or parts of them) of pipes, and sectors, per span."""

    work: NDArray[np.int64]
    traffic: NDArray[np.int64]


class Stage:
    """A stage that works on one thing after the other; time in parts of a cycle."""

    def __init__(self) -> None:
        self.free = 0

    def take(self, start: int, parts: int) -> int:
        """Work for so many parts from ``start`` on, or when free; return when that begins."""
        begin = max(start, self.free)
        self.free = begin + parts
        return begin


_LSU, _DATA, _TAGS, _L2, _DRAM = map(list(PIPES).index, ("lsu", "l1_data", "l1_tags", "l2", "dram"))
_LOADED, _HIT, _FROM_L2, _FROM_DRAM = range(4)


class Memory:
    """The memory of one SM, from the queues of the sub-cores on."""

    def __init__(
        self, trace: Trace, code: Code, share: list[int], retained: list[int], rates: Rates,
        tables: Tables,
    ) -> None:  # fmt: skip
        self._trace, self._code, self._rates, self._tables = trace, code, rates, tables
        self._share, self._retained = share, retained
        self.queues: list[deque[Access]] = [deque() for _ in range(SUBCORES)]
        self._turn = 0
        self._free = 0
        self._data, self._tags, self._l2, self._dram = Stage(), Stage(), Stage(), Stage()
        self._sets = [[Way() for _ in range(WAYS)] for _ in range(max(1, rates.l1_lines // WAYS))]
        self._seen: dict[int, int] = {}
        self._pending = deque([0] * rates.pending)

    def _worked(self, span: int, pipe: int, parts: int) -> None:
        self._tables.work[span, pipe] += parts

    def _moved(self, span: int, what: int, sectors: int) -> None:
        self._tables.traffic[span, what] += sectors

    def serve(self, t: int) -> Done | None:
        """Take an access from a queue, if the unit is free and one is ready; queues take turns."""
        rates = self._rates
        behind = self._data.free - t * PARTS
        if self._free > t or behind > rates.backlog * PARTS or self._pending[0] > t:
            return None
        for i in range(SUBCORES):
            number = (self._turn + i) % SUBCORES
            queue = self.queues[number]
            if queue and queue[0].known <= t:
                self._turn = (number + 1) % SUBCORES
                self._free = t + rates.access_interval
                return self._accept(queue.popleft(), t)
        return None

    def _accept(self, access: Access, t: int) -> Done:
        rates, span = self._rates, access.span
        unit = int(self._code.unit[access.place])
        stores = bool(self._code.store[access.place])
        waves = 1 if unit == SHUFFLE else int(self._trace.wavefronts[access.row])
        self._worked(span, _LSU, rates.access_interval)
        read = max(t * PARTS, self._data.free) // PARTS + rates.operand_release
        if stores:
            # All words that are stored have to be read.
            read += waves - 1
        if unit in (SHARED, SHUFFLE):
            done = self._through_data(span, waves, t) + rates.shared_latency
        elif unit in (STORE, ATOMIC):
            self._through_data(span, waves, t)
            done = self._write(access, t)
        else:
            done = self._load(access, waves, t)
        if unit == COPY:
            self._through_data(span, int(self._trace.stored_wavefronts[access.row]), t)
        return Done(access, done, read)

    def _through_data(self, span: int, waves: int, t: int) -> int:
        """Pass the data stage, a cycle for each wavefront; return the cycle of the last."""
        self._worked(span, _DATA, waves * PARTS)
        return self._data.take(t * PARTS, waves * PARTS) // PARTS + waves - 1

    def _through_tags(self, span: int, lines: int, t: int) -> int:
        """Look lines up, a few in a cycle; return when that begins."""
        self._worked(span, _TAGS, lines * self._rates.tag_part)
        return self._tags.take(t * PARTS, lines * self._rates.tag_part)

    def _lines(self, row: int) -> range:
        return range(int(self._trace.line_start[row]), int(self._trace.line_start[row + 1]))

    def _load(self, access: Access, waves: int, t: int) -> int:
        lines = self._lines(access.row)
        tags = self._through_tags(access.span, len(lines), t)
        done = self._through_data(access.span, waves, t) + self._rates.l1_latency
        for number, i in enumerate(lines):
            done = max(done, self._look_up(access, i, tags + number * self._rates.tag_part, t))
        self._pending.popleft()
        self._pending.append(done)
        return done

    def _look_up(self, access: Access, i: int, start: int, t: int) -> int:
        """Look for sectors in L1 and fetch what is missing; return when all are there.

        A sector that is on its way is a hit: the load waits for it with the others.
        """
        line, wanted = int(self._trace.line[i]), int(self._trace.sectors[i])
        way = self._way(line, t)
        sectors = [q for q in range(SECTORS) if wanted >> q & 1]
        missing = [q for q in sectors if way.ready[q] == NEVER or self._rates.l1 == 0]
        there = [way.ready[q] for q in sectors if q not in missing]
        self._moved(access.span, _LOADED, len(sectors))
        self._moved(access.span, _HIT, len(there))
        if not missing:
            return max(there)
        ready = t
        if not self._code.store[access.place]:
            ready = self._ask_l2(access, line, int(self._trace.number[i]), missing, start)
        for q in missing:
            way.ready[q] = ready
        # What comes in is written through the data stage.
        self._data.free += len(missing) * self._rates.fill_part
        self._worked(access.span, _DATA, len(missing) * self._rates.fill_part)
        return max([ready, *there])

    def _way(self, line: int, t: int) -> Way:
        ways = self._sets[(line_hash(line) >> 3) % len(self._sets)]
        for way in ways:
            if way.line == line:
                way.used = t
                return way
        oldest = min(ways, key=lambda way: way.used)
        oldest.line, oldest.used, oldest.ready = line, t, [NEVER] * SECTORS
        return oldest

    def _ask_l2(
        self, access: Access, line: int, number: int, missing: list[int], start: int
    ) -> int:
        rates, span = self._rates, access.span
        known = self._seen.get(number, 0)
        fresh = sum(1 for q in missing if not known >> q & 1)
        self._seen[number] = known | sum(1 << q for q in missing)
        begin = self._to_l2(span, len(missing), start)
        latency = self._l2_latency(line)
        held = (line_hash(line) >> 10) % PARTS < self._retained[access.place]
        if fresh == 0 or held:
            return begin // PARTS + latency
        begin = self._to_dram(span, fresh, access.place, begin)
        return begin // PARTS + latency + rates.dram_extra

    def _to_l2(self, span: int, sectors: int, start: int) -> int:
        rates = self._rates
        self._worked(span, _L2, sectors * rates.l2_part)
        self._moved(span, _FROM_L2, sectors)
        return self._l2.take(start, sectors * rates.l2_burst)

    def _to_dram(self, span: int, sectors: int, place: int, start: int) -> int:
        rates, share = self._rates, self._share[place]
        cost = sectors * rates.dram_part * share // PARTS
        self._worked(span, _DRAM, cost)
        self._moved(span, _FROM_DRAM, sectors * share)
        return self._dram.take(start, cost // rates.dram_burst)

    def _write(self, access: Access, t: int) -> int:
        """Send sectors to L2, past L1; return when an answer comes."""
        lines = self._lines(access.row)
        tags = self._through_tags(access.span, len(lines), t)
        latency = max((self._l2_latency(int(self._trace.line[i])) for i in lines), default=0)
        sectors = sum(int(self._trace.sectors[i]).bit_count() for i in lines)
        begin = self._to_l2(access.span, sectors, tags)
        self._to_dram(access.span, sectors, access.place, begin)
        return begin // PARTS + latency

    def _l2_latency(self, line: int) -> int:
        """Return the latency of the part of L2 that holds a line."""
        rates, where = self._rates, line_hash(line) % PARTS
        if rates.l2_two:
            return rates.l2_near if 2 * where < PARTS else rates.l2_far
        return rates.l2_near + (rates.l2_far - rates.l2_near) * where // PARTS
