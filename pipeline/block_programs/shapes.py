"""Blocks in other shapes: nothing is computed and nothing counted."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline.block_programs.arithmetic import cast, meeting_type
from pipeline.block_programs.block import Block, aligned
from pipeline.block_programs.source import refusal

LARGEST_BLOCK = 1 << 20
"""Elements of a block that Triton allows (``TRITON_MAX_TENSOR_NUMEL``)."""


def block_shape(shape: Any) -> tuple[int, ...]:
    """Check the shape of a block: powers of two, and not too many elements.

    Raises
    ------
    KernelError
        If Triton would refuse it.
    """
    sizes = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    for size in sizes:
        if isinstance(size, Block) or not isinstance(size, int):
            raise refusal(f"the shape of a block must be known: given {size!r} of {list(sizes)}")
        if size < 1 or size & (size - 1):
            raise refusal(f"sizes of a block must be powers of two: given {list(sizes)}")
    if int(np.prod(sizes)) > LARGEST_BLOCK:
        raise refusal(f"a block holds at most {LARGEST_BLOCK} elements: given {list(sizes)}")
    return sizes


def sizes_of(arguments: Sequence[Any]) -> Sequence[Any]:
    """Sizes given one by one or as one sequence."""
    if len(arguments) == 1 and isinstance(arguments[0], Sequence):
        return arguments[0]
    return arguments


def own_axis(block: Block, axis: int, extra: int = 0) -> int:
    """Axis of the data for an axis of the block; negative ones count from the last."""
    rank = len(block.shape) + extra
    if not -rank <= axis < rank:
        raise refusal(f"a block of shape {list(block.shape)} has no axis {axis}")
    return 1 + axis % rank


def reshape(block: Block, *shape: Any) -> Block:
    """Give the elements in row-major order in another shape."""
    wanted = block_shape(sizes_of(shape))
    if int(np.prod(wanted)) != int(np.prod(block.shape)):
        raise refusal(f"reshape of {list(block.shape)} to {list(wanted)}: not as many elements")
    return block.like(block.data.reshape(len(block.data), *wanted))


def ravel(block: Block) -> Block:
    """All elements in one row."""
    return reshape(block, int(np.prod(block.shape)))


def permute(block: Block, *dims: Any) -> Block:
    """Axes in another order."""
    order = [own_axis(block, axis) for axis in sizes_of(dims)]
    if sorted(order) != list(range(1, block.data.ndim)):
        raise refusal(f"permute of {list(block.shape)}: {list(sizes_of(dims))} is no order of axes")
    return block.like(block.data.transpose(0, *order))


def trans(block: Block, *dims: Any) -> Block:
    """Give the last two axes exchanged, or axes in the order given."""
    if dims:
        return permute(block, *dims)
    if len(block.shape) < 2:
        raise refusal(f"trans needs two axes: given {list(block.shape)}")
    return block.like(np.swapaxes(block.data, -1, -2))


def expand_dims(block: Block, axis: int | Sequence[int]) -> Block:
    """Axes of size 1 at the places given."""
    places = [axis] if isinstance(axis, int) else list(axis)
    for place in sorted(own_axis(block, place, len(places)) - 1 for place in places):
        block = block.like(np.expand_dims(block.data, own_axis(block, place, extra=1)))
    return block


def squeeze(block: Block, dim: int) -> Block:
    """Without an axis of size 1."""
    axis = own_axis(block, dim)
    if block.data.shape[axis] != 1:
        raise refusal(f"squeeze of axis {dim} of {list(block.shape)}: its size is not 1")
    return block.like(block.data.squeeze(axis))


def indexed(block: Block, key: Any) -> Block:
    """``x[:, None]`` and its like: only ``None`` and ``:`` are indices in the language."""
    keys = key if isinstance(key, tuple) else (key,)
    if any(one is not None and one != slice(None) for one in keys):
        raise refusal(
            "a block is indexed with None and : only; single elements need tl.sum or a load"
        )
    if sum(one is not None for one in keys) > len(block.shape):
        raise refusal(f"too many indices for a block of shape {list(block.shape)}")
    return block.like(block.data[(slice(None), *keys)])


def broadcast_to(block: Block, *shape: Any) -> Block:
    """Give the block repeated along axes of size 1."""
    wanted = block_shape(sizes_of(shape))
    data = aligned(block.data, len(wanted))
    try:
        return block.like(np.broadcast_to(data, (len(data), *wanted)))
    except ValueError:
        raise refusal(f"{list(block.shape)} cannot be broadcast to {list(wanted)}") from None


def broadcast(one: Block, two: Block) -> tuple[Block, Block]:
    """Both blocks in the shape in which they meet."""
    try:
        shape = np.broadcast_shapes(one.shape, two.shape)
    except ValueError:
        raise refusal(f"broadcast: {list(one.shape)} and {list(two.shape)} do not fit") from None
    return broadcast_to(one, shape), broadcast_to(two, shape)


def _everywhere(*blocks: Block) -> list[Any]:
    """Give data of blocks with as many rows for all."""
    rows = max(len(block.data) for block in blocks)
    return [np.broadcast_to(block.data, (rows, *block.shape)) for block in blocks]


def join(one: Block, two: Block) -> Block:
    """Two blocks side by side in a new last axis."""
    dtype = meeting_type(one, two)
    pair = broadcast(cast(one, dtype), cast(two, dtype))
    return pair[0].like(np.stack(_everywhere(*pair), axis=-1))


def split(block: Block) -> tuple[Block, Block]:
    """Give the two halves of a last axis of size 2."""
    if not block.shape or block.shape[-1] != 2:
        raise refusal(f"split needs a last axis of size 2: given {list(block.shape)}")
    return block.like(block.data[..., 0]), block.like(block.data[..., 1])


def interleave(one: Block, two: Block) -> Block:
    """Elements of two blocks in turn along the last axis."""
    joined = join(one, two)
    if len(joined.shape) == 1:
        return joined
    return reshape(joined, [*joined.shape[:-2], 2 * joined.shape[-2]])


def cat(one: Block, two: Block, dim: int = 0) -> Block:
    """Two blocks one after the other along an axis."""
    if one.dtype != two.dtype:
        raise refusal(f"cat of {one.dtype} and {two.dtype}: types must agree")
    if one.shape != two.shape:
        raise refusal(f"cat of {list(one.shape)} and {list(two.shape)}: shapes must agree")
    return one.like(np.concatenate(_everywhere(one, two), axis=own_axis(one, dim)))


def flip(block: Block, dim: int | None = None) -> Block:
    """Give the block turned round along an axis, the last by default."""
    return block.like(np.flip(block.data, own_axis(block, -1 if dim is None else dim)))
