"""Arithmetic in single and double precision, and functions of the special-function unit."""

from collections.abc import Callable
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import fast
from pipeline.compiled.binding import Get, Registers
from pipeline.compiled.fast import fma64
from pipeline.compiled.instruction import Instruction
from pipeline.compiled.semantics.step import (
    Bind,
    Step,
    conditions,
    only,
    result,
    values,
)

_ROUNDING = ("RN", "RM", "RP", "RZ")
_SMALLEST_NORMAL = np.float32(1.1754943508222875e-38)


def flushed(value: NDArray[np.float32]) -> NDArray[np.float32]:
    """Replace numbers below the normal ones by zeros of their sign."""
    return np.where(np.abs(value) < _SMALLEST_NORMAL, value * np.float32(0), value)


def rounded(exact: NDArray[np.float64], mode: str) -> NDArray[np.float32]:
    """Round to single precision: to nearest, down (RM), up (RP) or to zero (RZ)."""
    near = exact.astype(np.float32)
    if mode == "RN":
        return near
    goal = {"RM": -np.inf, "RP": np.inf}.get(mode, 0.0)
    if mode == "RM":
        wrong = near > exact
    elif mode == "RP":
        wrong = near < exact
    else:
        wrong = np.abs(near) > np.abs(exact)
    return np.where(wrong, np.nextafter(near, np.float32(goal)), near).astype(np.float32)


def finish(instruction: Instruction) -> Callable[[NDArray[np.float64]], NDArray[np.float32]]:
    """Return what turns an exact result into a single-precision one, as the modifiers say."""
    mode = next((one for one in instruction.modifiers if one in _ROUNDING), "RN")
    flush, saturate = instruction.has("FTZ"), instruction.has("SAT")

    def done(exact: NDArray[np.float64]) -> NDArray[np.float32]:
        value = rounded(exact, mode)
        if flush:
            value = flushed(value)
        if saturate:
            value = np.clip(np.nan_to_num(value, nan=0.0), 0, 1).astype(np.float32)
        return value

    return done


def _doubled(instruction: Instruction, registers: Registers, count: int) -> list[Get]:
    """Read single-precision operands in double precision."""
    flush = instruction.has("FTZ")

    def widened(get: Get) -> Get:
        if flush:
            return lambda: flushed(get()).astype(np.float64)
        return lambda: get().astype(np.float64)

    return [widened(registers.f32(one)) for one in values(instruction)[:count]]


def _add(instruction: Instruction, registers: Registers) -> Step:
    only(instruction, "FTZ", "SAT", *_ROUNDING)
    a, b = _doubled(instruction, registers, 2)
    put, done = registers.put(result(instruction)), finish(instruction)
    return lambda mask, _lanes: put(done(a() + b()), mask)


def _multiply(instruction: Instruction, registers: Registers) -> Step:
    only(instruction, "FTZ", "SAT", *_ROUNDING)
    a, b = _doubled(instruction, registers, 2)
    put, done = registers.put(result(instruction)), finish(instruction)
    return lambda mask, _lanes: put(done(a() * b()), mask)


def _multiply_add(instruction: Instruction, registers: Registers) -> Step:
    """Bind FFMA: the product is exact in double precision, so that it is rounded once, nearly."""
    only(instruction, "FTZ", "SAT", *_ROUNDING)
    a, b, c = _doubled(instruction, registers, 3)
    put, done = registers.put(result(instruction)), finish(instruction)
    return lambda mask, _lanes: put(done(a() * b() + c()), mask)


def pick(a: NDArray, b: NDArray, smaller: NDArray[np.bool_]) -> NDArray:
    """Return the smaller where wanted, else the larger; a number rather than NaN."""
    return np.where(smaller, np.fmin(a, b), np.fmax(a, b))


def _minimum(instruction: Instruction, registers: Registers) -> Step:
    only(instruction, "FTZ", "NAN")
    gets = [registers.f32(one) for one in values(instruction)]
    truths = [registers.truth(one) for one in conditions(instruction)]
    put = registers.put(result(instruction))

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        chosen = gets[0]()
        # Of three numbers a single predicate chooses both times.
        for get, truth in zip(gets[1:], cycle(truths), strict=False):
            other = get()
            best = pick(chosen, other, truth())
            if instruction.has("NAN"):
                best = np.where(np.isnan(chosen) | np.isnan(other), np.float32(np.nan), best)
            chosen = best
        put(chosen, mask)

    return step


def _select(instruction: Instruction, registers: Registers) -> Step:
    only(instruction, "FTZ")
    a, b = (registers.f32(one) for one in values(instruction))
    truth, put = registers.truth(conditions(instruction)[0]), registers.put(result(instruction))
    return lambda mask, _lanes: put(np.where(truth(), a(), b()), mask)


