"""Half precision, two numbers to a register."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.binding import Registers
from pipeline.compiled.instruction import Instruction, Operand
from pipeline.compiled.semantics.compare import JOIN, comparison
from pipeline.compiled.semantics.floats import pick
from pipeline.compiled.semantics.step import (
    Bind,
    Step,
    conditions,
    only,
    refuse,
    result,
    values,
)

Pair = tuple[NDArray[np.float32], NDArray[np.float32]]
_HIDDEN_BITS = np.uint32(16)
_ALL_ONES = np.uint32(0xFFFF)


def from_half(bits: NDArray[np.uint32], bfloat: bool = False) -> NDArray[np.float32]:
    """Return the numbers that the lower 16 bits of words encode."""
    if bfloat:
        return (bits << _HIDDEN_BITS).view(np.float32)
    return bits.astype(np.uint16).view(np.float16).astype(np.float32)


def to_half(value: NDArray, bfloat: bool = False) -> NDArray[np.uint32]:
    """Encode numbers in 16 bits, rounded to nearest and even, in the lower half of words."""
    if not bfloat:
        with np.errstate(over="ignore"):
            return value.astype(np.float16).view(np.uint16).astype(np.uint32)
    bits = value.astype(np.float32).view(np.uint32)
    up = np.uint32(0x7FFF) + (bits >> _HIDDEN_BITS & np.uint32(1))
    return np.where(np.isnan(value), np.uint32(0x7FFF), (bits + up) >> _HIDDEN_BITS)


def pair(registers: Registers, operand: Operand, bfloat: bool) -> Callable[[], Pair]:
    """Return a reader of both numbers of an operand, as its suffixes pick them."""
    suffixes = getattr(operand, "suffixes", ())
    word = registers.word(operand)
    negative = getattr(operand, "negative", False)
    absolute = getattr(operand, "absolute", False)

    def signed(value: NDArray[np.float32]) -> NDArray[np.float32]:
        size = np.abs(value) if absolute else value
        return -size if negative else size

    def get() -> Pair:
        if "F32" in suffixes:
            one = signed(word.view(np.float32))
            return one, one
        low, high = from_half(word, bfloat), from_half(word >> _HIDDEN_BITS, bfloat)
        if "H0_H0" in suffixes:
            high = low
        elif "H1_H1" in suffixes:
            low = high
        return signed(low), signed(high)

    return get


def operands(instruction: Instruction) -> list[Operand]:
    """Return the operands; two numbers that stand for a pair of immediates count once."""
    found = []
    rest = iter(values(instruction))
    for one in rest:
        found.append(one)
        if getattr(one, "real", False):
            next(rest)
    return found


def _arithmetic(function: Callable[..., NDArray]) -> Bind:
    """Return a binder for a function of numbers in half precision, done in double precision."""

    def bind(instruction: Instruction, registers: Registers) -> Step:
        only(instruction, "MMA", "F32", "BF16_V2", "SAT", "RELU", "FTZ", "F16", "BF16", "FMZ")
        bfloat = instruction.has("BF16_V2") or instruction.has("BF16")
        gets = [pair(registers, one, bfloat) for one in operands(instruction)]
        put = registers.put(result(instruction))
        single = instruction.has("F32")
        target = result(instruction)
        if getattr(target, "suffixes", ()):
            raise refuse(instruction, "a result in one half of a register")

        def finish(value: NDArray) -> NDArray:
            if instruction.has("SAT"):
                value = np.clip(value, 0, 1)
            return np.maximum(value, 0) if instruction.has("RELU") else value

        def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
            pairs = [get() for get in gets]
            low = finish(function(*(one[0].astype(np.float64) for one in pairs)))
            if single:
                put(low.astype(np.float32), mask)
                return
            high = finish(function(*(one[1].astype(np.float64) for one in pairs)))
            put(to_half(low, bfloat) | to_half(high, bfloat) << _HIDDEN_BITS, mask)

        return step

    return bind


def _minimum(instruction: Instruction, registers: Registers) -> Step:
    only(instruction, "BF16_V2", "NAN")
    bfloat = instruction.has("BF16_V2")
    a, b = (pair(registers, one, bfloat) for one in operands(instruction)[:2])
    truth, put = registers.truth(conditions(instruction)[0]), registers.put(result(instruction))

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        smaller = truth()
        low, high = (pick(x, y, smaller) for x, y in zip(a(), b(), strict=True))
        put(to_half(low, bfloat) | to_half(high, bfloat) << _HIDDEN_BITS, mask)

    return step


def _compare(instruction: Instruction, registers: Registers) -> Step:
    """Bind HSETP2: one predicate for each half; with .H_AND both must hold."""
    bfloat = instruction.has("BF16_V2")
    names = [one for one in instruction.modifiers if one not in ("BF16_V2", "H_AND", "FTZ")]
    compare = comparison(names[0], instruction)
    join = JOIN[names[1]]
    a, b = (pair(registers, one, bfloat) for one in operands(instruction)[:2])
    given = registers.truth(conditions(instruction)[0])
    first, second = (registers.put_truth(one) for one in instruction.results)

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        low, high = (compare(x, y) for x, y in zip(a(), b(), strict=True))
        other = given()
        if instruction.has("H_AND"):
            low, high = low & high, ~(low & high)
        outcomes = join(low, other), join(high, other)
        first(outcomes[0], mask)
        second(outcomes[1], mask)

    return step


def _set(instruction: Instruction, registers: Registers) -> Step:
    """Bind HSET2: a comparison of each half as a number, 1.0 with .BF, all ones without."""
    bfloat = instruction.has("BF16_V2")
    names = [one for one in instruction.modifiers if one not in ("BF16_V2", "BF", "FTZ")]
    only(instruction, *names[:2], "BF16_V2", "BF", "FTZ")
    compare, join = comparison(names[0], instruction), JOIN[names[1]]
    a, b = (pair(registers, one, bfloat) for one in operands(instruction)[:2])
    given, put = registers.truth(conditions(instruction)[0]), registers.put(result(instruction))
    one = to_half(np.ones(1, np.float32), bfloat)[0] if instruction.has("BF") else _ALL_ONES

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        other = given()
        low, high = (join(compare(x, y), other) for x, y in zip(a(), b(), strict=True))
        put(np.where(low, one, 0) | np.where(high, one, 0).astype(np.uint32) << _HIDDEN_BITS, mask)

    return step


BINDERS: dict[str, Bind] = {
    "HADD2": _arithmetic(lambda a, b: a + b),
    "HMUL2": _arithmetic(lambda a, b: a * b),
    "HFMA2": _arithmetic(lambda a, b, c: a * b + c),
    "HMNMX2": _minimum,
    "HSETP2": _compare,
    "HSET2": _set,
}
