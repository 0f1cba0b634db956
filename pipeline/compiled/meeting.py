"""Instructions at which lanes meet: convergence barriers, warp synchronisation, block barriers."""

from collections.abc import Callable

import numpy as np

from pipeline.compiled.barriers import WARP_SYNC, WARP_SYNC_APART
from pipeline.compiled.binding import Mask
from pipeline.compiled.instruction import (
    Immediate,
    Instruction,
    Name,
    Predicate,
    Register,
)
from pipeline.compiled.machine import Group, Machine, Slot
from pipeline.compiled.semantics.step import immediate, refuse

Control = Callable[[Group], bool]


def held_by(instruction: Instruction, machine: Machine, slot: Slot) -> Callable[[Group], Mask]:
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


def enter(instruction: Instruction, machine: Machine, _slot: Slot) -> Control:
    """Bind BSSY: these lanes will meet."""
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


def meet(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    """Bind BSYNC: wait for those that entered together."""
    number = _barrier(instruction)
    held = held_by(instruction, machine, slot)

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


def leave(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    """Bind BREAK: be waited for no longer."""
    number = _barrier(instruction)
    held = held_by(instruction, machine, slot)

    def step(group: Group) -> bool:
        machine.convergence.leave(number, held(group))
        machine.release()
        return True

    return step


def move_barrier(instruction: Instruction, machine: Machine, _slot: Slot) -> Control:
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


def warp_sync(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
    """Bind WARPSYNC: the lanes of a mask meet, and go on without others if it is EXCLUSIVE.

    So they do in a COLLECTIVE section, in which votes count these lanes alone.
    """
    apart = instruction.has("EXCLUSIVE") or instruction.has("COLLECTIVE")
    number = WARP_SYNC_APART if apart else WARP_SYNC
    named = [one for one in instruction.operands if isinstance(one, Register | Immediate)]
    mask = machine.registers.u32(named[0]) if named else None
    held = held_by(instruction, machine, slot)

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


def block_barrier(instruction: Instruction, machine: Machine, slot: Slot) -> Control:
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
