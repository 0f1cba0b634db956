"""Program numbers, ranges, constants, random numbers, products and reductions, as called."""

from typing import Any

import numpy as np

from pipeline.block_programs import arithmetic, dots, dtypes, reductions
from pipeline.block_programs import philox as random_words
from pipeline.block_programs.block import Block
from pipeline.block_programs.dtypes import DType
from pipeline.block_programs.machine import current
from pipeline.block_programs.shapes import block_shape
from pipeline.block_programs.source import refusal
from pipeline.block_programs.tensor import MAXIMA, MINIMA, Tensor, to_tensor
from pipeline.errors import UnsupportedError

INT32_END = 2**31


def _axis(axis: int, name: str) -> int:
    if axis not in (0, 1, 2):
        raise refusal(f"{name}: axis is 0, 1 or 2, not {axis}")
    return axis


def program_id(axis: int) -> Tensor:
    """Index of the program along an axis of the grid, as int32."""
    return Tensor(current("tl.program_id").axis(_axis(axis, "program_id")), dtypes.int32)


def num_programs(axis: int) -> Tensor:
    """Programs along an axis of the grid, as int32."""
    count = current("tl.num_programs").grid[_axis(axis, "num_programs")]
    return Tensor(np.array([count], np.int32), dtypes.int32)


def arange(start: int, end: int) -> Tensor:
    """Whole numbers from ``start`` to before ``end``, a power of two of them, as int32."""
    if not all(isinstance(bound, int) for bound in (start, end)):
        raise refusal("arange takes whole numbers that are known beforehand: constexpr")
    if end <= start or (end - start) & (end - start - 1):
        raise refusal(f"arange({start}, {end}): their difference must be a power of two")
    if not -INT32_END <= start < end <= INT32_END:
        raise refusal(f"arange({start}, {end}) does not fit int32")
    return Tensor(np.arange(start, end, dtype=np.int32)[None], dtypes.int32)


def full(shape: Any, value: Any, dtype: DType) -> Tensor:
    """Give a block of one value."""
    sizes = block_shape(shape)
    arithmetic.known_type(dtype)
    scalar = (
        arithmetic.cast(value, dtype)
        if isinstance(value, Block)
        else arithmetic.constant(Tensor(np.empty(1), dtypes.int32), value, dtype)
    )
    data = scalar.data.reshape(-1, *[1] * len(sizes))
    return Tensor(np.broadcast_to(data, (len(data), *sizes)), dtype)


def zeros(shape: Any, dtype: DType) -> Tensor:
    """Give a block of zeros."""
    return full(shape, 0, dtype)


def zeros_like(input: Block) -> Tensor:
    """Zeros of the shape and type of a block."""
    if not isinstance(input.dtype, DType):
        raise refusal("zeros_like takes numbers, not pointers")
    return full(tuple(input.shape), 0, input.dtype)


def cast(
    input: Any, dtype: DType, fp_downcast_rounding: str | None = None, bitcast: bool = False
) -> Block:
    """Convert to another type."""
    return to_tensor(input).to(dtype, fp_downcast_rounding, bitcast)


def where(condition: Any, x: Any, y: Any) -> Block:
    """Choose between two values, element by element."""
    if not any(isinstance(one, Block) for one in (condition, x, y)):
        condition = to_tensor(condition)
    return arithmetic.where(condition, x, y)


def add(x: Any, y: Any, sanitize_overflow: bool = True) -> Block:  # noqa: ARG001 -- integers wrap
    """Sum."""
    return arithmetic.add(to_tensor(x), y)


def sub(x: Any, y: Any, sanitize_overflow: bool = True) -> Block:  # noqa: ARG001 -- integers wrap
    """Difference."""
    return arithmetic.sub(to_tensor(x), y)


def mul(x: Any, y: Any, sanitize_overflow: bool = True) -> Block:  # noqa: ARG001 -- integers wrap
    """Product."""
    return arithmetic.mul(to_tensor(x), y)


def dot(
    input: Block,
    other: Block,
    acc: Block | None = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,  # noqa: ARG001 -- sums are never imprecise here
    out_dtype: DType | None = None,
) -> Block:
    """Product of two blocks, plus ``acc``."""
    if allow_tf32 is not None and input_precision is None:
        input_precision = "tf32" if allow_tf32 else "ieee"
    if input_precision not in (None, *dots.PRECISIONS):
        raise UnsupportedError(f"input_precision={input_precision!r} is not supported here")
    machine = current("tl.dot")
    return dots.dot(machine, to_tensor(input), to_tensor(other), acc, input_precision, out_dtype)


