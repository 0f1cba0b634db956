"""Run a program for every place of a grid: together where they agree, in launch order always.

A batch of programs runs in step, as rows of one array. Where they decide differently, the batch
starts again in groups of equals; where one touches what another wrote, out of the order in which
they are launched, it starts again one by one. What an attempt wrote is put back before. So results
are those of one program after another, axis 0 of the grid fastest.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs.access import TrackError
from pipeline.block_programs.hazards import Hazard
from pipeline.block_programs.machine import (
    COUNTERS,
    DivergenceError,
    Machine,
    OrderError,
    running,
)
from pipeline.block_programs.memory import Argument, Storage
from pipeline.errors import LaunchError

FIRST_BATCH = 16
"""Programs of the first batch, which tells how large blocks are."""

BATCH_ELEMENTS = 1 << 18
"""Elements of the largest block in all programs of a batch: they stay in a core's cache."""

MAX_GRID = (2**31 - 1, 65_535, 65_535)
"""Programs along x, y and z that CUDA allows (CUDA C++ guide, technical specifications)."""

HAZARDS_KEPT = 100

Body = Callable[[], object]


@dataclass(frozen=True)
class Launched:
    """What one launch did.

    Attributes
    ----------
    grid
        Programs along the three axes.
    counters
        ``programs``, and every name in :data:`pipeline.block_programs.machine.COUNTERS`.
    hazard_count, hazards
        Stores of different values to one element: all, and the first with their details.
    printed
        Lines of ``tl.device_print``, program after program.
    options
        What was asked of the compiler (``num_warps``, say): kept, without effect on counts.
    """

    grid: tuple[int, int, int]
    counters: Mapping[str, int]
    hazard_count: int
    hazards: tuple[Hazard, ...]
    printed: tuple[str, ...]
    options: Mapping[str, Any]

    def order(self) -> NDArray[np.int64]:
        """Index of every program along the grid, in launch order: (programs, 3)."""
        x, y, _ = self.grid
        number = np.arange(math.prod(self.grid))
        return np.stack([number % x, number // x % y, number // (x * y)], axis=1)


@dataclass
class Launch:
    """One launch under way.

    Attributes
    ----------
    grid
        Programs along the three axes.
    arguments
        Pointer arguments.
    body
        Runs the program on the machine that is current.
    """

    grid: tuple[int, int, int]
    arguments: Sequence[Argument]
    body: Body
    one_by_one: bool = False
    done: list[Machine] = field(default_factory=list)
    peak_elements: int = 1
    session: object = field(default_factory=object)

    def run(self, options: Mapping[str, Any]) -> Launched:
        """Run all programs, and say what they did."""
        total = math.prod(self.grid)
        first, size = 0, FIRST_BATCH
        with np.errstate(all="ignore"):
            while first < total:
                self._batch(np.arange(first, min(first + size, total)))
                first += size
                size = max(1, BATCH_ELEMENTS // self.peak_elements)
        counters = {"programs": total}
        counters |= {name: sum(m.counts[name] for m in self.done) for name in COUNTERS}
        hazards = [hazard for machine in self.done for hazard in machine.hazards]
        lines = sorted((line for m in self.done for line in m.printed), key=lambda line: line[0])
        return Launched(
            grid=self.grid,
            counters=counters,
            hazard_count=sum(machine.hazard_count for machine in self.done),
            hazards=tuple(hazards[:HAZARDS_KEPT]),
            printed=tuple(text for _, text in lines),
            options=options,
        )

    def _batch(self, programs: NDArray[np.int64]) -> None:
        """Run neighbours in launch order: together if that is allowed."""
        while not self.one_by_one and len(programs) > 1:
            before = len(self.done)
            try:
                self._groups(programs)
            except TrackError:
                self._roll_back(before)
            except OrderError:
                self._roll_back(before)
                self.one_by_one = True
            except Exception:
                # One after another the mistake shows where it is made first, if it is one.
                self._roll_back(before)
                self.one_by_one = True
            else:
                return
        for program in programs:
            self._attempt(np.array([program]), in_turn=True)

    def _groups(self, programs: NDArray[np.int64]) -> None:
        """Run groups of programs that decide alike; raise OrderError if there are too many."""
        for storage in self._storages():
            storage.fresh()
        waiting, starts = [programs], 0
        while waiting:
            group = waiting.pop(0)
            try:
                self._attempt(group)
            except DivergenceError as parted:
                starts += 1
                if starts > len(programs):
                    raise OrderError from None
                _, first, way = np.unique(parted.ways, return_index=True, return_inverse=True)
                waiting[:0] = [group[way == one] for one in np.argsort(first)]

    def _attempt(self, programs: NDArray[np.int64], in_turn: bool = False) -> None:
        machine = Machine(self.grid, programs, session=self.session, in_turn=in_turn)
        try:
            with running(machine):
                self.body()
        except (DivergenceError, OrderError, TrackError):
            _undo([machine])
            raise
        except Exception:
            _undo([machine])
            raise
        self.peak_elements = max(self.peak_elements, machine.peak_elements)
        self.done.append(machine)

    def _roll_back(self, before: int) -> None:
        """Put back what attempts of this batch have written, and forget who read."""
        _undo(self.done[before:])
        del self.done[before:]
        for storage in self._storages():
            storage.reader.fill(-1)

    def _storages(self) -> Iterable[Storage]:
        return {id(argument.storage): argument.storage for argument in self.arguments}.values()


def _undo(machines: Sequence[Machine]) -> None:
    for machine in reversed(machines):
        for write in reversed(machine.undo):
            write.undo()


def grid_of(given: Any) -> tuple[int, int, int]:
    """Programs along three axes.

    Raises
    ------
    LaunchError
        If the grid is no one to three whole numbers, or larger than CUDA allows.
    """
    sizes = tuple(given) if isinstance(given, tuple | list) else (given,)
    whole = all(isinstance(size, int | np.integer) and size >= 0 for size in sizes)
    if not whole or not 1 <= len(sizes) <= 3:
        raise LaunchError(f"a grid is one to three whole numbers, not {given!r}")
    x, y, z = (*map(int, sizes), 1, 1)[:3]
    for size, most, axis in zip((x, y, z), MAX_GRID, "xyz", strict=True):
        if size > most:
            raise LaunchError(f"a grid has at most {most} programs along {axis}, not {size}")
    return x, y, z
