"""Memory that a launch sees: global arrays, and what blocks and threads have of their own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import MachineCodeError

_WINDOW = 1 << 32
_FIRST = 0x7_1000_0000
"""Address of the first array. Every array lies in a window of 4 GiB of its own, well away from both
ends, so that no address near it carries into the upper word."""
_ALIGNMENT = 512
LARGEST_ARRAY = _WINDOW - (1 << 29)
"""Size of an array (B)."""


def array_of(address: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of the arrays in which addresses lie, in the order of their placing."""
    number: NDArray[np.int64] = (address - _FIRST) // _WINDOW
    return number


@dataclass(frozen=True)
class Allocation:
    """One global array: its name, first address, size (B) and place in the buffer."""

    name: str
    address: int
    size: int
    offset: int


class GlobalMemory:
    """Global arrays in one buffer, at addresses far from each other.

    Parameters
    ----------
    with_values
        Whether there is a buffer at all; to count accesses, sizes are enough.
    """

    def __init__(self, with_values: bool = True) -> None:
        self.arrays: list[Allocation] = []
        self._with_values = with_values
        self._contents: list[bytes | NDArray] = []
        self._end = 0
        self.buffer: NDArray[np.uint8] = np.zeros(0, np.uint8)

    def add(self, name: str, size: int, content: NDArray | None = None) -> int:
        """Place an array of ``size`` bytes; return its address.

        Raises
        ------
        MachineCodeError
            If it is larger than an array may be.
        """
        if size > LARGEST_ARRAY:
            raise MachineCodeError(
                f"array {name} of {size} bytes is too large; at most {LARGEST_ARRAY}"
            )
        address = _FIRST + len(self.arrays) * _WINDOW
        self.arrays.append(Allocation(name, address, size, self._end))
        self._contents.append(np.zeros(0, np.uint8) if content is None else content)
        self._end += -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
        return address

    def finish(self) -> None:
        """Lay the buffer out, once all arrays are added."""
        if self._with_values:
            self.buffer = np.zeros(self._end, np.uint8)
            for array, content in zip(self.arrays, self._contents, strict=True):
                flat = np.ascontiguousarray(content).reshape(-1).view(np.uint8)
                self.buffer[array.offset : array.offset + flat.size] = flat
        self.starts = np.array([array.address for array in self.arrays] or [0], np.int64)
        self.ends = self.starts + np.array([array.size for array in self.arrays] or [0], np.int64)
        self.offsets = np.array([array.offset for array in self.arrays] or [0], np.int64)

    def patch(self, index: int, offset: int, value: int) -> None:
        """Write an address into array number ``index``."""
        if self._with_values:
            at = self.arrays[index].offset + offset
            self.buffer[at : at + 8] = np.frombuffer(np.uint64(value).tobytes(), np.uint8)

    def content(self, name: str) -> NDArray[np.uint8]:
        """Return the bytes of an array as they are now."""
        array = next(one for one in self.arrays if one.name == name)
        return self.buffer[array.offset : array.offset + array.size]

    def near(self, address: int) -> str:
        """Say in words where an address lies that hits no array."""
        for array in self.arrays:
            offset = address - array.address
            if -_WINDOW // 8 < offset < _WINDOW * 7 // 8:
                return f"byte {offset} of array {array.name}, which has {array.size} bytes"
        return f"address {address:#x}, where no array is"
