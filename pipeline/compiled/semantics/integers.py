"""Integer arithmetic, logic and shifts."""

from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.binding import Get, Registers
from pipeline.compiled.instruction import Instruction, Operand
from pipeline.compiled.semantics.step import (
    Bind,
    Step,
    binary32,
    carries,
    conditions,
    immediate,
    low_word,
    only,
    refuse,
    result,
    signed,
    unary32,
    unsigned,
    values,
)

_WORD_BITS = 32


# ---------- addition ----------


def _add3(instruction: Instruction, registers: Registers) -> Step:
    """Bind IADD3: a + b + c, with carries in and out.

    In an extended sum (.X) a negative operand is given as its complement.
    """
    only(instruction, "X", "64")
    if instruction.has("64"):
        x, y, z = (registers.u64(one) for one in values(instruction))
        put64 = registers.put64(result(instruction))
        return lambda mask, _lanes: put64(x() + y() + z(), mask)
    sources = [registers.u32(one) for one in values(instruction)]
    into = [registers.truth(one) for one in conditions(instruction)]
    put = registers.put(result(instruction))
    outgoing = [one for one in carries(instruction) if one.number is not None]
    if not into and not outgoing:
        a, b, c = sources
        return lambda mask, _lanes: put(a() + b() + c(), mask)
    # The carry of a - b is that of a + ~b + 1: the negative of zero brings one of its own.
    minus = sum(bool(getattr(one, "negative", False)) for one in values(instruction))
    plain = [
        registers.u32(_complemented(one)) if getattr(one, "negative", False) else get
        for one, get in zip(values(instruction), sources, strict=True)
    ]
    wide = [unsigned(get) for get in plain]
    put_carry = [registers.put_truth(one) for one in outgoing]

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        total = wide[0]() + wide[1]() + wide[2]() + minus
        for carry in into:
            total = total + carry()
        for number, put_one in enumerate(put_carry):
            put_one(total >= ((number + 1) << _WORD_BITS), mask)
        put(low_word(total), mask)

    return step


def _complemented(operand: Operand) -> Operand:
    """Return ``~x`` for ``-x``."""
    fields = {name: getattr(operand, name) for name in operand.__slots__}
    return type(operand)(**fields | {"negative": False, "inverted": True})


def _add64(instruction: Instruction, registers: Registers) -> Step:
    """Bind IADD.64, the sum of two 64-bit integers."""
    if not instruction.has("64"):
        a, b = (registers.u32(one) for one in values(instruction)[:2])
        put = registers.put(result(instruction))
        return lambda mask, _lanes: put(a() + b(), mask)
    only(instruction, "64")
    x, y = (registers.u64(one) for one in values(instruction)[:2])
    put64 = registers.put64(result(instruction))
    return lambda mask, _lanes: put64(x() + y(), mask)


# ---------- multiplication ----------


def _multiply_add(instruction: Instruction, registers: Registers) -> Step:
    """Bind IMAD and its kinds: a * b + c of 32, 64 or the upper 32 bits."""
    only(instruction, "WIDE", "U32", "HI", "X", "MOV", "IADD", "SHL", "S32")
    a, b, c = values(instruction)
    if instruction.has("WIDE") or instruction.has("HI"):
        return _multiply_long(instruction, registers, a, b, c)
    put = registers.put(result(instruction))
    x, y, z = (registers.u32(one) for one in (a, b, c))
    into = [registers.truth(one) for one in conditions(instruction)]
    if into:
        return lambda mask, _lanes: put(x() * y() + z() + into[0]().astype(np.uint32), mask)
    return lambda mask, _lanes: put(x() * y() + z(), mask)


def _factors(instruction: Instruction, registers: Registers, a: Operand, b: Operand) -> list[Get]:
    """Read both factors, with or without sign, in 64 bits."""
    widen = unsigned if instruction.has("U32") else signed
    return [widen(registers.u32(one)) for one in (a, b)]


def _multiply_long(
    instruction: Instruction, registers: Registers, a: Operand, b: Operand, c: Operand
) -> Step:
    """Take a * b + c with a product and a c of 64 bits, or (.HI) the upper word of it."""
    x, y = _factors(instruction, registers, a, b)
    target = result(instruction)
    upper = instruction.has("HI")
    z, put = registers.u64(c), registers.put(target) if upper else registers.put64(target)
    outgoing = [registers.put_truth(one) for one in carries(instruction)]
    into = [registers.truth(one) for one in conditions(instruction)]

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        added = z()
        total = (x() * y()).view(np.uint64) + added
        carried = total < added
        for carry in into:
            more = total + carry().astype(np.uint64)
            carried = carried | (more < total)
            total = more
        for put_carry in outgoing:
            put_carry(carried, mask)
        put((total >> np.uint64(_WORD_BITS)).astype(np.uint32) if upper else total, mask)

    return step


