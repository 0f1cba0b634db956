"""A program of a megakernel: instructions, what they read, and the counters between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

HEAD_LAYER = -1
"""Stands for the layer of what runs after the last one."""


@dataclass(frozen=True)
class Lists:
    """A list of numbers for each of many, one behind the other.

    Attributes
    ----------
    start : (lists + 1,)
        Where each begins in ``values``.
    values : (...)
        All of them.
    """

    start: Ints
    values: Ints

    def of(self, one: int) -> Ints:
        """List number ``one``."""
        return self.values[self.start[one] : self.start[one + 1]]


@dataclass(frozen=True)
class Program:
    """Instructions in the order in which they are dealt out; an SM runs its own in that order.

    Attributes
    ----------
    operations
        Names; ``operation`` points at them.
    n_sm, n_counters
        SMs of the machine, and counters.
    operation, layer, sm : (instruction,)
        Which operation, of which layer (``HEAD_LAYER`` after the last), on which SM.
    weight_bytes : (instruction,)
        Weights (B); they depend on no other instruction.
    late_bytes : (instruction,)
        Keys and values (B), read when everything that is waited for is there.
    numbers : (instruction,)
        Numbers that it multiplies: each weight once per sequence.
    norms : (instruction,)
        Norms of its input that it takes first.
    waits, raises
        Counters of each instruction.
    """

    operations: tuple[str, ...]
    n_sm: int
    n_counters: int
    operation: Ints
    layer: Ints
    sm: Ints
    weight_bytes: Floats
    late_bytes: Floats
    numbers: Floats
    norms: Ints
    waits: Lists
    raises: Lists

    @property
    def size(self) -> int:
        """Number of instructions."""
        return self.sm.size

    @property
    def bytes(self) -> float:
        """All that the step reads (B)."""
        return float(self.weight_bytes.sum() + self.late_bytes.sum())


def lists(rows: Sequence[Sequence[int]]) -> Lists:
    """Put lists of numbers one behind the other."""
    start = [0, *accumulate(len(row) for row in rows)]
    return Lists(np.array(start, np.int64), np.array([*chain.from_iterable(rows)], np.int64))
