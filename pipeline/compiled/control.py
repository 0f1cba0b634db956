"""Instructions that move a group: branches, calls, ends; see :mod:`meeting` for barriers."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import meeting
from pipeline.compiled.binding import Mask
from pipeline.compiled.instruction import (
    INSTRUCTION_BYTES,
    Immediate,
    Instruction,
    Predicate,
    Register,
    Target,
)
from pipeline.compiled.machine import Group, Machine, Slot
from pipeline.compiled.meeting import Control, held_by
from pipeline.compiled.semantics.step import only, refuse
from pipeline.errors import MachineCodeError

Bind = Callable[[Instruction, Machine, Slot], Control]


def _target(instruction: Instruction, machine: Machine) -> int:
    for one in instruction.operands:
        if isinstance(one, Target):
            return machine.program.position[one.address]
    raise refuse(instruction, "a target that is no label")


def _part(machine: Machine, group: Group, taken: Mask, target: int) -> bool:
    """Send the lanes ``taken`` to a target, the others on; say whether the group is whole still."""
    count = int(np.count_nonzero(taken))
    if count == 0:
        return True
    if count == int(group.block_lanes.sum()):
        group.position = target
        return True
    rest = group.lanes & ~taken
    warps = machine.geometry.warps_of(taken) & machine.geometry.warps_of(rest)
    machine.tally.divergent += warps.reshape(machine.geometry.blocks, -1).sum(axis=1)
    machine.add_group(target, taken)
    machine.add_group(group.position, rest)
    return False


def _branch(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    target = _target(instruction, machine)
    if instruction.has("DIV") or instruction.has("CONV"):
        return _branch_if_divided(instruction, machine, slot, target)
    held = held_by(instruction, machine, slot)
    if slot.guard is None and not any(isinstance(one, Predicate) for one in instruction.operands):

        def always(group: Group) -> bool:
            group.position = target
            return True

        return always
    return lambda group: _part(machine, group, held(group), target)


def _branch_if_divided(
    instruction: Instruction, machine: Machine, slot: Slot, target: int
) -> Control:
    """Bind BRA.DIV: taken by warps of which not all lanes of a mask are here; CONV: by others.

    Lanes for which the guard does not hold are not counted as here, and go the same way as those of
    their warp: so the code learns from a guard that lanes have different masks. The mask is a
    uniform register, or all lanes where none is named (``~URZ``).
    """
    geometry, registers = machine.geometry, machine.registers
    named = [one for one in instruction.operands if isinstance(one, Register)]
    mask = registers.u32(named[0]) if named else None
    held, converged = held_by(instruction, machine, slot), instruction.has("CONV")

    def step(group: Group) -> bool:
        here = geometry.masks(held(group))
        wanted = mask()[::32] if mask else np.uint32(0xFFFFFFFF)
        divided = geometry.spread(here != wanted)
        return _part(machine, group, group.lanes & (divided ^ converged), target)

    return step


def _indirect(instruction: Instruction, machine: Machine, _slot: Slot) -> Control:
    """Bind BRX: a jump relative to the next instruction, through a table in a constant bank."""
    register = instruction.operands[0]
    assert isinstance(register, Register)
    value = machine.registers.u32(Register(register.file, register.number))
    added = sum(one.bits for one in instruction.operands if isinstance(one, Immediate))
    base = np.int64((instruction.address + INSTRUCTION_BYTES + added) & 0xFFFFFFFF)
    return _jump_by(machine, lambda: (value().astype(np.int64) + base) & 0xFFFFFFFF)


def _return(instruction: Instruction, machine: Machine, _slot: Slot) -> Control:
    """Bind RET.REL: to the address in a register, counted from a function's start."""
    register = next(one for one in instruction.operands if isinstance(one, Register))
    value = machine.registers.u32(register)
    start = next((one.address for one in instruction.operands if isinstance(one, Target)), 0)
    return _jump_by(machine, lambda: value().astype(np.int64) + start)


