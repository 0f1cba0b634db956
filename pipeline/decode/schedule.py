"""A megakernel in time: when every instruction of every SM waits, loads and works.

Each SM runs its instructions in order. Beside them a loader fetches their weights, page by page,
into a bounded number of pages; a page is free again when its weights are used up. DRAM serves one
page after the other, in the order in which they are asked for, so all that ask share the bandwidth.
A loader has few pages under way at once: by Little's law an SM gets no more than those bytes per
latency, and what others ask for waits no longer than those bytes of all SMs take.

An instruction waits until the counters of its inputs are raised, is set up, reads its inputs, then
keys and values if it has any, and works its weights off as they arrive. What it makes, and with it
its counters, is seen elsewhere a while after its end.

This is the definition, event by event; ``schedule_fast`` is the same, compiled.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import numpy as np

from pipeline.decode.machine import NOBODY, Machine, Schedule, moments_of
from pipeline.decode.program import Program


def schedule(program: Program, machine: Machine) -> Schedule:
    """Run a program, one event after the other; for small cases.

    Parameters
    ----------
    program
        What every SM runs.
    machine
        Each of its SMs.
    """
    run = _Run(program, machine)
    run.go()
    moments = np.array([run.begin, run.ready, run.read, run.start, run.end])
    return moments_of(moments, np.array(run.waited_for), np.array(run.served).T)


@dataclass
class _Sm:
    """One SM: its work, and how far it has come."""

    instructions: deque[int] = field(default_factory=deque)
    pages: deque[float] = field(default_factory=deque)
    """Bytes of the pages that are still to be asked for."""
    free: int = 0
    asked: int = 0
    """Pages that are under way."""
    port: float = 0.0
    """When its port has taken in all that was served."""
    arrived: deque[float] = field(default_factory=deque)
    """Bytes of pages that are there and not used up."""
    left: int = 0
    """Pages that its present instruction has still to use up."""
    waits: bool = False
    """For counters."""
    is_idle: bool = False
    """For want of a page to work on."""


class _Run:
    """Events in order of time; of those at one moment, what asks DRAM comes last, by SM."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.program, self.machine = program, machine
        self.begin, self.ready, self.read, self.start, self.end = np.zeros((5, program.size))
        self.waited_for = [NOBODY] * program.size
        self.missing = np.diff(program.waits.start).tolist()
        self.makers = np.bincount(program.raises.values, minlength=program.n_counters).tolist()
        self.readers: list[list[int]] = [[] for _ in range(program.n_counters)]
        self.sms = [_Sm(free=machine.pages) for _ in range(program.n_sm)]
        for one, sm in enumerate(program.sm.tolist()):
            self.sms[sm].instructions.append(one)
            self.sms[sm].pages += page_sizes(float(program.weight_bytes[one]), machine.page_bytes)
            for counter in program.waits.of(one):
                self.readers[counter].append(one)
        self.dram_free = 0.0
        self.served: list[tuple[float, float]] = []
        self.events: list[tuple[float, int, int, int, Callable[[float, int], None]]] = []
        self.number = count()

    def go(self) -> None:
        for sm in range(self.program.n_sm):
            self.at(0.0, sm, self.turn)
            self.at(0.0, sm, self.load, asks=1)
        while self.events:
            now, _, sm, _, what = heapq.heappop(self.events)
            what(now, sm)

    def at(self, time: float, sm: int, what: Callable[[float, int], None], asks: int = 0) -> None:
        heapq.heappush(self.events, (time, asks, sm, next(self.number), what))

    def serve(self, now: float, sm: int, size: float) -> float:
        """Let DRAM serve ``size`` bytes, asked for now; return when they are there."""
        self.dram_free = max(self.dram_free, now) + size / self.machine.bandwidth
        self.served.append((self.dram_free, size))
        one = self.sms[sm]
        taken = one.port + size / self.machine.sm_bandwidth
        one.port = max(self.dram_free + self.machine.latency, taken)
        return one.port

    def load(self, now: float, sm: int) -> None:
        one = self.sms[sm]
        if one.free and one.pages and one.asked < self.machine.in_flight:
            one.free -= 1
            one.asked += 1
            size = one.pages.popleft()
            self.at(self.serve(now, sm, size), sm, partial(self.arrive, size))
            self.at(now, sm, self.load, asks=1)

    def arrive(self, size: float, now: float, sm: int) -> None:
        self.sms[sm].arrived.append(size)
        self.sms[sm].asked -= 1
        self.at(now, sm, self.load, asks=1)
        if self.sms[sm].is_idle:
            self.use(now, sm)

    def turn(self, now: float, sm: int) -> None:
        one = self.sms[sm]
        if one.instructions:
            self.begin[one.instructions[0]] = now
            one.waits = True
            self.try_inputs(now, sm)

    def try_inputs(self, now: float, sm: int) -> None:
        one = self.sms[sm]
        if one.waits and not self.missing[one.instructions[0]]:
            one.waits = False
            self.at(now + (self.machine.setup + self.machine.fetch), sm, self.inputs)

    def inputs(self, now: float, sm: int) -> None:
        instruction = self.sms[sm].instructions[0]
        self.read[instruction] = now
        if self.program.late_bytes[instruction]:
            self.at(now, sm, self.read_late, asks=2)
        else:
            self.prepare(now, sm)

    def read_late(self, now: float, sm: int) -> None:
        size = float(self.program.late_bytes[self.sms[sm].instructions[0]])
        self.at(self.serve(now, sm, size), sm, self.prepare)

    def prepare(self, now: float, sm: int) -> None:
        norms = self.program.norms[self.sms[sm].instructions[0]] * self.machine.norm
        self.at(now + (self.machine.sync + norms), sm, self.begin_work)

    def begin_work(self, now: float, sm: int) -> None:
        one = self.sms[sm]
        instruction = one.instructions[0]
        self.start[instruction] = now
        size = float(self.program.weight_bytes[instruction])
        one.left = len(page_sizes(size, self.machine.page_bytes))
        if one.left:
            self.use(now, sm)
        else:
            work = self.program.numbers[instruction] / self.machine.numbers_per_second
            self.at(now + work, sm, self.finish)

    def use(self, now: float, sm: int) -> None:
        one = self.sms[sm]
        one.is_idle = not one.arrived
        if one.arrived:
            instruction = one.instructions[0]
            share = one.arrived.popleft() / self.program.weight_bytes[instruction]
            work = share * self.program.numbers[instruction] / self.machine.numbers_per_second
            self.at(now + work, sm, self.used)

    def used(self, now: float, sm: int) -> None:
        one = self.sms[sm]
        one.free += 1
        one.left -= 1
        self.at(now, sm, self.load, asks=1)
        (self.use if one.left else self.finish)(now, sm)

    def finish(self, now: float, sm: int) -> None:
        instruction = self.sms[sm].instructions.popleft()
        self.end[instruction] = now
        for counter in self.program.raises.of(instruction):
            self.makers[counter] -= 1
            if not self.makers[counter]:
                seen = partial(self.raised, instruction, counter)
                self.at(now + self.machine.signal, sm, seen)
        self.turn(now, sm)

    def raised(self, maker: int, counter: int, now: float, _: int) -> None:
        for reader in self.readers[counter]:
            self.missing[reader] -= 1
            self.ready[reader], self.waited_for[reader] = now, maker
            self.try_inputs(now, int(self.program.sm[reader]))


def page_sizes(weight_bytes: float, page_bytes: float) -> list[float]:
    """Cut the weights of an instruction into pages, the last as small as what is left (B)."""
    pages = math.ceil(weight_bytes / page_bytes)
    return [min(page_bytes, weight_bytes - page * page_bytes) for page in range(pages)]
