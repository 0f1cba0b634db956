"""Operators between values, with Triton's types: operands meet in one type, results have it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs import dtypes
from pipeline.block_programs.block import Block, aligned
from pipeline.block_programs.dtypes import DType, Type, of_number, promoted
from pipeline.block_programs.narrow import NARROW, from_bits, rounded, to_bits
from pipeline.block_programs.source import refusal

Array = NDArray[Any]
Number = bool | int | float
Operand = Any
"""A value or a number of the source."""


def constant(like: Block, value: Number, dtype: DType) -> Block:
    """Make a scalar that is the same in all programs."""
    if dtype.is_int_unsigned() and value < 0:
        raise refusal(
            f"{value} meets a value of type {dtype}, which has no sign; convert one of them"
        )
    try:
        data = np.array([value]).astype(dtype.held) if dtype.is_floating() else _whole(value, dtype)
    except OverflowError:
        raise refusal(f"{value} is out of range for {dtype}") from None
    return like.like(rounded(data, dtype) if dtype in NARROW else data, dtype)


def _whole(value: Number, dtype: DType) -> Array:
    return np.array([bool(value) if dtype.is_bool() else int(value)], dtype.held)


def cast(value: Block, dtype: Type, bitcast: bool = False) -> Block:
    """Convert a value to another type, as Triton's ``cast``.

    Raises
    ------
    KernelError
        If a pointer is converted, or bits are kept that are not as many.
    """
    if _checked(value, "a conversion").dtype == known_type(dtype):
        return value
    if not isinstance(value.dtype, DType) or not isinstance(dtype, DType):
        raise refusal(f"a pointer cannot be converted: {value.dtype} to {dtype}")
    if bitcast:
        return value.like(_reinterpreted(value.data, value.dtype, dtype), dtype)
    return value.like(converted(value.data, value.dtype, dtype), dtype)


def known_type(dtype: Any) -> Any:
    """Check that this is a type of the language.

    Raises
    ------
    KernelError
        If it is anything else: one of numpy, say.
    """
    if not isinstance(dtype, Type):
        raise refusal(f"{dtype!r} is no type of the language, as tl.float32 is one")
    return dtype


def _reinterpreted(data: Array, source: DType, dtype: DType) -> Array:
    if source.itemsize != dtype.itemsize:
        raise refusal(f"bitcast of {source} to {dtype}: not as many bits")
    return from_bits(to_bits(data, source), dtype)


def converted(data: Array, source: DType, dtype: DType) -> Array:
    """Convert held values of one type to those of another: floats round, to integers they cut."""
    if dtype.is_bool():
        return data != 0
    if source.is_floating() and dtype.is_int():
        return np.trunc(data).astype(dtype.held)
    return rounded(data, dtype) if dtype in NARROW else data.astype(dtype.held, copy=False)


def is_number(value: object) -> bool:
    """Whether this is a number of the source, not a value."""
    return isinstance(value, bool | int | float)


def _checked(value: Operand, name: str) -> Operand:
    if not isinstance(value, Block) and not is_number(value):
        raise refusal(f"{name} takes values and numbers, not {type(value).__name__}")
    return value


def meeting_type(one: Operand, two: Operand, division: bool = False) -> DType:
    """Type in which two operands meet; a number gives way unless its kind is higher."""
    first, second = (
        of_number(x) if is_number(x) else _checked(x, "an operation").dtype for x in (one, two)
    )
    for operand, kind, other in ((one, first, second), (two, second, first)):
        if is_number(operand) and kind.kind <= other.kind and not other.is_ptr():
            first = second = other
            del kind
            break
    if first.is_ptr() or second.is_ptr():
        raise refusal(f"no such operation between {first} and {second}")
    return promoted(first, second, division)


def operands(
    one: Operand, two: Operand, name: str, division: bool = False
) -> tuple[Array, Array, DType, Block]:
    """Bring two operands to one type and rank; also give a value to make others like."""
    maker = one if isinstance(_checked(one, name), Block) else two
    if not isinstance(_checked(two, name), Block) and not isinstance(one, Block):
        raise refusal(f"{name} needs a value beside numbers")
    dtype = meeting_type(one, two, division)
    left, right = (
        constant(maker, x, dtype).data if is_number(x) else cast(x, dtype).data for x in (one, two)
    )
    rank = max(left.ndim, right.ndim) - 1
    return aligned(left, rank), aligned(right, rank), dtype, maker


def combined(
    function: Callable[..., Array],
    one: Operand,
    two: Operand,
    name: str,
    *,
    division: bool = False,
    result: DType | None = None,
) -> Block:
    """Apply a numpy function to two operands in their common type."""
    left, right, dtype, maker = operands(one, two, name, division)
    data = together(function, left, right, name=name)
    if result is None and dtype in NARROW:
        data = rounded(data, dtype)
    return maker.like(data, result or dtype)


def together(function: Callable[..., Array], *data: Array, name: str) -> Array:
    """Apply a function to arrays whose shapes must fit."""
    try:
        return function(*data)
    except ValueError:
        shapes = " and ".join(str(one.shape[1:]) for one in data)
        raise refusal(f"{name}: shapes {shapes} do not fit together") from None


def add(one: Operand, two: Operand) -> Block:
    """Sum; of a pointer and an integer, the pointer so many elements further."""
    for pointer, offset in ((one, two), (two, one)):
        if isinstance(pointer, Block) and pointer.dtype.is_ptr():
            return moved(pointer, offset, 1)
    return combined(_bits_or(np.bitwise_xor, np.add, one, two), one, two, "+")


def sub(one: Operand, two: Operand) -> Block:
    """Difference; of a pointer and an integer, the pointer so many elements back."""
    if isinstance(one, Block) and one.dtype.is_ptr():
        return moved(one, two, -1)
    return combined(_bits_or(np.bitwise_xor, np.subtract, one, two), one, two, "-")


def mul(one: Operand, two: Operand) -> Block:
    """Product."""
    return combined(_bits_or(np.bitwise_and, np.multiply, one, two), one, two, "*")


def _bits_or(
    bits: Callable[..., Array], numbers: Callable[..., Array], one: Operand, two: Operand
) -> Callable[..., Array]:
    """Arithmetic of one bit is modulo two."""
    both = (
        of_number(x).kind if is_number(x) else _checked(x, "an operation").dtype.kind
        for x in (one, two)
    )
    return bits if max(both) == 0 else numbers


def moved(pointer: Block, offset: Operand, sign: int) -> Block:
    """Move pointers by a whole number of elements.

    Raises
    ------
    KernelError
        If the offset is no integer.
    """
    if isinstance(offset, int):
        return pointer.like(pointer.data + sign * offset)
    if not isinstance(offset, Block) or not offset.dtype.is_int():
        given = offset.dtype if isinstance(offset, Block) else type(offset).__name__
        raise refusal(f"a pointer moves by integers, not by {given}")
    rank = max(pointer.data.ndim, offset.data.ndim) - 1
    base, steps = aligned(pointer.data, rank), aligned(offset.data, rank)
    move = np.add if sign > 0 else np.subtract
    steps = steps.astype(np.int64, copy=False)
    return pointer.like(together(move, base, steps, name="pointer arithmetic"))


def truediv(one: Operand, two: Operand) -> Block:
    """Quotient of floats; integers become float32."""
    if meeting_type(one, two, division=True).is_int():
        one, two = (
            cast(x, dtypes.float32) if isinstance(x, Block) else float(x) for x in (one, two)
        )
    return combined(np.divide, one, two, "/", division=True)


def floordiv(one: Operand, two: Operand) -> Block:
    """Quotient of integers, cut towards zero as in C."""
    _integers(one, two, "//")
    return combined(_quotient, one, two, "//", division=True)


def _quotient(one: Array, two: Array) -> Array:
    down = np.floor_divide(one, two)
    if one.dtype.kind == "u":
        return down
    inexact = one - down * two != 0
    return down + (inexact & ((one < 0) != (two < 0)))


def mod(one: Operand, two: Operand) -> Block:
    """Remainder with the sign of the dividend, as in C."""
    if meeting_type(one, two, division=True).is_int():
        _integers(one, two, "%")
    return combined(np.fmod, one, two, "%", division=True)


def _integers(one: Operand, two: Operand, name: str) -> None:
    kinds: list[Any] = [x.dtype for x in (one, two) if isinstance(x, Block)]
    if not meeting_type(one, two).is_int():
        raise refusal(f"{name} takes integers, not {' and '.join(map(str, kinds))}")
    if len(kinds) == 2 and kinds[0].is_int_unsigned() != kinds[1].is_int_unsigned():
        raise refusal(f"{name} of {kinds[0]} and {kinds[1]}: one has a sign and one has none")


def bitwise(function: Callable[..., Array], one: Operand, two: Operand, name: str) -> Block:
    """And, or, exclusive or, and shifts: of integers."""
    dtype = meeting_type(one, two)
    if not dtype.is_int():
        raise refusal(f"{name} takes integers, not {dtype}")
    return combined(function, one, two, name)


def compared(function: Callable[..., Array], one: Operand, two: Operand, name: str) -> Block:
    """Compare; pointers into one argument by their offsets."""
    if all(isinstance(x, Block) and x.dtype.is_ptr() for x in (one, two)):
        if one.memory is not two.memory:
            raise refusal(f"{name} of pointers into different arguments")
        rank = max(one.data.ndim, two.data.ndim) - 1
        data = together(function, aligned(one.data, rank), aligned(two.data, rank), name=name)
        return one.like(data, dtypes.int1)
    return combined(function, one, two, name, result=dtypes.int1)


def negative(value: Block) -> Block:
    """Give the value with the other sign."""
    if value.dtype.is_ptr():
        raise refusal("a pointer has no negative")
    if value.dtype == dtypes.int1:
        return value  # Arithmetic of one bit is modulo two.
    return value.like(np.negative(value.data), value.dtype)


def inverted(value: Block) -> Block:
    """All bits turned over."""
    if not value.dtype.is_int():
        raise refusal(f"~ takes integers, not {value.dtype}")
    return value.like(np.invert(value.data), value.dtype)


def logical_not(value: Block) -> Block:
    """Whether the value is zero."""
    return value.like(np.logical_not(value.data), dtypes.int1)


def logical(function: Callable[..., Array], one: Operand, two: Operand, name: str) -> Block:
    """``and`` and ``or`` of truth values."""
    one, two = (x != 0 if is_number(x) else cast(x, dtypes.int1) for x in (one, two))
    return combined(function, one, two, name)


def where(condition: Operand, one: Operand, two: Operand) -> Block:
    """Choose between two operands, element by element.

    Raises
    ------
    KernelError
        If the two are pointers into different arguments.
    """
    maker = next(x for x in (condition, one, two) if isinstance(x, Block))
    chosen = cast(condition, dtypes.int1).data if isinstance(condition, Block) else None
    if chosen is None:
        chosen = np.array([bool(condition)])
    pointers = [x for x in (one, two) if isinstance(x, Block) and x.dtype.is_ptr()]
    if pointers:
        return _where_pointers(chosen, one, two)
    if isinstance(one, Block) or isinstance(two, Block):
        left, right, dtype, _ = operands(one, two, "where")
    else:
        dtype = promoted(of_number(one), of_number(two))
        left, right = (constant(maker, x, dtype).data for x in (one, two))
    rank = max(chosen.ndim, left.ndim, right.ndim) - 1
    data = together(np.where, *(aligned(x, rank) for x in (chosen, left, right)), name="where")
    return maker.like(data, dtype)


def _where_pointers(chosen: Array, one: Operand, two: Operand) -> Block:
    if not (isinstance(one, Block) and isinstance(two, Block) and one.memory is two.memory):
        raise refusal(
            "where chooses between pointers into different arguments, which is not supported "
            "here; choose between loaded values, or between offsets"
        )
    rank = max(chosen.ndim, one.data.ndim, two.data.ndim) - 1
    return one.like(
        together(np.where, *(aligned(x, rank) for x in (chosen, one.data, two.data)), name="where")
    )
