"""The block model without values: what a kernel would do, whatever its arrays hold."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import DTypeLike, NDArray

from pipeline.simt.access import Access
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray, SharedArray
from pipeline.simt.unknown import Unknown


class BlocksDifferError(Exception):
    """Blocks of one batch take different branches; never leaves ``pipeline.simt.launch``."""


class CountingBlock(Block):
    """A :class:`Block` whose registers and memory hold no values.

    Every index is computed, checked and counted as in a full run; nothing is moved or multiplied.
    What remains costs the same for any number of blocks that do the same, so that one batch can
    hold a whole grid.
    """

    def zeros(self, *shape: int, dtype: DTypeLike = "f4") -> NDArray[Any]:
        """Return placeholders with ``shape`` values per thread."""
        return Unknown.of(shape, dtype)

    def _multiply_add(self, left: NDArray[Any], right: NDArray[Any], total: NDArray[Any]) -> None:
        """Do nothing: sums are unknown as the products are."""

    def _registers(self, value: Any, dtype: Any) -> NDArray[Any]:
        """Stand for one row of values per thread."""
        return Unknown.of(getattr(value, "shape", ())[2:], dtype)

    def _read(
        self,
        array: GlobalArray | SharedArray,
        stride: int,  # noqa: ARG002
        access: Access,
    ) -> NDArray[Any]:
        """Check the access and return placeholders."""
        self._check(array, access)
        values = access.repeat * access.width
        return Unknown.of((values,) if values > 1 else (), array.flat.dtype)

    def _write(
        self,
        array: GlobalArray | SharedArray,
        stride: int,  # noqa: ARG002
        access: Access,
        value: Any,  # noqa: ARG002
    ) -> None:
        """Check the access."""
        self._check(array, access)


class UniformBlock(CountingBlock):
    """A :class:`CountingBlock` that takes only batches in which all blocks take the same branches.

    Then one mask stands for all, and a grid costs hardly more than a block.
    """

    @contextmanager
    def where(self, condition: Any) -> Iterator[None]:
        """Let only the threads for which ``condition`` holds run what follows."""
        with super().where(condition):
            if len(self._mask.active) > 1:
                raise BlocksDifferError
            yield
