"""The block model without values: what a kernel would do, whatever its arrays hold."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pipeline.errors import LaunchError
from pipeline.simt.access import Access
from pipeline.simt.block import Block
from pipeline.simt.given import numbers
from pipeline.simt.lanes import Lanes
from pipeline.simt.masks import Mask
from pipeline.simt.memory import SharedArray
from pipeline.simt.unknown import Unknown
from pipeline.simt.values import Memory, wrong_shape


class BlocksDifferError(Exception):
    """Blocks of one batch take different branches; never leaves ``pipeline.simt.launch``."""


class CountingBlock(Block):
    """A :class:`Block` whose registers and memory hold no values.

    Every index is computed, checked and counted as in a full run; nothing is moved or multiplied.
    What remains costs the same for any number of blocks that do the same, so that one batch can
    hold a whole grid. Shuffles and votes of what is known, such as a thread's number, stay known.
    """

    def zeros(self, *shape: int, dtype: DTypeLike = "f4") -> NDArray[Any]:
        """Return placeholders with ``shape`` values per thread."""
        return Unknown.of(shape, dtype)

    def _allocate(self, name: str, size: int, dtype: np.dtype[Any]) -> SharedArray:
        """Make a shared array without values."""
        return SharedArray.without_values(name, self.n_blocks, size, dtype)

    def _multiply_add(self, left: NDArray[Any], right: NDArray[Any], total: NDArray[Any]) -> None:
        """Do nothing: sums are unknown as the products are."""

    def _is_per_thread(self, value: Any) -> bool:
        """Let one row stand for all threads."""
        return isinstance(value, Unknown) or super()._is_per_thread(value)

    def _multiply_matrices(
        self, left: NDArray[Any], right: NDArray[Any], total: NDArray[Any]
    ) -> None:
        """Do nothing, as for single products."""

    def _read_matrices(
        self,
        array: SharedArray,
        access: Access,
        count: int,
        transposed: bool,  # noqa: ARG002
    ) -> NDArray[Any]:
        """Check the access and return placeholders."""
        self._check(array, access)
        return Unknown.of((2 * count,), array.flat.dtype)

    def _registers(self, value: Any, dtype: Any) -> NDArray[Any]:
        """Stand for one row of values per thread."""
        if not isinstance(value, Unknown):
            value = numbers("a factor", value, dtype)
        return Unknown.of(getattr(value, "shape", ())[2:], dtype)

    def _read(self, array: Memory, access: Access) -> NDArray[Any]:
        """Check the access and return placeholders."""
        self._check(array, access)
        values = access.repeat * access.width
        return Unknown.of((values,) if values > 1 else (), array.flat.dtype)

    def _write(self, array: Memory, access: Access, value: Any) -> None:
        """Check the access."""
        self._refuse_odd(array, value, access.width)
        self._check(array, access)

    def _modify(
        self,
        array: Memory,
        access: Access,
        operation: int,  # noqa: ARG002
        value: Any,
    ) -> NDArray[Any]:
        """Check the access and return placeholders."""
        self._refuse_odd(array, value, 1)
        self._check(array, access)
        return Unknown.of((), array.flat.dtype)

    def _refuse_odd(self, array: Memory, value: Any, width: int) -> None:
        """Refuse a value that a full run would refuse, as far as it is known."""
        expected = (self.n_blocks, self.n_threads, width)
        if isinstance(value, (Unknown, Lanes)):
            shape = np.shape(value)
        else:
            shape = numbers(f"what goes to {array.name}", value, array.flat.dtype).shape
        if shape and width > 1 and len(shape) < 3:
            raise LaunchError(wrong_shape(array, shape, expected))

    def _exchange(self, offer: NDArray[Any], lane: NDArray[np.int64]) -> NDArray[Any]:
        """Exchange what is known."""
        if isinstance(offer, Unknown):
            return Unknown.of(offer.shape[2:], offer.dtype)
        return super()._exchange(offer, lane)

    def _ballot(self, condition: Any) -> NDArray[Any]:
        """Collect what is known."""
        if isinstance(condition, Unknown):
            return Unknown.of((), np.uint32)
        return super()._ballot(condition)

    def _spread(self, value: NDArray[Any]) -> NDArray[Any]:
        """Let one row stand for all blocks, where it does."""
        return value


class UniformBlock(CountingBlock):
    """A :class:`CountingBlock` that takes only batches in which all blocks take the same branches.

    Then one mask stands for all, and a grid costs hardly more than a block.
    """

    def _narrowed(self, condition: Any) -> Mask:
        """Keep the active threads for which ``condition`` holds, if they are those of all."""
        mask = super()._narrowed(condition)
        if len(mask.active) > 1:
            raise BlocksDifferError
        return mask
