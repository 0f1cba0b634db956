"""Element types of the block language, and the type that an operation on two of them has.

Most types are what numpy has. The brain float and the eight-bit floats are held as float32 values
that the type can represent, and stored as their bits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.errors import UnsupportedError


@dataclass(frozen=True, repr=False)
class DType:
    """One element type.

    Attributes
    ----------
    name
        As Triton prints it.
    kind
        0 for booleans, 1 for integers, 2 for floats: what a number in the source may widen to.
    primitive_bitwidth
        Bits that Triton counts, 1 for booleans.
    held, stored
        Numpy types of values in the interpreter, and of elements in memory.
    fp_mantissa_width
        Bits after the leading one; 0 for integers.
    """

    name: str
    kind: int
    primitive_bitwidth: int
    held: "np.dtype[Any]"
    stored: "np.dtype[Any]"
    fp_mantissa_width: int = 0

    def __repr__(self) -> str:
        return self.name

    def __getattr__(self, name: str) -> Callable[[], bool]:
        """Answer ``is_fp16()`` and its like, one for each type name."""
        if name.startswith("is_") and name[3:] in _NAMES:
            return lambda: self.name == _NAMES[name[3:]]
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedError(f"dtype.{name} is not supported here")

    @property
    def itemsize(self) -> int:
        """Bytes of an element in memory."""
        return self.stored.itemsize

    @property
    def scalar(self) -> "DType":
        """The element type, which this is."""
        return self

    @property
    def int_bitwidth(self) -> int:
        """Bits of an integer."""
        return self.primitive_bitwidth

    def is_floating(self) -> bool:
        """Whether this is a float of any width."""
        return self.kind == 2

    def is_fp8(self) -> bool:
        """Whether this is a float of eight bits."""
        return self.is_floating() and self.primitive_bitwidth == 8

    def is_bool(self) -> bool:
        """Whether this is int1."""
        return self.kind == 0

    def is_int(self) -> bool:
        """Whether this is an integer; int1 is one."""
        return self.kind < 2

    def is_int_unsigned(self) -> bool:
        """Whether this is an integer without sign, as int1 is none in Triton."""
        return self.kind == 1 and self.held.kind == "u"

    def is_int_signed(self) -> bool:
        """Whether this is an integer with sign; int1 counts as one, as in Triton."""
        return self.is_int() and not self.is_int_unsigned()

    def is_ptr(self) -> bool:
        """Whether this is a pointer."""
        return False

    def is_block(self) -> bool:
        """Whether this is the type of a block of several elements."""
        return False


@dataclass(frozen=True, repr=False)
class PointerType:
    """Pointer to elements of one type."""

    element_ty: DType
    name: str = "pointer"
    kind: int = 3

    def __repr__(self) -> str:
        return f"pointer<{self.element_ty}>"

    @property
    def scalar(self) -> "PointerType":
        """The element type, which this is."""
        return self

    @property
    def primitive_bitwidth(self) -> int:
        """Bits of an address."""
        return 64

    def is_ptr(self) -> bool:
        """Whether this is a pointer."""
        return True

    def is_int(self) -> bool:
        """Whether this is an integer."""
        return False

    def is_floating(self) -> bool:
        """Whether this is a float."""
        return False

    def is_block(self) -> bool:
        """Whether this is the type of a block of several elements."""
        return False


Type = DType | PointerType


def _integer(name: str, bits: int, numpy_name: str) -> DType:
    dtype = np.dtype(numpy_name)
    return DType(name, 1, bits, dtype, dtype)


def _native(name: str, bits: int, mantissa: int) -> DType:
    dtype = np.dtype(f"float{bits}")
    return DType(name, 2, bits, dtype, dtype, mantissa)


def _narrow(name: str, bits: int, mantissa: int) -> DType:
    return DType(name, 2, bits, np.dtype(np.float32), np.dtype(f"uint{bits}"), mantissa)


int1 = DType("int1", 0, 1, np.dtype(np.bool_), np.dtype(np.uint8))
int8 = _integer("int8", 8, "int8")
int16 = _integer("int16", 16, "int16")
int32 = _integer("int32", 32, "int32")
int64 = _integer("int64", 64, "int64")
uint8 = _integer("uint8", 8, "uint8")
uint16 = _integer("uint16", 16, "uint16")
uint32 = _integer("uint32", 32, "uint32")
uint64 = _integer("uint64", 64, "uint64")
float16 = _native("fp16", 16, 10)
float32 = _native("fp32", 32, 23)
float64 = _native("fp64", 64, 52)
bfloat16 = _narrow("bf16", 16, 7)
float8e5 = _narrow("fp8e5", 8, 2)
float8e4nv = _narrow("fp8e4nv", 8, 3)

TYPES = (
    int1, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, float8e5, float8e4nv,
)  # fmt: skip

_NAMES = {dtype.name: dtype.name for dtype in TYPES} | {
    name: name for name in ("fp8e4b8", "fp8e4b15", "fp8e5b16")
}

# How numpy names what arrays hold; the last three are those of the package ml_dtypes.
_OF_NUMPY = {dtype.held.name: dtype for dtype in TYPES if dtype.held == dtype.stored} | {
    "bool": int1,
    "bfloat16": bfloat16,
    "float8_e5m2": float8e5,
    "float8_e4m3fn": float8e4nv,
}

_OF_TEXT = {dtype.name: dtype for dtype in TYPES} | {
    **{f"i{dtype.primitive_bitwidth}": dtype for dtype in TYPES if dtype.is_int_signed()},
    **{f"u{dtype.primitive_bitwidth}": dtype for dtype in TYPES if dtype.is_int_unsigned()},
    "u1": int1,
}


def of_numpy(dtype: "np.dtype[Any]") -> DType | None:
    """Element type of an array of a numpy type; none where there is none."""
    return _OF_NUMPY.get(dtype.name)


def of_annotation(annotation: object) -> DType | None:
    """Element type that an argument's annotation asks for: a type or its short name."""
    return annotation if isinstance(annotation, DType) else _OF_TEXT.get(str(annotation).strip("'"))


