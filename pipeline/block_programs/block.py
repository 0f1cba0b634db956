"""A value of every program of a batch at once."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray

from pipeline.block_programs.dtypes import Type

if TYPE_CHECKING:
    from pipeline.block_programs.memory import Argument


class Shape(tuple[int, ...]):
    """Shape of a block; lists may be added to it, as programs do."""

    def __add__(self, other: Iterable[int]) -> "Shape":  # type: ignore[override]
        """Append further sizes."""
        return Shape(tuple(self) + tuple(other))

    def __getitem__(self, key: Any) -> Any:
        """One size, or a shape of some."""
        part = super().__getitem__(key)
        return Shape(part) if isinstance(key, slice) else part


class Block:
    """What one name in a program stands for, in every program of the batch.

    Attributes
    ----------
    data : (programs or 1, *shape)
        One row for all programs where they have the same. Of pointers: elements from the first
        element of the argument.
    dtype
        Element type.
    memory
        Argument that pointers point into.
    """

    __slots__ = ("data", "dtype", "memory")
    __array_ufunc__ = None
    """Numbers of numpy leave operators to the block; functions of numpy refuse it."""

    def __init__(self, data: NDArray[Any], dtype: Type, memory: "Argument | None" = None) -> None:
        self.data = data
        self.dtype = dtype
        self.memory = memory

    def like(self, data: NDArray[Any], dtype: Type | None = None) -> Self:
        """Make a value of the same class; without a type, of the same type and memory."""
        if dtype is None:
            return type(self)(data, self.dtype, self.memory)
        return type(self)(data, dtype)

    def __repr__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"

    @property
    def shape(self) -> Shape:
        """Shape of the block; empty for a scalar."""
        return Shape(self.data.shape[1:])


def aligned(data: NDArray[Any], rank: int) -> NDArray[Any]:
    """Put axes of size 1 in front of a block's own, so that blocks of other ranks meet it."""
    missing = rank + 1 - data.ndim
    if missing <= 0:
        return data
    return data.reshape(data.shape[:1] + (1,) * missing + data.shape[1:])
