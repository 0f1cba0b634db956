"""Logic, shifts, and operations on bits and bytes."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.binding import Registers
from pipeline.compiled.instruction import Instruction, Predicate
from pipeline.compiled.semantics.step import (
    Bind,
    Step,
    binary32,
    carries,
    conditions,
    immediate,
    only,
    result,
    unary32,
    values,
)

# ---------- logic and shifts ----------


def look_up(table: int, a: NDArray, b: NDArray, c: NDArray) -> NDArray:
    """Apply a table of three bits to every bit: bit 4a + 2b + c of the table is the result."""
    simple = _SIMPLE.get(table)
    if simple is not None:
        return simple(a, b, c)
    total = None
    for index in range(8):
        if table >> index & 1:
            term = (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
            total = term if total is None else total | term
    return a ^ a if total is None else total


_SIMPLE: dict[int, Callable[[NDArray, NDArray, NDArray], NDArray]] = {
    0xC0: lambda a, b, _: a & b,
    0xFC: lambda a, b, _: a | b,
    0x3C: lambda a, b, _: a ^ b,
    0x33: lambda _a, b, _c: ~b,
    0x0C: lambda a, b, _: ~a & b,
    0x30: lambda a, b, _: a & ~b,
    0xF8: lambda a, b, c: a | (b & c),
    0xFE: lambda a, b, c: a | b | c,
    0x96: lambda a, b, c: a ^ b ^ c,
    0x80: lambda a, b, c: a & b & c,
}


def _lop3(instruction: Instruction, registers: Registers) -> Step:
    """Bind LOP3.LUT: any function of three bits, and whether the result differs from zero."""
    only(instruction, "LUT", "PAND")
    a, b, c, table = values(instruction)[:4]
    lut = immediate(instruction, table)
    gets = [registers.u32(one) for one in (a, b, c)]
    put = registers.put(result(instruction))
    outgoing = [registers.put_truth(one) for one in carries(instruction)]
    into = registers.truth(conditions(instruction)[0]) if conditions(instruction) else None
    join = np.logical_and if instruction.has("PAND") else np.logical_or

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        value = look_up(lut, *(get() for get in gets))
        for put_truth in outgoing:
            differs = value != 0
            put_truth(join(differs, into()) if into else differs, mask)
        put(value, mask)

    return step


def _plop3(instruction: Instruction, registers: Registers) -> Step:
    """Bind PLOP3.LUT: two functions of three predicates."""
    only(instruction, "LUT")
    a, b, c = (registers.truth(one) for one in conditions(instruction))
    tables = [immediate(instruction, one) for one in values(instruction)]
    puts = [registers.put_truth(one) for one in carries(instruction)]

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        given = a().copy(), b().copy(), c().copy()
        for table, put in zip(tables, puts, strict=False):
            put(look_up(table, *given), mask)

    return step


def _shf(instruction: Instruction, registers: Registers) -> Step:
    """Bind SHF: a window of 32 bits out of the 64 of two registers, shifted."""
    only(instruction, "L", "R", "W", "U32", "S32", "U64", "S64", "HI")
    low, amount, high = (registers.u32(one) for one in values(instruction))
    put = registers.put(result(instruction))
    left, upper = instruction.has("L"), instruction.has("HI")
    wide = instruction.has("U64") or instruction.has("S64")
    signed_ = instruction.has("S32") or instruction.has("S64")
    limit = 64 if wide else 32
    wraps = instruction.has("W")

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        by = amount().astype(np.uint64)
        by = by & np.uint64(limit - 1) if wraps else np.minimum(by, np.uint64(limit))
        value = low().astype(np.uint64) | high().astype(np.uint64) << np.uint64(32)
        if left:
            moved = _left(value, by)
        elif signed_:
            moved = (value.view(np.int64) >> np.minimum(by, np.uint64(63)).view(np.int64)).view(
                np.uint64
            )
        else:
            moved = _right(value, by)
        put((moved >> np.uint64(32) if upper else moved).astype(np.uint32), mask)

    if not upper and left and not wide:
        return _shift_left32(instruction, registers)
    return step


def _shift_left32(instruction: Instruction, registers: Registers) -> Step:
    low, amount, _ = (registers.u32(one) for one in values(instruction))
    put = registers.put(result(instruction))
    wraps = instruction.has("W")

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        by = amount()
        by = by & np.uint32(31) if wraps else np.minimum(by, np.uint32(32))
        put(_left(low().astype(np.uint64), by.astype(np.uint64)).astype(np.uint32), mask)

    return step


def _left(value: NDArray[np.uint64], by: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Shift left; 64 places leave nothing."""
    return np.where(by >= 64, np.uint64(0), value << np.minimum(by, np.uint64(63)))


