"""Asynchronous copies to shared memory, and loads of matrices from it."""

import numpy as np

from pipeline.compiled import fast
from pipeline.compiled.binding import Mask
from pipeline.compiled.instruction import (
    Address,
    Instruction,
    Predicate,
    Register,
)
from pipeline.compiled.machine import Machine
from pipeline.compiled.semantics.memory import (
    WORD,
    MachineBind,
    access_bytes,
    address_of,
    space_of,
)
from pipeline.compiled.semantics.step import Step


def _copy(instruction: Instruction, machine: Machine) -> Step:
    """Bind LDGSTS: an asynchronous copy, done at once; waiting for it is then nothing to do."""
    size = access_bytes(instruction)
    to, origin = (one for one in instruction.operands if isinstance(one, Address))
    shared, source = (space_of(machine, instruction, size, kind) for kind in ("shared", "global"))
    target = address_of(machine, to, ())
    address = address_of(machine, origin, instruction.modifiers)
    position, values = machine.position(instruction), machine.moves("global")
    truths = [
        machine.registers.truth(one) for one in instruction.operands if isinstance(one, Predicate)
    ]
    words = size // WORD

    def step(_mask: Mask | None, lanes: Mask) -> None:
        reading = lanes & truths[0]() if truths else lanes
        into, where = target(), address()
        machine.accessed(position, where, reading, "global")
        machine.accessed(position, into, lanes, "shared")
        source.count(position, where, reading, False)
        machine.tally.shared_access(position, into, lanes, size, True, counted=False)
        place, put = source.place(where, reading), shared.place(into, lanes)
        if values:
            staged = np.zeros((words, lanes.size), np.uint32)
            fast.load_words(source.memory.view(np.uint32), place, reading, staged, 0, words)
            fast.store_words(shared.memory.view(np.uint32), put, lanes, staged, np.arange(words))

    return step


def _load_matrix(instruction: Instruction, machine: Machine) -> Step:
    """Bind LDSM: 8 x 8 matrices of 16-bit elements, one row from each of eight lanes' addresses.

    Lane l receives two elements of row l / 4 of each matrix, of its column with .MT88.
    """
    count = int(instruction.modifiers[-1]) if instruction.modifiers[-1] in ("2", "4") else 1
    transposed = any(name.startswith("MT") for name in instruction.modifiers)
    operand = next(one for one in instruction.sources if isinstance(one, Address))
    address = address_of(machine, operand, ())
    space = space_of(machine, instruction, 16, "shared")
    position, values = machine.position(instruction), machine.moves("shared")
    target = next(one for one in instruction.results if isinstance(one, Register))
    puts = [
        machine.registers.put(Register(target.file, (target.number or 0) + i)) for i in range(count)
    ]
    warps = machine.geometry.warps
    giving = np.arange(machine.geometry.lanes) % 32 < 8 * count

    def step(mask: Mask | None, lanes: Mask) -> None:
        where = address()
        asked = lanes & giving
        machine.accessed(position, where, asked, "shared")
        machine.tally.shared_access(position, where, asked, 16, False, paired=False)
        place = space.place(where, asked)
        if not values:
            return
        staged = np.zeros((4, lanes.size), np.uint32)
        fast.load_words(space.memory.view(np.uint32), place, asked, staged, 0, 4)
        rows = np.ascontiguousarray(staged.T).view(np.uint16).reshape(warps, 4, 8, 8)
        for number, put in enumerate(puts):
            matrix = rows[:, number]
            if transposed:
                matrix = matrix.transpose(0, 2, 1)
            put(np.ascontiguousarray(matrix).view(np.uint32).reshape(-1), mask)

    return step


BINDERS: dict[str, MachineBind] = {
    "LDGSTS": _copy,
    "LDSM": _load_matrix,
}
