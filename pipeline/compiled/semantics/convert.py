"""Conversions between integers and real numbers of every width."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.binding import Get, Registers
from pipeline.compiled.instruction import Instruction, Operand
from pipeline.compiled.semantics.floats import finish, rounded
from pipeline.compiled.semantics.halves import from_half, to_half
from pipeline.compiled.semantics.step import Bind, Step, only, refuse, result, values

_TO_INTEGER = {"TRUNC": np.trunc, "FLOOR": np.floor, "CEIL": np.ceil}
_INTEGERS: dict[str, Any] = {
    "S8": np.int8, "U8": np.uint8, "S16": np.int16, "U16": np.uint16, "S32": np.int32,
    "U32": np.uint32, "S64": np.int64, "U64": np.uint64,
}  # fmt: skip
_MODES = ("RN", "RM", "RP", "RZ")


def _real(registers: Registers, operand: Operand, kind: str) -> Get:
    """Read real numbers of a kind in double precision."""
    if kind == "F64":
        return registers.f64(operand)
    if kind in ("F16", "BF16"):
        word, upper = registers.word(operand), "H1_H1" in getattr(operand, "suffixes", ())
        shift = np.uint32(16 if upper else 0)
        sign = -1.0 if getattr(operand, "negative", False) else 1.0
        return lambda: sign * from_half(word >> shift, kind == "BF16").astype(np.float64)
    get = registers.f32(operand)
    return lambda: get().astype(np.float64)


def _integer(registers: Registers, operand: Operand, kind: str) -> Get:
    """Read integers of a kind; narrow ones from the byte or half that the suffix names."""
    if kind in ("S64", "U64"):
        wide = registers.u64(operand)
        return lambda: wide().view(_INTEGERS[kind])
    get = registers.u32(operand)
    if kind in ("S32", "U32"):
        return lambda: get().view(_INTEGERS[kind])
    suffix = next(iter(getattr(operand, "suffixes", ())), "")
    place = int(suffix[1]) * (8 if suffix[0] == "B" else 16) if suffix else 0
    size = 8 * np.dtype(_INTEGERS[kind]).itemsize
    ones = np.uint32((1 << size) - 1)
    return lambda: (get() >> np.uint32(place) & ones).astype(f"u{size // 8}").view(_INTEGERS[kind])


def _kinds(instruction: Instruction, known: tuple[str, ...]) -> list[str]:
    return [one for one in instruction.modifiers if one in known]


def _from_integer(instruction: Instruction, registers: Registers) -> Step:
    """Bind I2F and I2FP: an integer as a real number."""
    only(instruction, *_INTEGERS, "F16", "F32", "F64", *_MODES)
    source = next(iter(_kinds(instruction, tuple(_INTEGERS))), "S32")
    target = next(iter(_kinds(instruction, ("F16", "F32", "F64"))), "F32")
    get = _integer(registers, values(instruction)[0], source)
    mode = next(iter(_kinds(instruction, _MODES)), "RN")
    if target == "F64":
        put64 = registers.put64(result(instruction))
        if source in ("S64", "U64"):
            return lambda mask, _lanes: put64(rounded_integer(get(), mode, np.float64), mask)
        return lambda mask, _lanes: put64(get().astype(np.float64), mask)
    put = registers.put(result(instruction))
    if target == "F16":
        return lambda mask, _lanes: put(to_half(get().astype(np.float64)), mask)
    if source in ("S64", "U64"):
        return lambda mask, _lanes: put(rounded_integer(get(), mode), mask)
    return lambda mask, _lanes: put(rounded(get().astype(np.float64), mode), mask)


def rounded_integer(value: NDArray, mode: str, kind: Any = np.float32) -> NDArray:
    """Round 64-bit integers to single or double precision; in two steps it would happen twice."""
    near = value.astype(kind)
    if mode == "RN":
        return near
    largest = kind(2.0) ** kind(63 if value.dtype == np.int64 else 64)
    fits = near < largest
    back = np.where(fits, near, kind(0)).astype(value.dtype)
    low, high = fits & (back < value), ~fits | (back > value)
    up = low & ((mode == "RP") | ((mode == "RZ") & (near < 0)))
    down = high & ((mode == "RM") | ((mode == "RZ") & (near > 0)))
    moved = np.where(up, np.nextafter(near, kind(np.inf)), near)
    return np.where(down, np.nextafter(near, kind(-np.inf)), moved).astype(kind)


def to_integer(value: NDArray[np.float64], kind: str, way: str) -> NDArray:
    """Round to an integer, held within the range of its kind; NaN becomes 0.

    The 64-bit kinds give what lies at the lower end of their range for NaN, as hardware does.
    """
    whole = _TO_INTEGER.get(way, np.rint)(value)
    limits = np.iinfo(_INTEGERS[kind])
    lowest, highest = float(limits.min), float(limits.max)
    inside = np.clip(np.nan_to_num(whole, nan=0.0), lowest, highest)
    if not kind.endswith("64"):
        return inside.astype(np.int64).astype(_INTEGERS[kind])
    # The largest 64-bit integers are no doubles.
    top = whole >= highest
    plain = np.where(top, 0.0, inside).astype(_INTEGERS[kind])
    filled = np.where(top, np.array(limits.max, _INTEGERS[kind]), plain)
    return np.where(np.isnan(value), np.array(limits.min, _INTEGERS[kind]), filled)


def _from_real(instruction: Instruction, registers: Registers) -> Step:
    """Bind F2I: a real number as an integer."""
    only(instruction, *_INTEGERS, *_TO_INTEGER, "F16", "F32", "F64", "FTZ", "NTZ", "ROUND")
    target = next(iter(_kinds(instruction, tuple(_INTEGERS))), "S32")
    source = next(iter(_kinds(instruction, ("F16", "F32", "F64"))), "F32")
    way = next(iter(_kinds(instruction, tuple(_TO_INTEGER))), "RINT")
    get = _real(registers, values(instruction)[0], source)
    if target.endswith("64"):
        put64 = registers.put64(result(instruction))
        return lambda mask, _lanes: put64(to_integer(get(), target, way), mask)
    put = registers.put(result(instruction))

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        value = to_integer(get(), target, way)
        put(value.astype(np.int64).astype(np.uint32), mask)

    return step


def _between(instruction: Instruction, registers: Registers) -> Step:
    """Bind F2F: a real number in another width."""
    only(instruction, "F16", "F32", "F64", "BF16", "FTZ", "SAT", *_MODES)
    kinds = _kinds(instruction, ("F16", "F32", "F64", "BF16"))
    target, source = kinds[0], kinds[1]
    get = _real(registers, values(instruction)[0], source)
    if target == "F64":
        put64 = registers.put64(result(instruction))
        return lambda mask, _lanes: put64(get(), mask)
    put, done = registers.put(result(instruction)), finish(instruction)
    if target == "F32":
        return lambda mask, _lanes: put(done(get()), mask)
    return lambda mask, _lanes: put(to_half(get(), target == "BF16"), mask)


def _round(instruction: Instruction, registers: Registers) -> Step:
    """Bind FRND: a real number rounded to a whole one, which stays real."""
    only(instruction, "F16", "F32", "F64", "FTZ", *_TO_INTEGER)
    way = _TO_INTEGER.get(next(iter(_kinds(instruction, tuple(_TO_INTEGER))), ""), np.rint)
    kind = next(iter(_kinds(instruction, ("F16", "F32", "F64"))), "F32")
    get = _real(registers, values(instruction)[0], kind)
    if kind == "F64":
        put64 = registers.put64(result(instruction))
        return lambda mask, _lanes: put64(way(get()), mask)
    put = registers.put(result(instruction))
    if kind == "F16":
        return lambda mask, _lanes: put(to_half(way(get())), mask)
    return lambda mask, _lanes: put(way(get()).astype(np.float32), mask)


def _pack(instruction: Instruction, registers: Registers) -> Step:
    """Bind F2FP.PACK_AB: two numbers in half precision, the first one in the upper half."""
    only(instruction, "F16", "BF16", "F32", "PACK_AB", "RZ", "RN", "MERGE_C", "RELU")
    if instruction.has("RZ") or instruction.has("MERGE_C"):
        raise refuse(instruction, "this way of packing")
    bfloat = instruction.has("BF16")
    a, b = (registers.f32(one) for one in values(instruction)[:2])
    put = registers.put(result(instruction))

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        high, low = a(), b()
        if instruction.has("RELU"):
            high, low = np.maximum(high, 0), np.maximum(low, 0)
        put(to_half(high, bfloat) << np.uint32(16) | to_half(low, bfloat), mask)

    return step


def _narrow(instruction: Instruction, registers: Registers) -> Step:
    """Bind I2I: an integer held within the range of a narrower kind."""
    only(instruction, *_INTEGERS, "SAT")
    kinds = _kinds(instruction, tuple(_INTEGERS))
    get = _integer(registers, values(instruction)[0], kinds[1] if len(kinds) > 1 else "S32")
    limits, put = np.iinfo(_INTEGERS[kinds[0]]), registers.put(result(instruction))

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        value = get().astype(np.int64)
        if instruction.has("SAT"):
            value = np.clip(value, limits.min, limits.max)
        put(value.astype(_INTEGERS[kinds[0]]).astype(np.int64).astype(np.uint32), mask)

    return step


BINDERS: dict[str, Bind] = {
    "I2F": _from_integer,
    "I2FP": _from_integer,
    "F2I": _from_real,
    "F2F": _between,
    "FRND": _round,
    "F2FP": _pack,
    "I2I": _narrow,
}
