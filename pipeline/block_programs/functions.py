"""Functions of single elements: exponentials, roots, rounding, extremes."""

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs import dtypes
from pipeline.block_programs.arithmetic import (
    add,
    cast,
    combined,
    floordiv,
    is_number,
    meeting_type,
    negative,
    sub,
    where,
)
from pipeline.block_programs.block import Block
from pipeline.block_programs.narrow import NARROW, rounded
from pipeline.block_programs.source import refusal
from pipeline.loops import compiled

Array = NDArray[Any]


def of_floats(function: Callable[[Array], Array], name: str, value: Block) -> Block:
    """Apply a numpy function to float32 or float64; Triton takes no other type here.

    Raises
    ------
    KernelError
        If the value has another type.
    """
    if value.dtype not in (dtypes.float32, dtypes.float64):
        raise refusal(f"{name} takes fp32 or fp64, not {value.dtype}; use .to(tl.float32)")
    return value.like(function(value.data).astype(value.data.dtype, copy=False), value.dtype)


def reciprocal_root(data: Array) -> Array:
    """One over the square root."""
    return np.reciprocal(np.sqrt(data))


@compiled
def _erf(values: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    for i in range(len(values)):
        out[i] = math.erf(values[i])


def error_function(data: Array) -> Array:
    """Gauss error function."""
    wide = np.ascontiguousarray(data, np.float64)
    out = np.empty_like(wide)
    _erf(wide.reshape(-1), out.reshape(-1))
    return out


OF_FLOATS: Mapping[str, Callable[[Array], Array]] = {
    "ceil": np.ceil,
    "cos": np.cos,
    "erf": error_function,
    "exp": np.exp,
    "exp2": np.exp2,
    "floor": np.floor,
    "log": np.log,
    "log2": np.log2,
    "rsqrt": reciprocal_root,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "sqrt_rn": np.sqrt,
}
"""Functions of the language that take one float; methods of values too."""


def magnitude(value: Block) -> Block:
    """Absolute value of any number."""
    if value.dtype.is_ptr():
        raise refusal("abs takes numbers, not pointers")
    return value.like(np.abs(value.data), value.dtype)


def sigmoid(value: Block) -> Block:
    """One over one plus the exponential of the negative."""
    shrunk = of_floats(np.exp, "sigmoid", negative(value))
    return value.like(np.reciprocal(1 + shrunk.data), value.dtype)


def softmax(value: Block, axis: int) -> Block:
    """Exponentials that sum to one along an axis of the data."""
    shifted = value.data - np.fmax.reduce(value.data, axis=axis, keepdims=True)
    shares = of_floats(np.exp, "softmax", value.like(shifted, value.dtype)).data
    return value.like(shares / np.add.reduce(shares, axis=axis, keepdims=True), value.dtype)


def extreme(
    one: Any, two: Any, numpy_pair: tuple[Any, Any], propagate_nan: bool, name: str
) -> Block:
    """Larger or smaller of two operands; NaN gives way unless it is to be kept."""
    quiet, kept = numpy_pair
    return combined(kept if propagate_nan else quiet, one, two, name)


def fma(x: Any, y: Any, z: Any) -> Block:
    """Multiply and add with one rounding, as far as twice the width can tell."""
    values = [value for value in (x, y, z) if not is_number(value)]
    numbers = [value for value in (x, y, z) if is_number(value)]
    like = reduce(lambda one, two: one.like(one.data, meeting_type(one, two)), values)
    dtype = reduce(
        lambda kind, number: meeting_type(like.like(like.data, kind), number), numbers, like.dtype
    )
    if not dtype.is_floating():
        return combined(np.add, combined(np.multiply, x, y, "fma"), z, "fma")
    product = combined(np.multiply, _wide(x), _wide(y), "fma")
    total = combined(np.add, product, _wide(z), "fma")
    data = rounded(total.data, dtype) if dtype in NARROW else total.data.astype(dtype.held)
    return total.like(data, dtype)


def _wide(value: Any) -> Any:
    return float(value) if is_number(value) else cast(value, dtypes.float64)


def umulhi(x: Any, y: Any) -> Block:
    """Upper half of the product of two integers, taken as unsigned."""
    dtype = meeting_type(x, y)
    if dtype.primitive_bitwidth == 32:
        return combined(_high32, x, y, "umulhi")
    if dtype.primitive_bitwidth == 64:
        return combined(_high64, x, y, "umulhi")
    raise refusal(f"umulhi takes integers of 32 or 64 bits, not {dtype}")


def _high32(one: Array, two: Array) -> Array:
    wide = one.astype(np.uint32).astype(np.uint64) * two.astype(np.uint32).astype(np.uint64)
    return (wide >> np.uint64(32)).astype(one.dtype)


def _high64(one: Array, two: Array) -> Array:
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a, b = one.astype(np.uint64), two.astype(np.uint64)
    a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
    middle = a1 * b0 + (a0 * b0 >> half)
    carry = (middle & low) + a0 * b1
    return (a1 * b1 + (middle >> half) + (carry >> half)).astype(one.dtype)


def ceiling_division(x: Any, div: Any) -> Any:
    """How many parts of size ``div`` cover ``x``."""
    if is_number(x) and is_number(div):
        return -(-x // div)
    return floordiv(add(x, div - 1 if is_number(div) else sub(div, 1)), div)


def clamped(x: Any, low: Any, high: Any, propagate_nan: bool) -> Block:
    """``x`` between two bounds; of NaN, the lower bound unless it is to be kept."""
    inside = combined(np.fmin, combined(np.fmax, x, low, "clamp"), high, "clamp")
    if not propagate_nan:
        return inside
    return where(combined(np.not_equal, x, x, "clamp", result=dtypes.int1), x, inside)
