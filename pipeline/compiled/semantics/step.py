"""What a bound instruction is, and helpers that many opcodes share."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.binding import Get, Mask, Registers
from pipeline.compiled.instruction import Immediate, Instruction, Operand, Predicate
from pipeline.errors import MachineCodeError

Step = Callable[[Mask | None, Mask], None]
"""What an instruction does: the lanes whose registers may be written (None for all), and those that
take part."""

Bind = Callable[[Instruction, Registers], Step]


def refuse(instruction: Instruction, what: str) -> MachineCodeError:
    """Return the error for a form of an opcode that is not modelled."""
    return MachineCodeError(f"{instruction.place}: {what} is not modelled")


def values(instruction: Instruction) -> list[Operand]:
    """Return the sources that are no predicates."""
    return [one for one in instruction.sources if not isinstance(one, Predicate)]


def conditions(instruction: Instruction) -> list[Predicate]:
    """Return the sources that are predicates."""
    return [one for one in instruction.sources if isinstance(one, Predicate)]


def result(instruction: Instruction) -> Operand:
    """Return the result that is no predicate."""
    return next(one for one in instruction.results if not isinstance(one, Predicate))


def carries(instruction: Instruction) -> list[Predicate]:
    """Return the results that are predicates."""
    return [one for one in instruction.results if isinstance(one, Predicate)]


def only(instruction: Instruction, *allowed: str) -> None:
    """Refuse modifiers that are not among those that a binder handles."""
    unknown = [one for one in instruction.modifiers if one not in allowed]
    if unknown:
        raise refuse(instruction, f"modifier {'.'.join(unknown)} of {instruction.opcode}")


def immediate(instruction: Instruction, operand: Operand) -> int:
    """Return a constant that the encoding holds as a number, not as a register."""
    if not isinstance(operand, Immediate):
        raise refuse(instruction, f"{operand} where a number is expected")
    return operand.bits


def binary32(operation: Callable[[NDArray, NDArray], NDArray]) -> Bind:
    """Return a binder for a function of two 32-bit integers."""

    def bind(instruction: Instruction, registers: Registers) -> Step:
        a, b = (registers.u32(one) for one in values(instruction)[:2])
        put = registers.put(result(instruction))
        return lambda mask, _lanes: put(operation(a(), b()), mask)

    return bind


def unary32(operation: Callable[[NDArray], NDArray]) -> Bind:
    """Return a binder for a function of one 32-bit integer."""

    def bind(instruction: Instruction, registers: Registers) -> Step:
        a = registers.u32(values(instruction)[0])
        put = registers.put(result(instruction))
        return lambda mask, _lanes: put(operation(a()), mask)

    return bind


def signed(get: Get) -> Get:
    """Read 32 bits as a signed integer of 64 bits."""
    return lambda: get().view(np.int32).astype(np.int64)


def unsigned(get: Get) -> Get:
    """Read 32 bits as an unsigned integer, in 64 bits."""
    return lambda: get().astype(np.int64)


def low_word(value: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return the lower 32 bits."""
    return value.astype(np.uint32)
