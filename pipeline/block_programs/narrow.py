"""Floats that numpy lacks: rounding to them, their bits, and back."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs.dtypes import DType, bfloat16, float8e4nv, float8e5

Array = NDArray[Any]

NARROW = (bfloat16, float8e5, float8e4nv)

# Largest finite value and exponent of the smallest normal one: OCP 8-bit floating point
# specification (OFP8) 1.0, table 1.
_FP8 = {float8e5.name: (57344.0, -14), float8e4nv.name: (448.0, -6)}


def rounded(values: Array, dtype: DType) -> Array:
    """Round values to the nearest that a type holds, ties to even; as it is held.

    Eight-bit floats saturate at their largest finite value, as Triton's conversions do.
    """
    if dtype == bfloat16:
        return _as_bfloat16(values.astype(np.float32, copy=False))
    if dtype.is_fp8():
        return _as_fp8(values, dtype)
    return values.astype(dtype.held, copy=False)


def as_tf32(values: Array) -> Array:
    """Round float32 values to the ten fraction bits of TF32, ties away from zero (PTX cvt.rna)."""
    bits = values.view(np.uint32)
    kept = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(values), kept.view(np.float32), values)


def to_bits(values: Array, dtype: DType) -> Array:
    """Bits in memory of values that a type holds, as unsigned integers."""
    unsigned = np.dtype(f"uint{8 * dtype.itemsize}")
    if dtype == bfloat16:
        return (np.ascontiguousarray(values).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    if dtype.is_fp8():
        return _fp8_bits(values, dtype)
    return np.ascontiguousarray(values.astype(dtype.stored, copy=False)).view(unsigned)


def from_bits(bits: Array, dtype: DType) -> Array:
    """Values of bits in memory; the inverse of :func:`to_bits`."""
    if dtype == bfloat16:
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if dtype.is_fp8():
        return _fp8_values(dtype)[bits]
    if dtype.is_bool():
        return bits != 0
    return bits.view(dtype.stored)


def _as_bfloat16(values: Array) -> Array:
    bits = np.ascontiguousarray(values).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    kept = (bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), values, kept.view(np.float32))


def _as_fp8(values: Array, dtype: DType) -> Array:
    largest, normal = _FP8[dtype.name]
    wide = values.astype(np.float64)
    exponent = np.maximum(np.frexp(wide)[1] - 1, normal)
    step = np.ldexp(1.0, exponent - dtype.fp_mantissa_width)
    return np.clip(np.rint(wide / step) * step, -largest, largest).astype(np.float32)


@cache
def _fp8_values(dtype: DType) -> Array:
    """Value of every pattern of eight bits."""
    fraction_bits = dtype.fp_mantissa_width
    bits = np.arange(128)
    exponent, fraction = bits >> fraction_bits, bits & ((1 << fraction_bits) - 1)
    normal = _FP8[dtype.name][1]
    significand = np.where(exponent > 0, 1.0, 0.0) + np.ldexp(
        fraction.astype(float), -fraction_bits
    )
    values = np.ldexp(significand, np.maximum(exponent, 1) - 1 + normal)
    if dtype == float8e5:
        values[0x7C], values[0x7D:] = np.inf, np.nan
    else:
        values[0x7F] = np.nan
    return np.concatenate([values, -values]).astype(np.float32)


def _fp8_bits(values: Array, dtype: DType) -> Array:
    positive = _fp8_values(dtype)[:128]
    finite = positive[np.isfinite(positive)]
    bits = np.searchsorted(finite, np.abs(values)).astype(np.uint8)
    bits[np.isnan(values)] = 0x7F
    if dtype == float8e5:
        bits[np.isinf(values)] = 0x7C
    return bits | (np.signbit(values).astype(np.uint8) << np.uint8(7))
