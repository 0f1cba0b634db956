"""A value as programs see it: operators, and the methods that Triton gives it."""

from collections.abc import Iterator
from functools import partial
from typing import Any, NoReturn

import numpy as np

from pipeline.block_programs import arithmetic, dtypes, functions, reductions, shapes
from pipeline.block_programs.block import Block
from pipeline.block_programs.dtypes import DType, Type
from pipeline.block_programs.machine import agreed
from pipeline.block_programs.source import refusal
from pipeline.errors import UnsupportedError

MAXIMA = (np.fmax.reduce, np.argmax)
MINIMA = (np.fmin.reduce, np.argmin)


class BlockType:
    """Type of a value: element type and shape."""

    def __init__(self, element_ty: Type, shape: tuple[int, ...]) -> None:
        self.element_ty = element_ty
        self.scalar = element_ty
        self.shape = shape

    def is_block(self) -> bool:
        """Whether it has axes."""
        return bool(self.shape)

    def __repr__(self) -> str:
        return f"<{list(self.shape)}, {self.element_ty}>"


class Tensor(Block):
    """One value of a program: a block of elements, or a scalar."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @property
    def type(self) -> Any:
        """Element type of a scalar, type with shape of a block."""
        return BlockType(self.dtype, self.shape) if self.shape else self.dtype

    @property
    def numel(self) -> int:
        """Elements of the block."""
        return int(np.prod(self.shape))

    @property
    def T(self) -> Block:  # noqa: N802
        """The last two axes exchanged."""
        return shapes.trans(self)

    def __bool__(self) -> bool:
        return bool(self._scalar("if and while"))

    def __index__(self) -> int:
        if not self.dtype.is_int():
            raise refusal(f"an integer is needed, not {self.dtype}")
        return int(self._scalar("a Python integer"))

    def _scalar(self, name: str) -> Any:
        """Say what all programs of the batch hold; they part where it differs."""
        if self.data.size != len(self.data):
            raise refusal(f"{name} takes a scalar, not a block of shape {list(self.shape)}")
        return agreed(self.data.reshape(-1))

    def __int__(self) -> NoReturn:
        raise refusal(
            "int() of a value that is known only when the program runs; use .to(tl.int32)"
        )

    def __float__(self) -> NoReturn:
        raise refusal(
            "float() of a value that is known only when the program runs; use .to(tl.float32)"
        )

    def __len__(self) -> int:
        if not self.shape:
            raise refusal("a scalar has no length")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        raise refusal("a block cannot be taken apart by a loop; use tl.split or a reduction")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in functions.OF_FLOATS:
            return partial(functions.of_floats, functions.OF_FLOATS[name], name, self)
        raise UnsupportedError(f"tensor.{name} is not supported here")

    def __getitem__(self, key: Any) -> Block:
        return shapes.indexed(self, key)

    def __pow__(self, other: object) -> NoReturn:
        raise refusal("** takes numbers that are known beforehand; Triton has no power of values")

    def __add__(self, other: Any) -> Block:
        return arithmetic.add(self, other)

    def __radd__(self, other: Any) -> Block:
        return arithmetic.add(other, self)

    def __sub__(self, other: Any) -> Block:
        return arithmetic.sub(self, other)

    def __rsub__(self, other: Any) -> Block:
        return arithmetic.sub(other, self)

    def __mul__(self, other: Any) -> Block:
        return arithmetic.mul(self, other)

    def __rmul__(self, other: Any) -> Block:
        return arithmetic.mul(other, self)

    def __truediv__(self, other: Any) -> Block:
        return arithmetic.truediv(self, other)

    def __rtruediv__(self, other: Any) -> Block:
        return arithmetic.truediv(other, self)

    def __floordiv__(self, other: Any) -> Block:
        return arithmetic.floordiv(self, other)

    def __rfloordiv__(self, other: Any) -> Block:
        return arithmetic.floordiv(other, self)

    def __mod__(self, other: Any) -> Block:
        return arithmetic.mod(self, other)

    def __rmod__(self, other: Any) -> Block:
        return arithmetic.mod(other, self)

    def __neg__(self) -> Block:
        return arithmetic.negative(self)

    def __pos__(self) -> "Tensor":
        return self

    def __abs__(self) -> Block:
        return functions.magnitude(self)

    def __invert__(self) -> Block:
        return arithmetic.inverted(self)

    def __and__(self, other: Any) -> Block:
        return arithmetic.bitwise(np.bitwise_and, self, other, "&")

    def __rand__(self, other: Any) -> Block:
        return arithmetic.bitwise(np.bitwise_and, other, self, "&")

    def __or__(self, other: Any) -> Block:
        return arithmetic.bitwise(np.bitwise_or, self, other, "|")

    def __ror__(self, other: Any) -> Block:
        return arithmetic.bitwise(np.bitwise_or, other, self, "|")

    def __xor__(self, other: Any) -> Block:
        return arithmetic.bitwise(np.bitwise_xor, self, other, "^")

    def __rxor__(self, other: Any) -> Block:
        return arithmetic.bitwise(np.bitwise_xor, other, self, "^")

    def __lshift__(self, other: Any) -> Block:
        return arithmetic.bitwise(np.left_shift, self, other, "<<")

    def __rlshift__(self, other: Any) -> Block:
        return arithmetic.bitwise(np.left_shift, other, self, "<<")

    def __rshift__(self, other: Any) -> Block:
        return arithmetic.bitwise(np.right_shift, self, other, ">>")

    def __rrshift__(self, other: Any) -> Block:
        return arithmetic.bitwise(np.right_shift, other, self, ">>")

    def __lt__(self, other: Any) -> Block:
        return arithmetic.compared(np.less, self, other, "<")

    def __le__(self, other: Any) -> Block:
        return arithmetic.compared(np.less_equal, self, other, "<=")

    def __gt__(self, other: Any) -> Block:
        return arithmetic.compared(np.greater, self, other, ">")

    def __ge__(self, other: Any) -> Block:
        return arithmetic.compared(np.greater_equal, self, other, ">=")

    def __eq__(self, other: Any) -> Any:
        return False if other is None else arithmetic.compared(np.equal, self, other, "==")

    def __ne__(self, other: Any) -> Any:
        return True if other is None else arithmetic.compared(np.not_equal, self, other, "!=")

    def logical_and(self, other: Any) -> Block:
        """Whether both are true."""
        return arithmetic.logical(np.logical_and, self, other, "and")

    def logical_or(self, other: Any) -> Block:
        """Whether one is true."""
        return arithmetic.logical(np.logical_or, self, other, "or")

    def to(
        self, dtype: DType, fp_downcast_rounding: str | None = None, bitcast: bool = False
    ) -> Block:
        """Convert to another type."""
        if fp_downcast_rounding not in (None, "rtne"):
            raise UnsupportedError(
                f"fp_downcast_rounding={fp_downcast_rounding!r} is not supported here"
            )
        return arithmetic.cast(self, dtype, bitcast)

    cast = to

    def sum(
        self, axis: int | None = None, keep_dims: bool = False, dtype: DType | None = None
    ) -> Block:
        """Sum along an axis."""
        return reductions.sum(self, axis, keep_dims, dtype)

    def max(
        self,
        axis: int | None = None,
        return_indices: bool = False,
        return_indices_tie_break_left: bool = True,  # noqa: ARG002 -- the first counts in any case
        keep_dims: bool = False,
    ) -> Any:
        """Largest element along an axis."""
        return reductions.extreme(self, axis, return_indices, keep_dims, MAXIMA)

    def min(
        self,
        axis: int | None = None,
        return_indices: bool = False,
        return_indices_tie_break_left: bool = True,  # noqa: ARG002 -- the first counts in any case
        keep_dims: bool = False,
    ) -> Any:
        """Smallest element along an axis."""
        return reductions.extreme(self, axis, return_indices, keep_dims, MINIMA)

    def argmax(self, axis: int, tie_break_left: bool = True, keep_dims: bool = False) -> Block:
        """Index of the largest element along an axis."""
        return self.max(axis, True, tie_break_left, keep_dims)[1]

    def argmin(self, axis: int, tie_break_left: bool = True, keep_dims: bool = False) -> Block:
        """Index of the smallest element along an axis."""
        return self.min(axis, True, tie_break_left, keep_dims)[1]

    def cumsum(self, axis: int = 0, reverse: bool = False, dtype: DType | None = None) -> Block:
        """Give running sum along an axis."""
        return reductions.cumulative(np.cumsum, self, axis, reverse, dtype)

    def reshape(self, *shape: Any) -> Block:
        """Give the elements in another shape."""
        return shapes.reshape(self, *shape)

    view = reshape

    def ravel(self) -> Block:
        """All elements in one row."""
        return shapes.ravel(self)

    def trans(self, *dims: Any) -> Block:
        """Give the last two axes exchanged, or axes in the order given."""
        return shapes.trans(self, *dims)

    def permute(self, *dims: Any) -> Block:
        """Axes in another order."""
        return shapes.permute(self, *dims)

    def broadcast_to(self, *shape: Any) -> Block:
        """Give the block repeated along axes of size 1."""
        return shapes.broadcast_to(self, *shape)

    def expand_dims(self, axis: Any) -> Block:
        """Axes of size 1 at the places given."""
        return shapes.expand_dims(self, axis)

    def split(self) -> tuple[Block, Block]:
        """Give the two halves of a last axis of size 2."""
        return shapes.split(self)

    def cumprod(self, axis: int = 0, reverse: bool = False, dtype: DType | None = None) -> Block:
        """Give running product along an axis."""
        return reductions.cumulative(np.cumprod, self, axis, reverse, dtype)

    def abs(self) -> Block:
        """Absolute value."""
        return functions.magnitude(self)

    def sigmoid(self) -> Block:
        """One over one plus the exponential of the negative."""
        return functions.sigmoid(self)

    def softmax(self, dim: int | None = None) -> Block:
        """Exponentials that sum to one along an axis, the first by default."""
        return functions.softmax(self, shapes.own_axis(self, dim or 0))

    def item(self) -> Block:
        """Give the one element of a block, as a scalar."""
        if self.numel != 1:
            raise refusal(f"item of a block of shape {list(self.shape)}")
        return self.like(self.data.reshape(-1))


def to_tensor(value: Any) -> Tensor:
    """Make a value of a number; values stay as they are."""
    if isinstance(value, Tensor):
        return value
    if not arithmetic.is_number(value):
        raise refusal(f"{value!r} is no value and no number")
    empty = Tensor(np.empty(1), dtypes.int32)
    made = arithmetic.constant(empty, value, dtypes.of_number(value))
    return Tensor(made.data, made.dtype)
