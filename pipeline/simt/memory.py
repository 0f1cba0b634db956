"""Arrays in the two memories a kernel sees."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pipeline.errors import LaunchError
from pipeline.simt.source import source
from pipeline.simt.traffic import Traffic
from pipeline.simt.watch import Watch

ITEM_BYTES = (1, 2, 4, 8)
"""Element sizes that a load or store can move."""


def check_elements(name: str, dtype: np.dtype[Any]) -> None:
    """Refuse a type of elements that memory does not move; ``name`` says what has it."""
    if dtype.itemsize not in ITEM_BYTES or dtype.kind not in "biuf":
        raise LaunchError(
            f"{source()}: {name} has elements of type {dtype}; allowed are booleans, integers "
            f"and floats of 8, 16, 32 or 64 bits"
        )


def element_type(name: str, dtype: DTypeLike) -> np.dtype[Any]:
    """Return a type of elements that memory moves; ``name`` says what has it."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise LaunchError(f"{source()}: {name} has elements of no numpy type: {dtype!r}") from None
    check_elements(name, kind)
    return kind


def bits_of(name: str, flat: NDArray[Any]) -> NDArray[Any]:
    """View values as unsigned integers of their size: what memory moves, whatever they mean."""
    check_elements(name, flat.dtype)
    return flat.view(f"u{flat.itemsize}")


@dataclass(frozen=True)
class GlobalArray:
    """An array in global memory, addressed by element in row-major order.

    Attributes
    ----------
    name
        The kernel's name for it, used in messages.
    flat : (elements,)
        The values; stores change them. Byte addresses count from the start of the array, which
        stands on a 128-byte boundary as ``cudaMalloc`` returns it.
    traffic
        Which blocks touch which element; None where races of blocks are not looked for.
    """

    stride: ClassVar[int] = 0
    """Elements from one block's array to the next: all blocks see the same one."""

    name: str
    flat: NDArray[Any]
    traffic: Traffic | None = None

    @classmethod
    def without_values(cls, name: str, size: int, dtype: DTypeLike) -> "GlobalArray":
        """Make an array that takes no memory, for counting."""
        return cls(name, np.broadcast_to(np.zeros(1, dtype), (size,)))

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.flat.size

    @cached_property
    def bits(self) -> NDArray[Any]:
        """The values as unsigned integers."""
        return bits_of(f"array {self.name}", self.flat)

    def prepare_store(self) -> None:
        """Refuse to change an array that cannot be changed; see :meth:`Traffic.prepare_store`.

        Raises
        ------
        LaunchError
            If the array is read-only.
        """
        if not self.flat.flags.writeable:
            raise LaunchError(
                f"{source()}: the kernel stores to {self.name}, which is read-only; pass a copy"
            )
        if self.traffic:
            self.traffic.prepare_store()


@dataclass(frozen=True)
class SharedArray:
    """An array in shared memory: one copy per block of the batch, element 0 in bank 0.

    Attributes
    ----------
    name
        The kernel's name for it, used in messages.
    size
        Elements of one block's copy.
    flat : (blocks * size,)
        The values, block after block.
    watch
        Who touched which element.
    """

    name: str
    size: int
    flat: NDArray[Any]
    watch: Watch

    @classmethod
    def allocate(cls, name: str, blocks: int, size: int, dtype: DTypeLike) -> "SharedArray":
        """Make an array of ``size`` elements per block that nobody has written."""
        return cls(name, size, np.zeros(blocks * size, dtype), Watch(blocks, size))

    @classmethod
    def without_values(cls, name: str, blocks: int, size: int, dtype: DTypeLike) -> "SharedArray":
        """Make an array whose values take no memory, for counting."""
        flat = np.broadcast_to(np.zeros(1, dtype), (blocks * size,))
        return cls(name, size, flat, Watch(blocks, size))

    @property
    def stride(self) -> int:
        """Elements from one block's copy to the next."""
        return self.size

    @cached_property
    def bits(self) -> NDArray[Any]:
        """The values as unsigned integers."""
        return bits_of(f"array {self.name}", self.flat)

    def prepare_store(self) -> None:
        """Do nothing: shared memory can always be written."""
