"""What describes a kernel: its body, how it is launched, what it must cost."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from pipeline.errors import OptionsError


@dataclass(frozen=True)
class Launch:
    """How a kernel is launched, whatever the matrix size.

    Attributes
    ----------
    block
        Threads per block along x, y and z.
    tile
        Rows and columns of C that one block computes.
    smem_bytes
        Shared memory per block (B).
    registers
        Registers per thread. An assumption from accumulators, operands and addresses: the Python
        body has no register allocation.
    multiple
        M, N and K must be multiples of these; 1 where any size goes.
    capability
        Lowest compute capability that has the instructions, ten times major plus minor; 0 for any.
    """

    block: tuple[int, int, int]
    tile: tuple[int, int]
    smem_bytes: int
    registers: int
    multiple: tuple[int, int, int]
    capability: int = 0

    @property
    def threads(self) -> int:
        """Threads per block."""
        x, y, z = self.block
        return x * y * z


def require(kernel_id: str, options: Any, conditions: Mapping[str, bool]) -> None:
    """Refuse options that contradict each other.

    Parameters
    ----------
    kernel_id, options
        Named in the message.
    conditions
        What must hold, in words, and whether it does. Conditions on tiles begin with the name of
        their rule, such as ``threads``, ``divisibility`` or ``vector_width``: sweeps say how
        many tiles each of them excludes.

    Raises
    ------
    OptionsError
        Naming every condition that does not hold.
    """
    broken = tuple(words for words, holds in conditions.items() if not holds)
    if broken:
        raise OptionsError(f"{kernel_id} with {options}: {'; '.join(broken)}", broken)


@dataclass(frozen=True)
class Kernel:
    """One kernel of the ladder.

    Attributes
    ----------
    id, number, label
        Identity in stores, position on the ladder, name as shown to readers.
    lifts
        The one-line lesson: what this step changes against the one before.
    options
        Frozen dataclass of the kernel's compile-time options, every field with a default.
    body
        ``body(blk, a, b, c, m, n, k, options)``: what every thread does.
    launch
        Launch configuration for given options; raises ``LaunchError`` where they contradict.
    expected
        Hand-counted cost of a whole launch with default options: ``expected(m, n, k)`` gives
        counters as integers, for sizes that the tiles divide and rows of whole 128-byte lines. A
        test compares it with the simulation.
    element
        Type of the elements of A and B, as numpy names it. C is float32.
    """

    id: str
    number: int
    label: str
    lifts: str
    options: type[Any]
    body: Callable[..., None]
    launch: Callable[[Any], Launch]
    expected: Callable[[int, int, int], Mapping[str, int]]
    element: str = "float32"

    @cached_property
    def option_names(self) -> tuple[str, ...]:
        """Names of the options that the kernel takes."""
        return tuple(field.name for field in fields(self.options))