def of_number(value: float) -> DType:
    """Type that a number in the source has by itself, as Triton chooses it.

    >>> of_number(True), of_number(7), of_number(2**31), of_number(-2**40), of_number(0.5)
    (int1, int32, uint32, int64, fp32)
    """
    if isinstance(value, bool):
        return int1
    if isinstance(value, int):
        for dtype in (int32, uint32, int64, uint64):
            bounds = np.iinfo(dtype.held)
            if bounds.min <= value <= bounds.max:
                return dtype
        raise OverflowError(f"{value} fits no integer type")
    size = abs(value)
    small = np.finfo(np.float32)
    fits = size in (0.0, np.inf) or size != size or small.tiny <= size <= small.max
    return float32 if fits else float64


def promoted(one: DType, two: DType, division: bool = False) -> DType:
    """Type in which two elements meet, by Triton's rules.

    Parameters
    ----------
    one, two
        Types of the operands.
    division
        Division and remainder of floats happen in at least 32 bits.

    >>> promoted(int32, float16), promoted(float16, bfloat16), promoted(int8, uint8)
    (fp16, fp16, uint8)
    """
    pair = {one.name, two.name}
    if one.is_floating() or two.is_floating():
        if "fp64" in pair:
            return float64
        if division or "fp32" in pair:
            return float32
        return _narrow_pair(one, two, pair)
    if one.is_int_unsigned() == two.is_int_unsigned():
        return one if one.primitive_bitwidth > two.primitive_bitwidth else two
    unsigned, signed = (one, two) if one.is_int_unsigned() else (two, one)
    return unsigned if unsigned.primitive_bitwidth >= signed.primitive_bitwidth else signed


def _narrow_pair(one: DType, two: DType, pair: set[str]) -> DType:
    if "fp16" in pair:
        return float16
    if "bf16" in pair:
        return bfloat16 if len(pair) == 1 else float32
    if one.is_fp8() and two.is_fp8():
        return one if one == two else float16
    raise UnsupportedError(f"no operation takes {one} and {two}; convert one of them with .to()")
