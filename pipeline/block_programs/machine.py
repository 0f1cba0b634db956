"""The programs that run now, what they have counted, and how they end early."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs.hazards import Hazard
from pipeline.block_programs.source import refusal

COUNTERS = (
    "loads", "load_bytes", "load_sectors",
    "stores", "store_bytes", "store_sectors",
    "atomics", "atomic_bytes", "atomic_sectors",
    "dot_flops",
)  # fmt: skip
"""What is counted, by the names of the store; ``programs`` comes from the grid."""


class DivergenceError(Exception):
    """Programs of a batch go different ways; each group of equals runs by itself.

    Attributes
    ----------
    ways : (programs,)
        What each program decided.
    """

    def __init__(self, ways: NDArray[Any]) -> None:
        super().__init__("programs diverge")
        self.ways = ways


class OrderError(Exception):
    """Programs of a batch touched one element out of the order in which they are launched."""


@dataclass
class Machine:
    """A batch of programs and the traces that it leaves.

    Attributes
    ----------
    grid
        Programs along the three axes.
    programs : (programs,)
        Numbers of those that run, ascending, in launch order: axis 0 is fastest.
    counts
        By the names in :data:`COUNTERS`.
    undo
        Writes so far, for a batch that must start again.
    in_turn
        Whether one program runs after all before it: then nothing need be undone.
    """

    grid: tuple[int, int, int]
    programs: NDArray[np.int64]
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTERS, 0))
    hazards: list[Hazard] = field(default_factory=list)
    hazard_count: int = 0
    printed: list[tuple[int, str]] = field(default_factory=list)
    undo: list[Any] = field(default_factory=list)
    locked: bool = False
    in_turn: bool = False
    session: object = None
    peak_elements: int = 1

    @property
    def together(self) -> int:
        """How many programs run."""
        return len(self.programs)

    def axis(self, axis: int) -> NDArray[np.int32]:
        """Index of every program along one axis of the grid, (programs,)."""
        before = int(np.prod(self.grid[:axis], dtype=np.int64))
        return ((self.programs // before) % self.grid[axis]).astype(np.int32)

    def place(self, program: int) -> tuple[int, int, int]:
        """Index of a program along the three axes."""
        x, y, _ = self.grid
        return program % x, program // x % y, program // (x * y)

    def count(self, name: str, amount: int) -> None:
        """Add to a counter."""
        self.counts[name] += amount

    def notice(self, data: NDArray[Any]) -> None:
        """Remember the largest block, by which batches are sized."""
        rows = max(1, data.shape[0])
        self.peak_elements = max(self.peak_elements, data.size // rows)


_CURRENT: ContextVar[Machine] = ContextVar("machine")


@contextmanager
def running(machine: Machine) -> Iterator[None]:
    """Make a machine the one that functions of the language act on."""
    token = _CURRENT.set(machine)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current(name: str) -> Machine:
    """Give the machine that runs now.

    Raises
    ------
    KernelError
        If no program runs: ``name`` was called from outside.
    """
    machine = _CURRENT.get(None)
    if machine is None:
        raise refusal(f"{name} works only inside a program that is launched as kernel[grid](...)")
    return machine


def agreed(values: Sequence[Any] | NDArray[Any]) -> Any:
    """Return what all programs of the batch decided.

    Raises
    ------
    DivergenceError
        If they did not decide alike.
    """
    array = np.asarray(values)
    if len(array) > 1 and (array != array[0]).any():
        raise DivergenceError(array)
    return array[0].item()
