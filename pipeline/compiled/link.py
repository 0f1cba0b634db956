"""Every instruction of a program bound to the arrays of a machine."""

from collections.abc import Callable

import numpy as np

from pipeline.compiled import fast
from pipeline.compiled.binding import Mask
from pipeline.compiled.control import CONTROL, NOTHING, bind
from pipeline.compiled.instruction import Instruction, Register
from pipeline.compiled.machine import Machine, Slot, nothing
from pipeline.compiled.semantics import (
    atomic,
    bits,
    compare,
    convert,
    copies,
    floats,
    halves,
    integers,
    memory,
    tensor,
    warps,
)
from pipeline.compiled.semantics.step import Bind, refuse
from pipeline.compiled.slicing import ACCESSES
from pipeline.compiled.watching import Watcher
from pipeline.errors import PaperGpuError

ON_REGISTERS: dict[str, Bind] = (
    integers.BINDERS
    | bits.BINDERS
    | floats.BINDERS
    | compare.BINDERS
    | halves.BINDERS
    | convert.BINDERS
)
ON_MACHINE: dict[str, memory.MachineBind] = (
    memory.BINDERS | atomic.BINDERS | copies.BINDERS | warps.BINDERS | tensor.BINDERS
)
_OWN_UNIFORM = frozenset(["ULDC", "LDCU", "S2UR", "CS2UR", "VOTEU"])
_SHORTEST_RUN = 3


def link(
    machine: Machine, computed: frozenset[int] | None = None, watcher: Watcher | None = None
) -> None:
    """Make all instructions of the program ready to run.

    Parameters
    ----------
    machine
        Its slots are filled.
    computed
        Positions whose results matter; the others are counted and not done. All, if None.
    watcher
        Is told what instructions read before they are done.

    Raises
    ------
    MachineCodeError
        If an instruction is known to the decoder, and not to the executor.
    """
    for position, instruction in enumerate(machine.program.instructions):
        matters = computed is None or position in computed or instruction.opcode in ACCESSES
        slot = _known_slot(instruction, machine, matters)
        computing = matters and instruction.opcode not in ACCESSES
        if watcher is not None and computing and slot.step is not None:
            slot.step = watcher.watched(instruction, position, slot.step)
        machine.slots.append(slot)
    if computed is None:
        _join_runs(machine)


def _known_slot(instruction: Instruction, machine: Machine, done: bool) -> Slot:
    """Bind an instruction; one that lacks what its opcode needs is not known either."""
    try:
        return _slot(instruction, machine, done)
    except PaperGpuError:
        raise
    except (ValueError, LookupError, StopIteration, AssertionError) as error:
        raise refuse(instruction, "an instruction with these operands") from error


def _slot(instruction: Instruction, machine: Machine, done: bool) -> Slot:
    guard = instruction.guard
    slot = Slot(
        step=None,
        control=None,
        guard=None
        if guard is None
        else machine.registers.predicates[machine.registers.predicate_row(guard)],
        inverted=bool(guard and guard.inverted),
        uniform=is_uniform(instruction.opcode),
    )
    opcode = instruction.opcode
    if opcode in CONTROL:
        slot.control = bind(instruction, machine, slot)
    elif opcode in NOTHING or not done:
        slot.step = nothing
    else:
        slot.step = _bound(instruction, machine)
    return slot


def is_uniform(opcode: str) -> bool:
    """Say whether an instruction acts once per warp."""
    return opcode in _OWN_UNIFORM or (opcode[0] == "U" and opcode[1:] in ON_REGISTERS)


def _bound(instruction: Instruction, machine: Machine) -> Callable[[Mask | None, Mask], None]:
    opcode = instruction.opcode
    if opcode in ON_MACHINE:
        return ON_MACHINE[opcode](instruction, machine)
    bare = opcode[1:] if opcode[0] == "U" and opcode[1:] in ON_REGISTERS else opcode
    if bare not in ON_REGISTERS:
        raise refuse(instruction, f"opcode {opcode}")
    return ON_REGISTERS[bare](instruction, machine.registers)


def _join_runs(machine: Machine) -> None:
    """Let runs of plain multiply-adds be done at once, from every place where one can start."""
    following = 0
    instructions = machine.program.instructions
    entries: list[list[int]] = []
    for position in range(len(instructions) - 1, -1, -1):
        entry = _multiply_add(instructions[position], machine)
        following = following + 1 if entry else 0
        if entry:
            entries.insert(0, entry)
        else:
            entries = []
        if following >= _SHORTEST_RUN:
            table = np.array(entries[:following], np.int64)
            machine.slots[position].run = _run(machine, table)
            machine.slots[position].length = following


def _run(machine: Machine, table: np.ndarray) -> Callable[[], None]:
    rows = machine.registers.rows.view(np.float32)
    return lambda: fast.ffma_run(rows, table)


def _multiply_add(instruction: Instruction, machine: Machine) -> list[int] | None:
    """Return the rows of a plain multiply-add, or None if it is another instruction."""
    if instruction.opcode != "FFMA" or instruction.modifiers or instruction.guard:
        return None
    d, a, b, c = instruction.operands
    if not isinstance(d, Register) or d.number is None:
        return None
    if any(getattr(one, "absolute", False) for one in (a, b, c)):
        return None
    negative = [bool(getattr(one, "negative", False)) for one in (a, b, c)]
    rows = [machine.registers.row(one) for one in (d, a, b, c)]
    return [*rows, negative[0] != negative[1], negative[2]]
