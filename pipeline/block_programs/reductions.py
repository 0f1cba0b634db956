"""Reductions, scans and sorting along an axis of a block."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs import dtypes
from pipeline.block_programs.arithmetic import cast
from pipeline.block_programs.block import Block
from pipeline.block_programs.dtypes import DType
from pipeline.block_programs.narrow import NARROW, rounded
from pipeline.block_programs.shapes import block_shape, flip, own_axis
from pipeline.block_programs.source import refusal

Array = NDArray[Any]
Combine = Callable[..., Any]


def _sum_type(dtype: DType, wanted: DType | None) -> DType:
    """Small integers are summed in 32 bits, unless a type is asked for."""
    if wanted is not None or not dtype.is_int() or dtype.primitive_bitwidth >= 32:
        return wanted or dtype
    return dtypes.uint32 if dtype.is_int_unsigned() else dtypes.int32


def _along(
    function: Callable[..., Array], block: Block, axis: int | None, keep_dims: bool
) -> Array:
    """Apply a numpy reduction along one axis of the block, or all."""
    if axis is not None:
        return function(block.data, axis=own_axis(block, axis), keepdims=keep_dims)
    every = tuple(range(1, block.data.ndim))
    return function(block.data, axis=every, keepdims=keep_dims) if every else block.data


def sum(
    input: Block, axis: int | None = None, keep_dims: bool = False, dtype: DType | None = None
) -> Block:
    """Sum along an axis, in the element type (integers in at least 32 bits)."""
    block = cast(input, _sum_type(_scalar_type(input), dtype))
    data = _along(np.add.reduce, block, axis, keep_dims)
    kept = _scalar_type(block)
    data = rounded(data, kept) if kept in NARROW else data.astype(kept.held, copy=False)
    return block.like(data, kept)


def _scalar_type(block: Block) -> DType:
    if not isinstance(block.dtype, DType):
        raise refusal("pointers cannot be reduced")
    return block.dtype


def extreme(
    input: Block,
    axis: int | None,
    return_indices: bool,
    keep_dims: bool,
    functions: tuple[Callable[..., Array], Callable[..., Array]],
) -> Any:
    """Largest or smallest element along an axis, with its index if asked for.

    Parameters
    ----------
    input, axis, return_indices, keep_dims
        As in Triton. Of equal elements the first counts.
    functions
        Numpy reductions to the value and to its index.
    """
    value, index = functions
    if return_indices:
        if axis is None:
            raise refusal("return_indices needs an axis")
        places = index(input.data, axis=own_axis(input, axis), keepdims=True)
        values = np.take_along_axis(input.data, places, own_axis(input, axis))
        if not keep_dims:
            values, places = (x.squeeze(own_axis(input, axis)) for x in (values, places))
        return input.like(values), input.like(places.astype(np.int32), dtypes.int32)
    kind = _scalar_type(input)
    if kind.primitive_bitwidth < 32:
        input = cast(input, dtypes.float32 if kind.is_floating() else dtypes.int32)
    return input.like(_along(value, input, axis, keep_dims), input.dtype)


def bit_reduction(
    function: Callable[..., Array], input: Block, axis: int | None, keep_dims: bool, name: str
) -> Block:
    """Reduce integers bit by bit."""
    if not input.dtype.is_int():
        raise refusal(f"{name} takes integers, not {input.dtype}")
    return input.like(_along(function, input, axis, keep_dims))


def _cut(blocks: tuple[Block, ...], axis: int, part: slice) -> tuple[Block, ...]:
    places: list[Any] = [slice(None)] * blocks[0].data.ndim
    places[axis] = part
    return tuple(block.like(block.data[tuple(places)]) for block in blocks)


def _call(combine: Combine, one: tuple[Block, ...], two: tuple[Block, ...]) -> tuple[Block, ...]:
    result = combine(*one, *two)
    results = result if isinstance(result, tuple) else (result,)
    return tuple(cast(made, block.dtype) for made, block in zip(results, one, strict=True))


def _pack(input: Any) -> tuple[Block, ...]:
    return tuple(input) if isinstance(input, tuple | list) else (input,)


def _unpack(input: Any, blocks: tuple[Block, ...]) -> Any:
    return blocks if isinstance(input, tuple | list) else blocks[0]


def reduce(input: Any, axis: int | None, combine_fn: Combine, keep_dims: bool = False) -> Any:
    """Reduce along an axis with a function of the program: neighbours first, order kept.

    Parameters
    ----------
    input
        A block, or a tuple of blocks that are reduced together.
    axis
        Axis, or none for all elements.
    combine_fn
        Takes the values of two parts and gives those of both; must be associative.
    keep_dims
        Whether the axis stays, with size 1.
    """
    blocks = _pack(input)
    rank = blocks[0].data.ndim
    if axis is None:
        blocks = tuple(block.like(block.data.reshape(len(block.data), -1)) for block in blocks)
    along = 1 if axis is None else own_axis(blocks[0], axis)
    while blocks[0].data.shape[along] > 1:
        even, odd = (_cut(blocks, along, slice(first, None, 2)) for first in (0, 1))
        blocks = _call(combine_fn, even, odd)
    blocks = tuple(block.like(block.data.squeeze(along)) for block in blocks)
    if keep_dims:
        kept = tuple(range(1, rank)) if axis is None else along
        blocks = tuple(block.like(np.expand_dims(block.data, kept)) for block in blocks)
    return _unpack(input, blocks)


def associative_scan(input: Any, axis: int, combine_fn: Combine, reverse: bool = False) -> Any:
    """Combine every element with all before it (after it, if reversed); as :func:`reduce`."""
    blocks = _pack(input)
    along = own_axis(blocks[0], axis)
    if reverse:
        blocks = tuple(flip(block, axis) for block in blocks)
    blocks = _scanned(blocks, along, combine_fn)
    if reverse:
        blocks = tuple(flip(block, axis) for block in blocks)
    return _unpack(input, blocks)


def _scanned(blocks: tuple[Block, ...], along: int, combine: Combine) -> tuple[Block, ...]:
    """Scan the pairs of neighbours, then fill in the elements between."""
    length = blocks[0].data.shape[along]
    if length == 1:
        return blocks
    even, odd = (_cut(blocks, along, slice(first, None, 2)) for first in (0, 1))
    pairs = _scanned(_call(combine, even, odd), along, combine)
    between = _cut(pairs, along, slice(0, length // 2 - 1))
    later = _call(combine, between, _cut(even, along, slice(1, None))) if length > 2 else between
    first = _cut(even, along, slice(0, 1))
    results = []
    for block, start, middle, pair in zip(blocks, first, later, pairs, strict=True):
        rows = max(len(x.data) for x in (start, middle, pair))
        shape = (rows, *block.data.shape[1:])
        out = np.empty(shape, pair.data.dtype)
        places: list[Any] = [slice(None)] * out.ndim
        for part, values in (
            (slice(0, 1), start), (slice(2, None, 2), middle), (slice(1, None, 2), pair),
        ):  # fmt: skip
            places[along] = part
            out[tuple(places)] = values.data
        results.append(block.like(out))
    return tuple(results)


def cumulative(
    function: Callable[..., Array], input: Block, axis: int, reverse: bool, dtype: DType | None
) -> Block:
    """Give running sum or product along an axis."""
    block = cast(input, _sum_type(_scalar_type(input), dtype))
    kept = _scalar_type(block)
    block = flip(block, axis) if reverse else block
    data = function(block.data, axis=own_axis(block, axis), dtype=kept.held)
    block = block.like(rounded(data, kept) if kept in NARROW else data, kept)
    return flip(block, axis) if reverse else block


def sort(x: Block, dim: int | None = None, descending: bool = False) -> Block:
    """Elements of the last axis in order."""
    if own_axis(x, -1 if dim is None else dim) != x.data.ndim - 1:
        raise refusal("sort works along the last axis only")
    ordered = x.like(np.sort(x.data, axis=-1))
    return flip(ordered) if descending else ordered


def topk(x: Block, k: int, dim: int | None = None, descending: bool = True) -> Block:
    """Give the k largest elements of the last axis, largest first; or the smallest."""
    block_shape([k])
    return x.like(sort(x, dim, descending).data[..., :k])


def histogram(input: Block, num_bins: int, mask: Block | None = None) -> Block:
    """Count the elements of a row of integers per value; values beyond the bins are left out."""
    if len(input.shape) != 1 or not input.dtype.is_int():
        raise refusal("histogram takes one row of integers")
    block_shape([num_bins])
    lit = np.ones((1, 1), np.bool_) if mask is None else mask.data
    values, lit = np.broadcast_arrays(input.data.astype(np.int64), lit)
    counted = lit & (values >= 0) & (values < num_bins)
    bins = np.zeros((len(values), num_bins), np.int32)
    rows = np.broadcast_to(np.arange(len(values))[:, None], values.shape)
    np.add.at(bins, (rows[counted], values[counted]), 1)
    return input.like(bins, dtypes.int32)


def gather(src: Block, index: Block, axis: int) -> Block:
    """Elements of a block by their index along an axis."""
    along = own_axis(src, axis)
    if ((index.data < 0) | (index.data >= src.data.shape[along])).any():
        raise refusal(f"gather: an index is not below {src.data.shape[along]}")
    rows = max(len(src.data), len(index.data))
    data = np.broadcast_to(src.data, (rows, *src.shape))
    places = np.broadcast_to(index.data, (rows, *index.shape)).astype(np.int64)
    return src.like(np.take_along_axis(data, places, along))
