"""Comparisons: integers, and real numbers of every width."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.binding import Get, Registers
from pipeline.compiled.instruction import Instruction, Operand
from pipeline.compiled.semantics.floats import flushed
from pipeline.compiled.semantics.step import (
    Bind,
    Step,
    conditions,
    only,
    refuse,
    result,
    values,
)

_ORDERED: dict[str, Callable[[NDArray, NDArray], NDArray[np.bool_]]] = {
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
    "EQ": np.equal,
    # For real numbers: ordered and unequal.
    "NE": lambda a, b: (a < b) | (a > b),
}
JOIN = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}


def comparison(name: str, instruction: Instruction) -> Callable[[NDArray, NDArray], NDArray]:
    """Return a comparison of real numbers; a U at the end says that NaN makes it true."""
    if name in _ORDERED:
        return _ORDERED[name]
    if name == "NUM":
        return lambda a, b: ~np.isnan(a) & ~np.isnan(b)
    if name == "NAN":
        return lambda a, b: np.isnan(a) | np.isnan(b)
    if name.endswith("U") and name[:-1] in _ORDERED:
        ordered = _ORDERED[name[:-1]]
        return lambda a, b: ordered(a, b) | np.isnan(a) | np.isnan(b)
    raise refuse(instruction, f"comparison {name}")


_INTEGER = {name: compare for name, compare in _ORDERED.items() if name != "NE"} | {
    "NE": np.not_equal
}


def _outcomes(
    instruction: Instruction,
    registers: Registers,
    test: Callable[[], NDArray[np.bool_]],
    given: Get,
) -> Step:
    """Store a comparison joined with a predicate, and the joined opposite in a second one."""
    join = JOIN[next(one for one in instruction.modifiers if one in JOIN)]
    first, second = (registers.put_truth(one) for one in instruction.results)
    unused = getattr(instruction.results[1], "number", None) is None

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        outcome, other = test(), given()
        if unused:
            first(join(outcome, other), mask)
            return
        both = join(outcome, other), join(~outcome, other)
        first(both[0], mask)
        second(both[1], mask)

    return step


def _integers(instruction: Instruction, registers: Registers) -> Step:
    """Bind ISETP; with .EX the upper words of 64-bit numbers, where a predicate tells of the lower.

    For an extended comparison the last predicate is the outcome of the lower words.
    """
    name = instruction.modifiers[0]
    only(instruction, *_INTEGER, *JOIN, "U32", "EX", "S64", "U64")
    compare = _INTEGER[name]
    sources, truths = values(instruction), conditions(instruction)
    wide = instruction.has("U64") or instruction.has("S64")
    kind = {
        (False, False): np.int32,
        (False, True): np.uint32,
        (True, False): np.int64,
        (True, True): np.uint64,
    }[wide, instruction.has("U32") or instruction.has("U64")]
    a, b = (registers.u64(one) if wide else registers.u32(one) for one in sources)
    if not instruction.has("EX"):
        return _outcomes(
            instruction,
            registers,
            lambda: compare(a().view(kind), b().view(kind)),
            registers.truth(truths[0]),
        )
    lower = registers.truth(truths[1])
    strict = {"LT": np.less, "LE": np.less, "GT": np.greater, "GE": np.greater}.get(name)

    def extended() -> NDArray[np.bool_]:
        x, y = a().view(kind), b().view(kind)
        if strict is None:
            return (x == y) & lower() if name == "EQ" else (x != y) | lower()
        return strict(x, y) | ((x == y) & lower())

    return _outcomes(instruction, registers, extended, registers.truth(truths[0]))


def _larger(instruction: Instruction, registers: Registers, a: Get, b: Get) -> Step:
    """Bind DSETP.MAX and .MIN: whether to take the first, and whether neither is a number."""
    better = np.greater if instruction.has("MAX") else np.less
    first, second = (registers.put_truth(one) for one in instruction.results)

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        x, y = a(), b()
        outcomes = better(x, y) | (np.isnan(y) & ~np.isnan(x)), np.isnan(x) & np.isnan(y)
        first(outcomes[0], mask)
        second(outcomes[1], mask)

    return step


def _reals(read: Callable[[Registers, Operand], Get]) -> Bind:
    """Return a binder of FSETP or DSETP."""

    def bind(instruction: Instruction, registers: Registers) -> Step:
        a, b = (read(registers, one) for one in values(instruction))
        if instruction.modifiers[0] in ("MAX", "MIN"):
            return _larger(instruction, registers, a, b)
        compare = comparison(instruction.modifiers[0], instruction)
        flush = instruction.has("FTZ")
        given = registers.truth(conditions(instruction)[0])
        if flush:
            return _outcomes(
                instruction, registers, lambda: compare(flushed(a()), flushed(b())), given
            )
        return _outcomes(instruction, registers, lambda: compare(a(), b()), given)

    return bind


def _set(instruction: Instruction, registers: Registers) -> Step:
    """Bind FSET: a comparison as a number, 1.0 with .BF, all ones without."""
    name = next(one for one in instruction.modifiers if one not in ("BF", "FTZ"))
    compare = comparison(name, instruction)
    join = JOIN[next(one for one in instruction.modifiers if one in JOIN)]
    a, b = (registers.f32(one) for one in values(instruction))
    given, put = registers.truth(conditions(instruction)[0]), registers.put(result(instruction))
    true = np.float32(1).view(np.uint32) if instruction.has("BF") else np.uint32(0xFFFFFFFF)

    def step(mask: NDArray[np.bool_] | None, _lanes: NDArray[np.bool_]) -> None:
        put(np.where(join(compare(a(), b()), given()), true, np.uint32(0)), mask)

    return step


BINDERS: dict[str, Bind] = {
    "ISETP": _integers,
    "FSETP": _reals(Registers.f32),
    "DSETP": _reals(Registers.f64),
    "FSET": _set,
}
