"""Arrays in the two memories a kernel sees."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.simt import hazards_fast


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
    """

    name: str
    flat: NDArray[Any]

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.flat.size

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.flat.itemsize


@dataclass
class SharedArray:
    """An array in shared memory: one copy per block of the batch, element 0 in bank 0.

    Attributes
    ----------
    name
        The kernel's name for it, used in messages.
    data : (blocks, elements)
        The values of every block.
    history : (1 or blocks, field, elements)
        Who touched which element last; one row as long as all blocks did the same.
    """

    name: str
    data: NDArray[Any]
    history: NDArray[np.int32]

    @classmethod
    def allocate(cls, name: str, blocks: int, size: int, dtype: Any) -> "SharedArray":
        """Make an array of ``size`` elements per block that nobody has written."""
        return cls(name, np.zeros((blocks, size), dtype), hazards_fast.new_state(size))

    @property
    def size(self) -> int:
        """Number of elements of one block's copy."""
        return self.data.shape[1]

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.data.itemsize

    def split_history(self) -> None:
        """Give every block a history of its own, once blocks begin to differ."""
        blocks = len(self.data)
        if len(self.history) != blocks:
            self.history = np.repeat(self.history, blocks, axis=0)