def _code_at(machine: Machine, address: int) -> int:
    """Return the position of the instruction at an address that the code has computed."""
    position = machine.program.position.get(address & 0xFFFFFFFF)
    if position is None:
        raise MachineCodeError(
            f"{machine.program.kernel}: the code jumps to {address & 0xFFFFFFFF:#06x}, where no "
            f"instruction is"
        )
    return position


def _jump_by(machine: Machine, address: Callable[[], NDArray[np.int64]]) -> Control:
    def step(group: Group) -> bool:
        where = address()
        targets = np.unique(where[group.lanes]).tolist()
        if len(targets) == 1:
            group.position = _code_at(machine, targets[0])
            return True
        for target in targets:
            machine.add_group(_code_at(machine, target), group.lanes & (where == target))
        return False

    return step


def _call(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    """Bind CALL.REL.NOINC: a jump; the code has put the return address into a register."""
    if not instruction.has("REL") or not instruction.has("NOINC"):
        raise refuse(instruction, "a call of a function outside of the kernel")
    if isinstance(instruction.operands[0], Register):
        # A pointer to a function: its place in the code stands in a register.
        return _return(instruction, machine, slot)
    target = _target(instruction, machine)
    held = held_by(instruction, machine, slot)
    return lambda group: _part(machine, group, held(group), target)


def _exit(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    held = held_by(instruction, machine, slot)

    def step(group: Group) -> bool:
        leaving = held(group)
        if not leaving.any():
            return True
        rest = group.lanes & ~leaving
        machine.ended(leaving)
        if rest.any():
            machine.add_group(group.position, rest)
        return False

    return step


def _trap(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    """Bind BPT: the kernel itself says that something is wrong."""
    held = held_by(instruction, machine, slot)

    def step(group: Group) -> bool:
        lanes = held(group)
        if lanes.any():
            raise MachineCodeError(
                f"{machine.program.kernel}: {instruction.place}: "
                f"{machine.thread(int(lanes.argmax()))} reaches a trap"
            )
        return True

    return step


CONTROL: dict[str, Bind] = {
    "BRA": _branch,
    "BRX": _indirect,
    "RET": _return,
    "CALL": _call,
    "EXIT": _exit,
    "BPT": _trap,
    "BSSY": meeting.enter,
    "BSYNC": meeting.meet,
    "BREAK": meeting.leave,
    "BMOV": meeting.move_barrier,
    "WARPSYNC": meeting.warp_sync,
    "BAR": meeting.block_barrier,
}
# Modifiers that are modelled, or make no difference to what is.
_MODIFIERS = {
    "BRA": ("DIV", "CONV", "U"),
    "RET": ("REL", "NODEC"),
    "CALL": ("REL", "ABS", "NOINC"),
    "BSSY": ("RECONVERGENT", "RELIABLE"),
    "BSYNC": ("RECONVERGENT", "RELIABLE"),
    "BREAK": ("RELIABLE",),
    "BMOV": ("32", "CLEAR"),
    "WARPSYNC": ("ALL", "EXCLUSIVE", "COLLECTIVE"),
    "BAR": ("SYNC", "ARV", "RED", "POPC", "AND", "OR", "DEFER", "DEFER_BLOCKING"),
    "BPT": ("TRAP",),
}


def bind(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    """Return what an instruction of ``CONTROL`` does to a group.

    Raises
    ------
    MachineCodeError
        If it is of a kind that is not modelled.
    """
    only(instruction, *_MODIFIERS.get(instruction.opcode, ()))
    return CONTROL[instruction.opcode](instruction, machine, slot)


# What changes nothing that is modelled: fences, hints, and waits for copies, done at once here.
NOTHING = frozenset(
    ["NOP", "YIELD", "NANOSLEEP", "MEMBAR", "ERRBAR", "CGAERRBAR", "FENCE", "CCTL", "DEPBAR",
     "LDGDEPBAR", "ENDCOLLECTIVE", "PREEXIT", "ACQBULK"]
)  # fmt: skip
