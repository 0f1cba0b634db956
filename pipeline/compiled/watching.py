"""What instructions of a slice read and touch while they run: for comparing turns and blocks."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.binding import Mask, Registers
from pipeline.compiled.instruction import (
    Constant,
    Immediate,
    Instruction,
    Predicate,
    Register,
)
from pipeline.compiled.roles import widths
from pipeline.compiled.semantics.step import Step

Sink = Callable[[int, Mask, NDArray[np.uint32]], None]


@dataclass(frozen=True)
class Reading:
    """How the sources of an instruction are read: the rows, and the words of each source."""

    rows: tuple[int, ...]
    spans: tuple[int, ...]


def reading(instruction: Instruction, registers: Registers) -> Reading | None:
    """Return what an instruction reads that can change; None if that is nothing."""
    spans = widths(instruction.opcode, instruction.modifiers, instruction.operands)
    rows: list[int] = []
    words: list[int] = []
    varying = False
    for operand, span in zip(instruction.sources, spans[instruction.written :], strict=True):
        if isinstance(operand, Predicate):
            continue
        plain = isinstance(operand, Register | Immediate) or (
            isinstance(operand, Constant) and operand.register is None
        )
        if isinstance(operand, Constant) and operand.register is not None:
            operand = operand.register
            plain, span = True, 1
        if not plain:
            words.append(0)
            continue
        if isinstance(operand, Register) and operand.number is None:
            span = 1
        varying = varying or (isinstance(operand, Register) and operand.number is not None)
        rows += [registers.row(operand, word) for word in range(span)]
        words.append(span)
    return Reading(tuple(rows), tuple(words)) if varying else None


class Watcher:
    """Hands what instructions read to whoever listens.

    Attributes
    ----------
    sinks
        Called with position, lanes and the words read before each instruction.
    """

    def __init__(self, registers: Registers) -> None:
        self._registers = registers
        self.sinks: list[Sink] = []
        self.readings: dict[int, Reading] = {}

    def watched(self, instruction: Instruction, position: int, step: Step) -> Step:
        """Return the step with its sources handed on before it is done."""
        found = reading(instruction, self._registers)
        if found is None:
            return step
        self.readings[position] = found
        rows = np.array(found.rows)
        every = self._registers.rows

        def watching(mask: Mask | None, lanes: Mask) -> None:
            if self.sinks:
                words = every[rows]
                for sink in self.sinks:
                    sink(position, lanes, words)
            step(mask, lanes)

        return watching
