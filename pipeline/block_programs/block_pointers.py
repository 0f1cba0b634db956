"""Pointers to a tile of a matrix, which know its shape and strides."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs import access, dtypes
from pipeline.block_programs.arithmetic import add, is_number
from pipeline.block_programs.block import Block
from pipeline.block_programs.machine import Machine, current
from pipeline.block_programs.shapes import block_shape
from pipeline.block_programs.source import refusal
from pipeline.errors import UnsupportedError

PADDING = ("", "zero", "nan")


class BlockPointer:
    """A tile of an array of several axes.

    Attributes
    ----------
    base
        Pointer to the first element of the array.
    shape, strides, offsets
        Of the array, per axis; the tile starts at ``offsets``. Numbers or scalars.
    block_shape
        Sizes of the tile.
    """

    def __init__(
        self,
        base: Block,
        shape: Sequence[Any],
        strides: Sequence[Any],
        offsets: Sequence[Any],
        tile: Sequence[int],
    ) -> None:
        if not isinstance(base, Block) or base.memory is None or base.shape:
            raise refusal("a block pointer is made from a pointer to one element")
        if not len(shape) == len(strides) == len(offsets) == len(tile):
            raise refusal(
                "a block pointer needs shape, strides, offsets and block shape of one rank"
            )
        self.base = base
        self.shape, self.strides, self.offsets = tuple(shape), tuple(strides), tuple(offsets)
        self.block_shape = block_shape(tile)

    def advanced(self, steps: Sequence[Any]) -> "BlockPointer":
        """Give the tile moved by so many elements along each axis."""
        if len(steps) != len(self.offsets):
            raise refusal(f"advance by {len(steps)} steps along {len(self.offsets)} axes")
        moved = [_sum(offset, step) for offset, step in zip(self.offsets, steps, strict=True)]
        return BlockPointer(self.base, self.shape, self.strides, moved, self.block_shape)

    def _along(self, value: Any) -> Any:
        """Give a number or a scalar per program, with axes for the tile."""
        rank = len(self.block_shape)
        if not is_number(value):
            return value.data.astype(np.int64).reshape(-1, *[1] * rank)
        return np.full((1,) * (rank + 1), value, np.int64)

    def _indices(self, axis: int) -> Any:
        """Index in the array of every element of the tile along an axis."""
        rank = len(self.block_shape)
        steps = np.arange(self.block_shape[axis], dtype=np.int64)
        steps = steps.reshape(1, *[1] * axis, -1, *[1] * (rank - axis - 1))
        return self._along(self.offsets[axis]) + steps

    def pointers(self) -> Block:
        """Pointer to every element of the tile."""
        offsets: Any = self.base.data.reshape(-1, *[1] * len(self.block_shape))
        for axis, stride in enumerate(self.strides):
            offsets = offsets + self._indices(axis) * self._along(stride)
        return self.base.like(offsets)

    def inside(self, axes: Sequence[int]) -> Block | None:
        """Which elements lie in the array along the axes that are checked."""
        lit: Any = None
        for axis in axes:
            if not 0 <= axis < len(self.block_shape):
                raise refusal(f"boundary_check of axis {axis} of {len(self.block_shape)}")
            index = self._indices(axis)
            within = (index >= 0) & (index < self._along(self.shape[axis]))
            lit = within if lit is None else lit & within
        return None if lit is None else self.base.like(lit, dtypes.int1)


def _sum(offset: Any, step: Any) -> Any:
    return offset + step if is_number(offset) and is_number(step) else add(offset, step)


def load(
    machine: Machine, pointer: BlockPointer, boundary_check: Sequence[int], padding_option: str
) -> Block:
    """Load a tile; elements outside along the checked axes are zero, or NaN."""
    if padding_option not in PADDING:
        raise UnsupportedError(f"padding_option={padding_option!r} is not supported here")
    other = float("nan") if padding_option == "nan" else None
    return access.load(machine, pointer.pointers(), pointer.inside(boundary_check), other)


def store(
    machine: Machine, pointer: BlockPointer, value: Any, boundary_check: Sequence[int]
) -> None:
    """Store a tile, without elements outside along the checked axes."""
    access.store(machine, pointer.pointers(), value, pointer.inside(boundary_check))


class TensorDescriptor:
    """An array and the tile that programs take of it, made before a launch and passed to it."""

    def __init__(
        self,
        base: NDArray[Any],
        shape: Sequence[int],
        strides: Sequence[int],
        block_shape: Sequence[int],
        padding: str = "zero",
    ) -> None:
        self.base = base
        self.shape, self.strides = tuple(shape), tuple(strides)
        self.block_shape = tuple(block_shape)
        self.padding = padding

    @classmethod
    def from_tensor(
        cls, tensor: NDArray[Any], block_shape: Sequence[int], padding: str = "zero"
    ) -> "TensorDescriptor":
        """Describe a whole array."""
        strides = [stride // tensor.itemsize for stride in tensor.strides]
        return cls(tensor, tensor.shape, strides, block_shape, padding)


class Descriptor:
    """An array that tiles are loaded from and stored to by their offsets, always checked."""

    def __init__(
        self,
        base: Block,
        shape: Sequence[Any],
        strides: Sequence[Any],
        tile: Sequence[int],
        padding: str,
    ) -> None:
        self._origin = BlockPointer(base, shape, strides, [0] * len(shape), tile)
        self._padding = padding
        self.shape, self.strides = list(shape), list(strides)
        self.block_shape = list(tile)
        self.dtype = self._origin.base.memory.dtype if self._origin.base.memory else None

    def load(self, offsets: Sequence[Any]) -> Block:
        """Load the tile at ``offsets``; outside of the array it is padded."""
        axes = range(len(self.block_shape))
        return load(current("load"), self._origin.advanced(offsets), axes, self._padding)

    def store(self, offsets: Sequence[Any], value: Any) -> None:
        """Store the tile at ``offsets``; outside of the array nothing is stored."""
        axes = range(len(self.block_shape))
        store(current("store"), self._origin.advanced(offsets), value, axes)
