"""Instructions that move a group: branches, calls, ends, barriers."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.barriers import WARP_SYNC, WARP_SYNC_APART
from pipeline.compiled.binding import Mask
from pipeline.compiled.instruction import (
    INSTRUCTION_BYTES,
    Immediate,
    Instruction,
    Name,
    Predicate,
    Register,
    Target,
)
from pipeline.compiled.machine import Group, Machine, Slot
from pipeline.compiled.semantics.step import immediate, only, refuse
from pipeline.errors import MachineCodeError

Control = Callable[[Group], bool]
Bind = Callable[[Instruction, Machine, Slot], Control]


def _held(instruction: Instruction, machine: Machine, slot: Slot) -> Callable[[Group], Mask]:
    """Return a reader of the lanes for which guard and further predicates hold."""
    further = [
        machine.registers.truth(one)
        for one in instruction.operands
        if (isinstance(one, Predicate) and one.number is not None) or _never(one)
    ]
    position = machine.position(instruction)

    def held(group: Group) -> Mask:
        lanes = group.lanes if slot.guard is None else machine.guarded(slot, group, position)
        for truth in further:
            lanes = lanes & truth()
        return lanes

    return held


def _never(operand: object) -> bool:
    return isinstance(operand, Predicate) and operand.number is None and operand.inverted


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
    held = _held(instruction, machine, slot)
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

    The mask is a uniform register, or all lanes where none is named (``~URZ``).
    """
    geometry, registers = machine.geometry, machine.registers
    named = [one for one in instruction.operands if isinstance(one, Register)]
    mask = registers.u32(named[0]) if named else None
    held, converged = _held(instruction, machine, slot), instruction.has("CONV")

    def step(group: Group) -> bool:
        here = geometry.masks(group.lanes)
        wanted = mask()[::32] if mask else np.uint32(0xFFFFFFFF)
        divided = geometry.spread(here != wanted)
        return _part(machine, group, held(group) & (divided ^ converged), target)

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


def _jump_by(machine: Machine, address: Callable[[], NDArray[np.int64]]) -> Control:
    def step(group: Group) -> bool:
        where = address()
        targets = np.unique(where[group.lanes]).tolist()
        if len(targets) == 1:
            group.position = machine.program.position[targets[0] & 0xFFFFFFFF]
            return True
        for target in targets:
            position = machine.program.position[target & 0xFFFFFFFF]
            machine.add_group(position, group.lanes & (where == target))
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
    held = _held(instruction, machine, slot)
    return lambda group: _part(machine, group, held(group), target)


def _exit(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    held = _held(instruction, machine, slot)

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
    held = _held(instruction, machine, slot)

    def step(group: Group) -> bool:
        lanes = held(group)
        if lanes.any():
            raise MachineCodeError(
                f"{machine.program.kernel}: {instruction.place}: "
                f"{machine.thread(int(lanes.argmax()))} reaches a trap"
            )
        return True

    return step


def _open(instruction: Instruction, machine: Machine, _slot: Slot) -> Control:
    number = _barrier(instruction)

    def step(group: Group) -> bool:
        machine.convergence.open(number, group.lanes)
        return True

    return step


def _barrier(instruction: Instruction) -> int:
    for one in instruction.operands:
        if isinstance(one, Name) and one.text.startswith("B"):
            return int(one.text[1:])
    raise refuse(instruction, "a barrier that is not named")


def _meet(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    number = _barrier(instruction)
    held = _held(instruction, machine, slot)

    def step(group: Group) -> bool:
        lanes = held(group)
        if lanes is not group.lanes and not lanes.any():
            return True
        if lanes is group.lanes and machine.convergence.complete(number, lanes, machine.alive):
            return True
        return _park(machine, group, number, lanes)

    return step


def _park(machine: Machine, group: Group, number: int, lanes: Mask) -> bool:
    """Let lanes wait at a convergence barrier; the rest of the group goes on."""
    machine.convergence.wait(number, lanes, group.position)
    rest = group.lanes & ~lanes
    if rest.any():
        machine.add_group(group.position, rest)
    machine.release()
    return False


def _leave(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    number = _barrier(instruction)
    held = _held(instruction, machine, slot)

    def step(group: Group) -> bool:
        machine.convergence.leave(number, held(group))
        machine.release()
        return True

    return step


def _move_barrier(instruction: Instruction, machine: Machine, _slot: Slot) -> Control:
    """Bind BMOV: a convergence barrier to a register, or back."""
    target, source = instruction.operands
    members = machine.convergence.members
    if isinstance(source, Name):
        number = int(source.text[1:])
        put = machine.registers.put(target)

        def save(group: Group) -> bool:
            put(members[number].copy(), group.write)
            if instruction.has("CLEAR"):
                np.copyto(members[number], np.uint32(0), where=group.lanes)
            return True

        return save
    number = _barrier(instruction)
    value = machine.registers.u32(source)

    def restore(group: Group) -> bool:
        np.copyto(members[number], value(), where=group.lanes)
        return True

    return restore


def _warp_sync(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    """Bind WARPSYNC: the lanes of a mask meet, and go on without others if it is EXCLUSIVE."""
    number = WARP_SYNC_APART if instruction.has("EXCLUSIVE") else WARP_SYNC
    named = [one for one in instruction.operands if isinstance(one, Register | Immediate)]
    mask = machine.registers.u32(named[0]) if named else None
    held = _held(instruction, machine, slot)

    def step(group: Group) -> bool:
        lanes = held(group)
        if not lanes.any():
            return True
        members = machine.convergence.members[number]
        np.copyto(members, mask() if mask else np.uint32(0xFFFFFFFF), where=lanes)
        if lanes is group.lanes and machine.convergence.complete(number, lanes, machine.alive):
            return True
        return _park(machine, group, number, lanes)

    return step


def _block_barrier(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    """Bind BAR: the threads of a block meet, all of them or as many as a second operand says."""
    numbers = [one for one in instruction.operands if isinstance(one, Immediate)]
    if len(numbers) + sum(isinstance(one, Predicate) for one in instruction.operands) < len(
        instruction.operands
    ):
        raise refuse(instruction, "a barrier whose number is in a register")
    number = immediate(instruction, numbers[0])
    count = immediate(instruction, numbers[1]) if len(numbers) > 1 else 0
    truths = [
        machine.registers.truth(one) for one in instruction.operands if isinstance(one, Predicate)
    ]
    reduction = next((one for one in ("POPC", "AND", "OR") if instruction.has(one)), None)
    waits = not instruction.has("ARV")

    def step(group: Group) -> bool:
        lanes = group.lanes
        if slot.guard is not None:
            lanes = machine.guarded(slot, group, machine.position(instruction))
            rest = group.lanes & ~lanes
            if rest.any():
                machine.add_group(group.position, rest)
            if not lanes.any():
                return False
        votes = truths[0]() if truths else None
        machine.barriers.arrive(number, count, lanes, group.position, votes, waits)
        if not waits:
            machine.add_group(group.position, lanes)
        machine.release(reduction)
        return False

    return step


CONTROL: dict[str, Bind] = {
    "BRA": _branch,
    "BRX": _indirect,
    "RET": _return,
    "CALL": _call,
    "EXIT": _exit,
    "BPT": _trap,
    "BSSY": _open,
    "BSYNC": _meet,
    "BREAK": _leave,
    "BMOV": _move_barrier,
    "WARPSYNC": _warp_sync,
    "BAR": _block_barrier,
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