# ---------- addresses ----------


def _lea(instruction: Instruction, registers: Registers) -> Step:
    """Bind LEA: (a << s) + b, or with .HI the upper word of the 64-bit a shifted, plus b."""
    only(instruction, "HI", "X", "SX32")
    sources = values(instruction)
    shift = immediate(instruction, sources[-1]) & 31
    a, b = registers.u32(sources[0]), registers.u32(sources[1])
    minus = any(getattr(one, "negative", False) for one in sources)
    high = registers.u32(sources[2]) if len(sources) > 3 else None
    put = registers.put(result(instruction))
    outgoing = [registers.put_truth(one) for one in carries(instruction)]
    into = [registers.truth(one) for one in conditions(instruction)]

    def shifted() -> NDArray[np.int64]:
        if not instruction.has("HI"):
            return (a().astype(np.int64) << shift) & 0xFFFFFFFF
        low = a().astype(np.uint64)
        if instruction.has("SX32"):
            top = a().view(np.int32) >> 31
            upper = top.view(np.uint32).astype(np.uint64)
        else:
            upper = high().astype(np.uint64) if high else np.zeros(low.shape, np.uint64)
        joined = low | upper << np.uint64(_WORD_BITS)
        return (joined >> np.uint64(_WORD_BITS - shift)).astype(np.int64) & 0xFFFFFFFF

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        total = shifted() + b()
        for carry in into:
            total = total + carry()
        for put_carry in outgoing:
            put_carry(total >> _WORD_BITS != 0, mask)
        put(low_word(total), mask)

    if minus and outgoing:
        raise refuse(instruction, "a carry out of a difference")
    return step


# ---------- choices and bytes ----------


# Whole words, or parts of them that are compared each for itself.
_COMPARED: dict[str, type[np.integer]] = {
    "U32": np.uint32, "S32": np.int32, "U16x2": np.uint16, "S16x2": np.int16, "U8x4": np.uint8,
    "S8x4": np.int8,
}  # fmt: skip


def _parts_of(value: NDArray, kind: type[np.integer], lanes: int) -> NDArray:
    """Return the parts of words, (lanes, parts)."""
    return np.ascontiguousarray(value).view(kind).reshape(lanes, -1)


def _minimum(instruction: Instruction, registers: Registers) -> Step:
    """Bind IMNMX and VIMNMX: the smaller where the predicate holds, else the larger.

    Of three numbers a single predicate chooses both times.
    """
    if instruction.has("S64") or instruction.has("U64"):
        return _minimum64(instruction, registers)
    only(instruction, "RELU", *_COMPARED)
    operands = values(instruction)
    gets = [registers.u32(one) for one in operands]
    truths = [registers.truth(one) for one in conditions(instruction)]
    put = registers.put(result(instruction))
    kind = next((_COMPARED[one] for one in instruction.modifiers if one in _COMPARED), np.int32)
    relu = instruction.has("RELU")

    def step(mask: NDArray[np.bool_] | None, lanes: NDArray[np.bool_]) -> None:
        chosen = _parts_of(gets[0](), kind, lanes.size)
        for get, truth in zip(gets[1:], cycle(truths), strict=False):
            other, smaller = _parts_of(get(), kind, lanes.size), truth()[:, None]
            chosen = np.where(smaller, np.minimum(chosen, other), np.maximum(chosen, other))
        if relu:
            chosen = np.maximum(chosen, kind(0))
        put(chosen.view(np.uint32)[:, 0], mask)

    return step


def _minimum64(instruction: Instruction, registers: Registers) -> Step:
    """Bind IMNMX on 64 bits: the smaller where the first predicate holds, else the larger."""
    only(instruction, "S64", "U64")
    further = [*carries(instruction), *conditions(instruction)[1:]]
    if any(one.number is not None for one in further):
        raise refuse(instruction, "a choice that depends on another one")
    kind = np.int64 if instruction.has("S64") else np.uint64
    a, b = (registers.u64(one) for one in values(instruction))
    truth, put = registers.truth(conditions(instruction)[0]), registers.put64(result(instruction))

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        x, y = a().view(kind), b().view(kind)
        put(np.where(truth(), np.minimum(x, y), np.maximum(x, y)), mask)

    return step


