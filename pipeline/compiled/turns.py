"""Turns of loops that need not be run: many that do the same are counted as one, often.

When the values that matter change by the same amounts from one period of turns to the next, and
every instruction in it keeps doing the same within bounds that are known (:mod:`affine`), the
periods up to there are skipped: registers move ahead by as many steps, counts grow by as many times
what a period counts. One more period is then run in full, and must count what was expected.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import fast
from pipeline.compiled.affine import Operands, bounds
from pipeline.compiled.binding import Mask
from pipeline.compiled.instruction import register_key
from pipeline.compiled.machine import Group, Machine
from pipeline.compiled.slicing import Slice
from pipeline.compiled.watching import Watcher
from pipeline.errors import ModelError

_PERIODS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32)
_LONGEST = max(_PERIODS)
_LINE_BYTES, _WORD_BYTES = 128, 4
_PREDICATES = 14
_MOST_FAILURES = 4
_FEWEST = 3
"""Periods that must be left before skipping is worth its trouble."""

Moment = tuple[NDArray[np.uint32], NDArray[np.bool_], tuple[NDArray[np.int64], ...], object]


@dataclass(eq=False)
class _Loop:
    """What is known of a loop: by the jump back that closes it."""

    moments: list[Moment] = field(default_factory=list)
    period: int = 0
    turns: int = 0
    records: list[list[tuple[int, Mask, NDArray]]] = field(default_factory=list)
    current: list[tuple[int, Mask, NDArray]] = field(default_factory=list)
    expected: tuple[NDArray[np.int64], ...] | None = None
    failures: int = 0
    given_up: bool = False


class TurnSkipper:
    """Skips turns of the loops of one machine.

    Parameters
    ----------
    machine
        Runs without values.
    chosen
        The slice of its program.
    watcher
        Tells what instructions read.

    Attributes
    ----------
    leaps
        Periods left out and turns of a period, for every time that turns were skipped.
    """

    def __init__(self, machine: Machine, chosen: Slice, watcher: Watcher) -> None:
        self._machine, self._slice, self._watcher = machine, chosen, watcher
        self._loops: dict[int, _Loop] = {}
        self._recording: list[_Loop] = []
        watcher.sinks.append(self._read)
        machine.observers.append(self._touched)
        machine.on_jump_back = self.arrived
        self.leaps: list[tuple[int, int]] = []

    def _read(self, position: int, lanes: Mask, words: NDArray) -> None:
        for loop in self._recording:
            loop.current.append((position, lanes, words))

    def _touched(self, position: int, address: NDArray, lanes: Mask, kind: str) -> None:
        mark = {"global": -1, "shared": -2, "local": -3}[kind]
        for loop in self._recording:
            loop.current.append((mark - 4 * position, lanes, address.copy()))

    def arrived(self, branch: int, group: Group) -> None:
        """Note that a group jumps back, and skip turns if they are known to be alike."""
        loop = self._loops.setdefault(branch, _Loop())
        if loop.given_up:
            return
        moment = self._moment(group)
        if loop.moments and loop.moments[-1][3] != moment[3]:
            # The lanes have come another way: start again.
            self._forget(loop)
        loop.moments.append(moment)
        if loop.expected is not None:
            self._check(loop, branch)
        if not loop.period:
            self._look(loop)
        elif len(loop.records) < 2 * loop.period:
            loop.records.append(loop.current)
            loop.current = []
            if len(loop.records) == 2 * loop.period:
                self._recording.remove(loop)
                self._skip(loop, group)

    def _forget(self, loop: _Loop) -> None:
        if loop in self._recording:
            self._recording.remove(loop)
        loop.moments, loop.period, loop.records, loop.current = [], 0, [], []
        loop.expected = None

    # ---------- comparing ----------

    def _moment(self, group: Group) -> Moment:
        machine = self._machine
        live = self._slice.live[group.position]
        registers = machine.registers
        predicates = registers.predicates.copy()
        for number in range(_PREDICATES):
            key = register_key("P", number) if number < 7 else register_key("UP", number - 7)
            if not live >> key & 1:
                predicates[number] = False
        where = (
            group.position,
            group.lanes.tobytes(),
            tuple((one.position, one.lanes.tobytes()) for one in machine.ready),
            machine.convergence.waiting.tobytes(),
            machine.barriers.waiting.tobytes(),
            predicates.tobytes(),
        )
        return registers.rows[self._rows(group.position)].copy(), predicates, self._counts(), where

    def _rows(self, position: int) -> NDArray[np.int64]:
        """Return the rows of the registers that matter at a position."""
        # Lanes that stand or wait elsewhere need theirs as well.
        machine = self._machine
        elsewhere = [group.position for group in machine.ready]
        elsewhere += machine.convergence.following() + machine.barriers.following()
        live = self._slice.live[position]
        for other in elsewhere:
            live |= self._slice.live[other]
        return self._machine.registers.rows_of(live)

    def _counts(self) -> tuple[NDArray[np.int64], ...]:
        tally = self._machine.tally
        return (
            tally.warps.copy(),
            tally.threads.copy(),
            *(tally.accesses[key].copy() for key in sorted(tally.accesses)),
            *(np.asarray(tally.skipped[key]) + 0 for key in sorted(tally.skipped)),
            tally.divergent.copy(),
            tally.barriers.copy(),
        )

    def _look(self, loop: _Loop) -> None:
        """Look for a period after which registers and counts have changed as the one before."""
        moments = loop.moments
        for period in _PERIODS:
            if len(moments) < 2 * period + 1:
                break
            first, second, third = (moments[-1 - 2 * period], moments[-1 - period], moments[-1])
            if _alike(first, second, third):
                loop.period = period
                loop.records, loop.current = [], []
                self._recording.append(loop)
                return
        if len(moments) > 2 * _LONGEST + 1:
            loop.given_up = True
            loop.moments = []

    # ---------- skipping ----------

    def _skip(self, loop: _Loop, group: Group) -> None:
        period, moments = loop.period, loop.moments
        first, second, third = (moments[-1 - 2 * period], moments[-1 - period], moments[-1])
        needed = None
        if _alike(first, second, third):
            needed = self._possible(loop)
        if needed is None:
            loop.failures += 1
            loop.given_up = loop.failures >= _MOST_FAILURES
            self._forget(loop)
            return
        steps, longer = needed
        if longer > 1:
            # Addresses have not come round to the same alignment yet.
            if period * longer > _LONGEST:
                loop.given_up = True
                return
            loop.period *= longer
            loop.records, loop.current = [], []
            self._recording.append(loop)
            return
        self._leap(loop, group, steps, second, third)

    def _leap(self, loop: _Loop, group: Group, steps: int, second: Moment, third: Moment) -> None:
        left_out = steps - 1
        counted, turns = _difference(third[2], second[2]), loop.period
        self._forget(loop)
        if left_out < _FEWEST:
            return
        self.leaps.append((left_out, turns))
        rows = self._rows(group.position)
        change = third[0] - second[0]
        self._machine.registers.rows[rows] += change * np.uint32(left_out % (1 << 32))
        self._add(counted, left_out)
        loop.moments = [self._moment(group)]
        loop.expected = counted
        loop.turns = turns

    def _add(self, counted: tuple[NDArray[np.int64], ...], times: int) -> None:
        tally = self._machine.tally
        parts = iter(counted)
        tally.warps += next(parts) * times
        tally.threads += next(parts) * times
        for key in sorted(tally.accesses):
            tally.accesses[key] += next(parts) * times
        for key in sorted(tally.skipped):
            tally.skipped[key] = tally.skipped[key] + next(parts) * times
        tally.divergent += next(parts) * times
        tally.barriers += next(parts) * times

    def _possible(self, loop: _Loop) -> tuple[int, int] | None:
        """Return for how many periods all goes on alike, and how many periods make one."""
        period = loop.period
        before = [entry for turn in loop.records[:period] for entry in turn]
        after = [entry for turn in loop.records[period:] for entry in turn]
        if [entry[0] for entry in before] != [entry[0] for entry in after]:
            return None
        steps, longer = 1 << 62, 1
        instructions = self._machine.program.instructions
        for (position, lanes, old), (_, other, new) in zip(before, after, strict=True):
            if not np.array_equal(lanes, other):
                return None
            if position < 0:
                rounds = alignment_period(old, new, lanes, position % 4)
                if rounds is None:
                    return None
                longer = math.lcm(longer, rounds)
                continue
            old, new = old[:, lanes], new[:, lanes]
            if np.array_equal(old, new):
                continue
            seen = Operands(
                instructions[position], self._watcher.readings[position].spans, old, new
            )
            found = bounds(instructions[position], seen)
            if found is None:
                return None
            steps = min([steps, *(bound.steps() for bound in found)])
        return steps, longer

    def _check(self, loop: _Loop, branch: int) -> None:
        """Hold the first period after a leap against what was expected of it."""
        expected = loop.expected
        assert expected is not None
        found = _difference(loop.moments[-1][2], loop.moments[0][2])
        if len(loop.moments) <= loop.turns:
            return
        loop.expected = None
        same = all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
        if not same:
            place = self._machine.program.instructions[branch].place
            raise ModelError(
                f"{self._machine.program.kernel}: the loop that ends at {place} does not count "
                f"the same in every turn, though its addresses and conditions say so; this is a "
                f"mistake in the model, run the kernel with values instead"
            )


def alignment_period(
    before: NDArray[np.int64], after: NDArray[np.int64], lanes: Mask, mark: int
) -> int | None:
    """Return after how many steps all addresses are aligned as before.

    None if the lanes of a warp do not move together, so that no number of steps is known. ``mark``
    is the kind of access: 3 for global, 2 for shared, 1 for local memory, modulo 4.
    """
    # Local memory is laid out by thread: only what moves by whole words keeps its pattern.
    size = _LINE_BYTES if mark != 1 else _WORD_BYTES
    return fast.common_period(before, after, lanes, size) or None


def _alike(first: Moment, second: Moment, third: Moment) -> bool:
    """Say whether registers and counts changed by the same from first to second to third."""
    if first[0].shape != third[0].shape or len(first[2]) != len(third[2]):
        return False
    if not np.array_equal(third[0] - second[0], second[0] - first[0]):
        return False
    return all(
        np.array_equal(c - b, b - a) for a, b, c in zip(first[2], second[2], third[2], strict=True)
    )


def _difference(
    after: tuple[NDArray[np.int64], ...], before: tuple[NDArray[np.int64], ...]
) -> tuple[NDArray[np.int64], ...]:
    return tuple(a - b for a, b in zip(after, before, strict=True))
