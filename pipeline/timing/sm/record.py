"""What the warps of some blocks do, step by step, as the executor runs them without values."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.count import depends_on_data, slice_of
from pipeline.compiled.decode import Program
from pipeline.compiled.geometry import WARP, Geometry
from pipeline.compiled.instruction import Target
from pipeline.compiled.launch import Launch, load
from pipeline.compiled.link import link
from pipeline.compiled.machine import Group, Machine
from pipeline.compiled.turns import TurnSkipper
from pipeline.compiled.watching import Watcher
from pipeline.errors import ModelError

_MANY_INNER_TURNS = 96
"""Turns of a loop within another one that are run before any is left out."""

Access = tuple[int, str, NDArray[np.int64], NDArray[np.bool_]]
"""Position, kind of memory, byte addresses (warps, 32) and who takes part."""


@dataclass(frozen=True)
class Segment:
    """A run of instructions of some warps.

    Attributes
    ----------
    start, end
        First position, and the one behind the last.
    warps : (warps,)
        Who ran it.
    accesses
        To memory, in their order.
    """

    start: int
    end: int
    warps: NDArray[np.bool_]
    accesses: tuple[Access, ...]


@dataclass(frozen=True)
class Leap:
    """Turns of a loop that were left out, and turns before them that are like these.

    Attributes
    ----------
    first, last
        Segments from which, and up to which, the like turns go.
    turns, period
        How many these are, and after how many of them all is as before.
    left_out
        How many turns were left out.
    """

    first: int
    last: int
    turns: int
    period: int
    left_out: int


@dataclass
class Record:
    """Segments of all warps in the order in which they ran, and what was left out between them."""

    segments: list[Segment] = field(default_factory=list)
    leaps: list[Leap] = field(default_factory=list)


def record(launch: Launch, blocks: NDArray[np.int64], turns: Callable[[int], int]) -> Record:
    """Run some blocks of a launch and write down what their warps do.

    Parameters
    ----------
    launch
        What is launched.
    blocks
        Numbers of the blocks.
    turns
        How many turns of a loop to run before turns may be left out, given how many warp
        instructions one turn takes.

    Raises
    ------
    ModelError
        If what the kernel does depends on data.
    """
    why = depends_on_data(launch.program)
    if why:
        raise ModelError(f"{launch.program.kernel}: {why}; so it cannot be replayed")
    loaded = load(launch, with_values=False)
    chosen = slice_of(launch.program)
    geometry = Geometry(launch.grid, launch.block, blocks)
    machine = Machine(
        launch.program, geometry, loaded.banks, loaded.memory, launch.shared_bytes,
        with_values=False,
    )  # fmt: skip
    watcher = Watcher(machine.registers)
    link(machine, chosen.positions, watcher)
    recorder = _Recorder(machine, TurnSkipper(machine, chosen, watcher), turns)
    machine.run()
    return recorder.record


def _nested(program: Program) -> frozenset[int]:
    """Return the jumps back that close a loop within another one."""
    loops = [
        (program.position[to.address], number)
        for number, one in enumerate(program.instructions)
        for to in one.operands
        if one.opcode == "BRA" and isinstance(to, Target) and to.address <= one.address
    ]
    return frozenset(end for start, end in loops if any(a <= start and end < b for a, b in loops))


class _Recorder:
    """Listens to a machine."""

    def __init__(self, machine: Machine, skipper: TurnSkipper, turns: Callable[[int], int]) -> None:
        self.record = Record()
        self._skipper, self._turns = skipper, turns
        self._shape = (machine.geometry.warps, WARP)
        self._inside = _nested(machine.program)
        self._open: set[int] = set()
        self._accesses: list[Access] = []
        self._arrivals: dict[int, list[int]] = {}
        self._instructions: dict[int, int] = {}
        self._ran = 0
        machine.observers.append(self._touched)
        machine.on_passed = self._passed
        machine.on_jump_back = self._arrived

    def _touched(
        self, position: int, address: NDArray[np.int64], lanes: NDArray[np.bool_], kind: str
    ) -> None:
        shape = self._shape
        self._accesses.append((position, kind, address.reshape(shape).copy(),
                               lanes.reshape(shape).copy()))  # fmt: skip

    def _passed(self, start: int, end: int, group: Group) -> None:
        if end > start:
            accesses = tuple(self._accesses)
            self.record.segments.append(Segment(start, end, group.warps, accesses))
            self._ran += (end - start) * int(group.warps.sum())
        self._accesses = []

    def _arrived(self, branch: int, group: Group) -> None:
        """Note a turn of a loop; let turns be left out once enough have been run."""
        target = group.position
        for inner in [one for one in self._arrivals if target <= one < branch]:
            # Loops inside are entered anew.
            del self._arrivals[inner]
        arrivals = self._arrivals.setdefault(branch, [])
        arrivals.append(len(self.record.segments))
        turn = self._ran - self._instructions.get(branch, self._ran)
        self._instructions[branch] = self._ran
        wanted = self._turns(turn) if branch not in self._inside else _MANY_INNER_TURNS
        if len(arrivals) < max(2, wanted) and branch not in self._open:
            return
        self._open.add(branch)
        known = len(self._skipper.leaps)
        self._skipper.arrived(branch, group)
        for periods, period in self._skipper.leaps[known:]:
            run = min(len(arrivals) - 1, max(period + 1, (len(arrivals) - 1) * 3 // 4))
            self.record.leaps.append(
                Leap(arrivals[-1 - run], arrivals[-1], run, period, periods * period)
            )
            arrivals.clear()