def _add_minimum(instruction: Instruction, registers: Registers) -> Step:
    """Bind VIADDMNMX: the smaller or larger of a + b and c."""
    only(instruction, "U32", "S32")
    a, b, c = (registers.u32(one) for one in values(instruction))
    truth = registers.truth(conditions(instruction)[0])
    put = registers.put(result(instruction))
    kind = np.uint32 if instruction.has("U32") else np.int32

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        total, other = (a() + b()).view(kind), c().view(kind)
        put(np.where(truth(), np.minimum(total, other), np.maximum(total, other)), mask)

    return step


def _select(instruction: Instruction, registers: Registers) -> Step:
    """Bind SEL: a where the predicate holds, else b."""
    only(instruction, "64")
    a, b = values(instruction)
    truth = registers.truth(conditions(instruction)[0])
    if instruction.has("64"):
        x, y, put64 = registers.u64(a), registers.u64(b), registers.put64(result(instruction))
        return lambda mask, _lanes: put64(np.where(truth(), x(), y()), mask)
    p, q, put = registers.u32(a), registers.u32(b), registers.put(result(instruction))
    return lambda mask, _lanes: put(np.where(truth(), p(), q()), mask)


_PARTS: dict[str, type[np.integer]] = {
    "S8": np.int8, "U8": np.uint8, "S16": np.int16, "U16": np.uint16,
}  # fmt: skip


def _dot(instruction: Instruction, registers: Registers) -> Step:
    """Bind IDP: the dot product of four bytes each, or of two words and two bytes, added to c."""
    only(instruction, "4A", "2A", "LO", "HI", *_PARTS)
    pairs = instruction.has("2A")
    kinds = [one for one in instruction.modifiers if one in _PARTS] or ["S8", "S8"]
    types = [_PARTS[kind] for kind in kinds]
    second = slice(2, 4) if instruction.has("HI") else slice(0, 2 if pairs else 4)
    a, b, c = (registers.u32(one) for one in values(instruction))
    put = registers.put(result(instruction))

    def step(mask: NDArray[np.bool_] | None, lanes: NDArray[np.bool_]) -> None:
        x, y = (
            _parts_of(get(), kind, lanes.size).astype(np.int64)
            for get, kind in zip((a, b), types, strict=True)
        )
        put(low_word((x * y[:, second]).sum(axis=1)) + c(), mask)

    return step


def _difference(instruction: Instruction, registers: Registers) -> Step:
    """Bind VABSDIFF: |a - b| + c."""
    only(instruction, "U32")
    widen = unsigned if instruction.has("U32") else signed
    a, b = (widen(registers.u32(one)) for one in values(instruction)[:2])
    c, put = registers.u32(values(instruction)[2]), registers.put(result(instruction))
    return lambda mask, _lanes: put(low_word(np.abs(a() - b())) + c(), mask)


def _differences(instruction: Instruction, registers: Registers) -> Step:
    """Bind VABSDIFF4: |a - b| of every byte, or their sum added to c (ACC)."""
    only(instruction, "U8", "S8", "ACC")
    kind, summed = _PARTS["S8" if instruction.has("S8") else "U8"], instruction.has("ACC")
    a, b, c = (registers.u32(one) for one in values(instruction)[:3])
    put = registers.put(result(instruction))

    def step(mask: NDArray[np.bool_] | None, lanes: NDArray[np.bool_]) -> None:
        x, y = (_parts_of(get(), kind, lanes.size).astype(np.int64) for get in (a, b))
        apart = np.abs(x - y)
        if summed:
            put(low_word(apart.sum(axis=1)) + c(), mask)
        else:
            put(apart.astype(np.uint8).view(np.uint32)[:, 0], mask)

    return step


def _absolute(value: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return np.abs(value.view(np.int32)).view(np.uint32)


def _move(instruction: Instruction, registers: Registers) -> Step:
    """Bind MOV, of 32 or 64 bits."""
    only(instruction, "64", "U32")
    source = values(instruction)[0]
    if instruction.has("64"):
        get, put64 = registers.u64(source), registers.put64(result(instruction))
        return lambda mask, _lanes: put64(get(), mask)
    read, put = registers.u32(source), registers.put(result(instruction))
    return lambda mask, _lanes: put(read(), mask)


BINDERS: dict[str, Bind] = {
    "IADD3": _add3,
    "IADD": _add64,
    "VIADD": binary32(np.add),
    "IMAD": _multiply_add,
    "LEA": _lea,
    "IABS": unary32(_absolute),
    "IMNMX": _minimum,
    "VIMNMX": _minimum,
    "VIMNMX3": _minimum,
    "VIADDMNMX": _add_minimum,
    "SEL": _select,
    "IDP": _dot,
    "VABSDIFF": _difference,
    "VABSDIFF4": _differences,
    "MOV": _move,
}