# ---------- special functions ----------

_FUNCTIONS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "RCP": lambda x: 1.0 / x,
    "RSQ": lambda x: 1.0 / np.sqrt(x),
    "SQRT": np.sqrt,
    "EX2": np.exp2,
    "LG2": np.log2,
    # Arguments of the unit are turns that RRO or a multiplication by 1 / 2 pi have made of angles.
    "SIN": lambda x: np.sin(2 * np.pi * x),
    "COS": lambda x: np.cos(2 * np.pi * x),
    "TANH": np.tanh,
}
_HALF_ONLY = {"RCP64H": lambda x: 1.0 / x, "RSQ64H": lambda x: 1.0 / np.sqrt(x)}


def _special(instruction: Instruction, registers: Registers) -> Step:
    """Bind MUFU: a function to about the precision of hardware, here rounded correctly.

    The kinds for double precision read and write the upper half of a double.
    """
    name = instruction.modifiers[0]
    only(instruction, "FTZ", *_FUNCTIONS, *_HALF_ONLY)
    source, put = values(instruction)[0], registers.put(result(instruction))
    if name in _HALF_ONLY:
        word, double = registers.u32(source), _HALF_ONLY[name]

        def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
            value = double((word().astype(np.uint64) << np.uint64(32)).view(np.float64))
            put((value.view(np.uint64) >> np.uint64(32)).astype(np.uint32), mask)

        return step
    a, function = registers.f32(source), _FUNCTIONS[name]
    return lambda mask, _lanes: put(function(a().astype(np.float64)).astype(np.float32), mask)


def _check(instruction: Instruction, registers: Registers) -> Step:
    """Bind FCHK: whether a division needs the slow path, by the range of both exponents.

    The limits are wide of those where the fast path goes wrong; both paths give the same quotient.
    """
    a, b = (registers.f32(one) for one in values(instruction))
    put = registers.put_truth(instruction.results[0])

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        (_, x), (_, y) = np.frexp(a()), np.frexp(b())
        plain = np.isfinite(a()) & np.isfinite(b()) & (b() != 0)
        # Outside of these the intermediate products lose bits or overflow.
        inside = (y > -125) & (y < 126) & (x - y > -125) & (x - y < 127) & (x > -101)
        put(~((plain & inside) | (plain & (a() == 0) & (y > -125) & (y < 126))), mask)

    return step


# ---------- double precision ----------


def directed(
    a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64],
    near: NDArray[np.float64], mode: str,
) -> NDArray[np.float64]:  # fmt: skip
    """Round a b + c down (RM), up (RP) or to zero (RZ), given what is nearest to it."""
    sign = fast.missed64(a, b, c, near)
    down = (sign < 0) & ((mode == "RM") | ((mode == "RZ") & (near > 0)))
    up = (sign > 0) & ((mode == "RP") | ((mode == "RZ") & (near < 0)))
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    # What has left the range upwards stays at its end if it is not to be rounded away from zero.
    down |= finite & (near == np.inf) & (mode != "RP")
    up |= finite & (near == -np.inf) & (mode != "RM")
    value = np.where(down, np.nextafter(near, -np.inf), near)
    value = np.where(up, np.nextafter(near, np.inf), value)
    if mode == "RM":
        # Opposite numbers make a zero below zero.
        opposite = np.signbit(a * b) != np.signbit(c)
        value = np.where((near == 0) & (sign == 0) & opposite, -0.0, value)
    return value


def _double(instruction: Instruction, registers: Registers) -> Step:
    """Bind DADD, DMUL and DFMA."""
    only(instruction, *_ROUNDING)
    mode = next((one for one in instruction.modifiers if one in _ROUNDING), "RN")
    gets = [registers.f64(one) for one in values(instruction)]
    put = registers.put64(result(instruction))
    # The disassembler leaves out the operand that takes no part.
    kind = instruction.opcode
    first = gets[0]
    second = None if kind == "DADD" else gets[1]
    third = None if kind == "DMUL" else gets[-1]

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        a = first()
        b = np.ones_like(a) if second is None else second()
        c = np.copysign(np.zeros_like(a), a * b) if third is None else third()
        near = {"DADD": lambda: a + c, "DMUL": lambda: a * b}.get(kind, lambda: fma64(a, b, c))()
        put(near if mode == "RN" else directed(a, b, c, near, mode), mask)

    return step


BINDERS: dict[str, Bind] = {
    "FADD": _add,
    "FMUL": _multiply,
    "FFMA": _multiply_add,
    "FMNMX": _minimum,
    "FMNMX3": _minimum,
    "FSEL": _select,
    "MUFU": _special,
    "FCHK": _check,
    "DADD": _double,
    "DMUL": _double,
    "DFMA": _double,
}