def max(
    input: Block,
    axis: int | None = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,  # noqa: ARG001 -- the first counts in any case
    keep_dims: bool = False,
) -> Any:
    """Largest element along an axis."""
    return reductions.extreme(input, axis, return_indices, keep_dims, MAXIMA)


def min(
    input: Block,
    axis: int | None = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,  # noqa: ARG001 -- the first counts in any case
    keep_dims: bool = False,
) -> Any:
    """Smallest element along an axis."""
    return reductions.extreme(input, axis, return_indices, keep_dims, MINIMA)


def argmax(input: Block, axis: int, tie_break_left: bool = True, keep_dims: bool = False) -> Block:
    """Index of the largest element along an axis."""
    return max(input, axis, True, tie_break_left, keep_dims)[1]


def argmin(input: Block, axis: int, tie_break_left: bool = True, keep_dims: bool = False) -> Block:
    """Index of the smallest element along an axis."""
    return min(input, axis, True, tie_break_left, keep_dims)[1]


def xor_sum(input: Block, axis: int | None = None, keep_dims: bool = False) -> Block:
    """Exclusive or of all elements along an axis."""
    return reductions.bit_reduction(np.bitwise_xor.reduce, input, axis, keep_dims, "xor_sum")


def reduce_or(input: Block, axis: int | None = None, keep_dims: bool = False) -> Block:
    """Bitwise or of all elements along an axis."""
    return reductions.bit_reduction(np.bitwise_or.reduce, input, axis, keep_dims, "reduce_or")


def cumsum(input: Block, axis: int = 0, reverse: bool = False, dtype: DType | None = None) -> Block:
    """Give running sum along an axis."""
    return reductions.cumulative(np.cumsum, input, axis, reverse, dtype)


def cumprod(
    input: Block, axis: int = 0, reverse: bool = False, dtype: DType | None = None
) -> Block:
    """Give running product along an axis."""
    return reductions.cumulative(np.cumprod, input, axis, reverse, dtype)


def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> tuple[Any, Any]:
    """Turn a place in row-major order into one in column-major order in groups of rows."""
    place = i * size_j + j
    group, within = place // (size_g * size_j), place % (size_g * size_j)
    first = group * size_g
    rows = arithmetic.combined(np.fmin, to_tensor(size_i - first), size_g, "swizzle2d")
    return first + within % rows, within // rows


def philox(
    seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = random_words.ROUNDS
) -> tuple[Block, Block, Block, Block]:
    """Four random words of a seed and a counter of four."""
    words = tuple(to_tensor(word) for word in (c0, c1, c2, c3))
    return random_words.philox(to_tensor(seed), words, n_rounds)  # type: ignore[arg-type]


def randint4x(seed: Any, offset: Any, n_rounds: int = random_words.ROUNDS) -> tuple[Block, ...]:
    """Four random uint32 for every offset."""
    return random_words.words(to_tensor(seed), to_tensor(offset), n_rounds)


def randint(seed: Any, offset: Any, n_rounds: int = random_words.ROUNDS) -> Block:
    """Give a random uint32 for every offset."""
    return randint4x(seed, offset, n_rounds)[0]


def rand4x(seed: Any, offsets: Any, n_rounds: int = random_words.ROUNDS) -> tuple[Block, ...]:
    """Four random float32 from 0 to below 1 for every offset."""
    return tuple(random_words.uniform(word) for word in randint4x(seed, offsets, n_rounds))


def rand(seed: Any, offset: Any, n_rounds: int = random_words.ROUNDS) -> Block:
    """Give a random float32 from 0 to below 1 for every offset."""
    return rand4x(seed, offset, n_rounds)[0]


def randn4x(seed: Any, offset: Any, n_rounds: int = random_words.ROUNDS) -> tuple[Block, ...]:
    """Four normal float32 for every offset."""
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    return (*random_words.normal(u1, u2), *random_words.normal(u3, u4))


def randn(seed: Any, offset: Any, n_rounds: int = random_words.ROUNDS) -> Block:
    """Give a normal float32 for every offset."""
    return randn4x(seed, offset, n_rounds)[0]