def _right(value: NDArray[np.uint64], by: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Shift right; 64 places leave nothing."""
    return np.where(by >= 64, np.uint64(0), value >> np.minimum(by, np.uint64(63)))


# ---------- bits and bytes ----------


def permute(a: NDArray, selector: NDArray, b: NDArray) -> NDArray:
    """Pick four of the eight bytes of b:a; bit 3 of a choice replicates the sign."""
    joined = a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)
    total = np.zeros_like(a)
    for place in range(4):
        choice = selector >> np.uint32(4 * place) & np.uint32(15)
        byte = joined >> ((choice & np.uint32(7)) * np.uint32(8)).astype(np.uint64) & np.uint64(255)
        sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
        picked = np.where(choice & np.uint32(8), sign, byte).astype(np.uint32)
        total |= picked << np.uint32(8 * place)
    return total


def _prmt(instruction: Instruction, registers: Registers) -> Step:
    only(instruction)
    a, selector, b = (registers.u32(one) for one in values(instruction))
    put = registers.put(result(instruction))
    return lambda mask, _lanes: put(permute(a(), selector(), b()), mask)


def bit_reverse(value: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Turn the bits of a word round."""
    for shift, keep in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
        kept = np.uint32(keep)
        value = (value >> np.uint32(shift) & kept) | (value & kept) << np.uint32(shift)
    return value >> np.uint32(16) | value << np.uint32(16)


def _flo(instruction: Instruction, registers: Registers) -> Step:
    """Bind FLO: place of the leading one (or the first bit unlike the sign); .SH counts from it."""
    only(instruction, "U32", "S32", "SH")
    a, put = registers.u32(values(instruction)[0]), registers.put(result(instruction))
    without_sign, from_top = instruction.has("U32"), instruction.has("SH")

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        value = a()
        if not without_sign:
            value = value ^ (value.view(np.int32) >> 31).view(np.uint32)
        place = np.frexp(value.astype(np.float64))[1] - 1
        found = 31 - place if from_top else place
        put(np.where(value == 0, -1, found).astype(np.int32), mask)

    return step


def _sign_extend(instruction: Instruction, registers: Registers) -> Step:
    """Bind SGXT: the lowest b bits of a, extended by their sign or by zeros."""
    only(instruction, "U32", "W")
    a, b = (registers.u32(one) for one in values(instruction)[:2])
    put = registers.put(result(instruction))
    plain = instruction.has("U32")

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        by = 32 - np.minimum(b(), np.uint32(32)).astype(np.int64)
        value = a().astype(np.int64) << (by + 32)
        moved = value.view(np.uint64) >> (by + 32).view(np.uint64) if plain else value >> (by + 32)
        put(np.where(by == 32, 0, moved.view(np.int64)).astype(np.uint32), mask)

    return step


def _bit_mask(a: NDArray[np.uint32], b: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return b ones from bit a on."""
    ones = (np.uint64(1) << np.minimum(b, np.uint32(32)).astype(np.uint64)) - np.uint64(1)
    return _left(ones, np.minimum(a, np.uint32(32)).astype(np.uint64)).astype(np.uint32)


def popcount(value: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Count the ones of every word."""
    return np.bitwise_count(value).astype(np.uint32)


def _predicates_to_register(instruction: Instruction, registers: Registers) -> Step:
    """Bind P2R: predicates as bits, in the places that a mask picks, the rest from a register."""
    only(instruction)
    sources = instruction.sources
    keep = registers.u32(sources[1])
    chosen = immediate(instruction, sources[2])
    put = registers.put(result(instruction))
    rows = registers.predicates

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        value = keep() & np.uint32(~chosen & 0xFFFFFFFF)
        for number in range(7):
            if chosen >> number & 1:
                value = value | rows[number].astype(np.uint32) << np.uint32(number)
        put(value, mask)

    return step


def _register_to_predicates(instruction: Instruction, registers: Registers) -> Step:
    """Bind R2P: bits of a register into the predicates that a mask picks."""
    only(instruction)
    value, chosen = (
        registers.u32(instruction.sources[0]),
        immediate(instruction, instruction.sources[1]),
    )
    puts = [
        (number, registers.put_truth(Predicate("P", number)))
        for number in range(7)
        if chosen >> number & 1
    ]

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        bits = value()
        for number, put in puts:
            put((bits >> np.uint32(number) & np.uint32(1)).astype(np.bool_), mask)

    return step


BINDERS: dict[str, Bind] = {
    "LOP3": _lop3,
    "PLOP3": _plop3,
    "SHF": _shf,
    "PRMT": _prmt,
    "BREV": unary32(bit_reverse),
    "POPC": unary32(popcount),
    "FLO": _flo,
    "SGXT": _sign_extend,
    "BMSK": binary32(_bit_mask),
    "P2R": _predicates_to_register,
    "R2P": _register_to_predicates,
}
