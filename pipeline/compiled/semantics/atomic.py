"""Atomics on global and shared memory."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import atomics
from pipeline.compiled.binding import Mask
from pipeline.compiled.instruction import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Predicate,
    Register,
)
from pipeline.compiled.machine import Machine
from pipeline.compiled.semantics.halves import from_half, to_half
from pipeline.compiled.semantics.memory import WORD, MachineBind, ReadAddress, reaching, space_of
from pipeline.compiled.semantics.step import Step, refuse

_PAIRS = frozenset(["F16x2", "BF16x2"])


def _operation(instruction: Instruction) -> tuple[int, bool]:
    """Return which atomic it is, and whether integers have a sign."""
    names = [name for name in instruction.modifiers if name in atomics.OPERATIONS]
    reals = {"F32", "F64", "F16x2", "BF16x2", "F16", "BF16"} & set(instruction.modifiers)
    if reals & {"F32", "F64"} and names == ["ADD"]:
        return atomics.FADD, True
    if reals & _PAIRS and names == ["ADD"]:
        return atomics.FADD, False
    if reals:
        raise refuse(instruction, "an atomic on this type")
    if instruction.has("POPC"):
        return atomics.ADD, False
    if instruction.has("CAST"):
        return atomics.CAS, False
    if len(names) != 1:
        raise refuse(instruction, "this atomic")
    return atomics.OPERATIONS[names[0]], instruction.has("S32") or instruction.has("S64")


def _atomic(instruction: Instruction, machine: Machine, kind: str, address: ReadAddress) -> Step:
    operation, signed = _operation(instruction)
    wide = bool({"64", "F64", "S64", "U64"} & set(instruction.modifiers))
    size = 8 if wide else WORD
    space = space_of(machine, instruction, size, kind)
    places = [i for i, one in enumerate(instruction.operands) if isinstance(one, Address)]
    given = [one for one in instruction.operands[places[0] + 1 :] if _is_value(one)]
    if instruction.has("POPC"):
        # Every lane counts one.
        given = [Immediate(1)]
    results = instruction.operands[: places[0]]
    target = next((one for one in results if isinstance(one, Register)), None)
    act = _actor(machine, operation, signed, wide, given, target)
    if instruction.has("CAST"):
        act = _tested(machine, given, results)
    if _PAIRS & set(instruction.modifiers):
        act = _halves_added(machine, given, results, instruction.has("BF16x2"))
    position, values = machine.position(instruction), machine.moves(kind)
    shares = instruction.has("POPC")

    def step(_mask: Mask | None, lanes: Mask) -> None:
        where = address()
        machine.accessed(position, where, lanes, kind)
        if kind == "global" or shares:
            space.count(position, where, lanes, True)
        else:
            machine.tally.shared_atomic(position, where, lanes, size)
        place = space.place(where, lanes)
        if values:
            act(space.memory, place, lanes)

    return step


def _halves_added(
    machine: Machine, given: list[Operand], results: tuple[Operand, ...], bfloat: bool
) -> Callable[[NDArray[np.uint8], NDArray[np.int64], Mask], None]:
    """Return an addition of two numbers in half precision, lane after lane.

    The predicate among the results says that it has been done, which code asks of generic
    addresses.
    """
    registers = machine.registers
    value = registers.u32(given[0])
    puts = [registers.put(one) for one in results if isinstance(one, Register)]
    truths = [registers.put_truth(one) for one in results if isinstance(one, Predicate)]
    shift = np.uint32(16)

    def act(memory: NDArray[np.uint8], place: NDArray[np.int64], lanes: Mask) -> None:
        words, added = memory.view(np.uint32), value()
        old = np.zeros(lanes.size, np.uint32)
        for lane in np.flatnonzero(lanes).tolist():
            at = place[lane] >> 2
            pair = np.array([words[at], added[lane]], np.uint32)
            old[lane] = pair[0]
            low, high = (
                from_half(part, bfloat).sum(keepdims=True) for part in (pair, pair >> shift)
            )
            words[at] = (to_half(low, bfloat) | to_half(high, bfloat) << shift)[0]
        for put in puts:
            put(old, lanes)
        for put_truth in truths:
            put_truth(lanes, lanes)

    return act


def _tested(
    machine: Machine, given: list[Operand], results: tuple[Operand, ...]
) -> Callable[[NDArray[np.uint8], NDArray[np.int64], Mask], None]:
    """Return a compare-and-swap that tells whether it swapped, as 1 or as a predicate."""
    registers = machine.registers
    compare, swap = (registers.u32(one) for one in given)
    puts = [registers.put(one) for one in results if isinstance(one, Register)]
    truths = [registers.put_truth(one) for one in results if isinstance(one, Predicate)]

    def act(memory: NDArray[np.uint8], place: NDArray[np.int64], lanes: Mask) -> None:
        wanted = np.ascontiguousarray(compare()).copy()
        old = np.zeros(lanes.size, np.uint32)
        atomics.atomic32(
            memory.view(np.uint32), place, lanes, atomics.CAS, False, wanted,
            np.ascontiguousarray(swap()), old,
        )  # fmt: skip
        swapped = old == wanted
        for put in puts:
            put(swapped.astype(np.uint32), lanes)
        for put_truth in truths:
            put_truth(swapped, lanes)

    return act


def _is_value(operand: Operand) -> bool:
    return not isinstance(operand, Predicate)


def _actor(
    machine: Machine,
    operation: int,
    signed: bool,
    wide: bool,
    given: list[Operand],
    target: Register | None,
) -> Callable[[NDArray[np.uint8], NDArray[np.int64], Mask], None]:
    registers, lanes_all = machine.registers, machine.geometry.lanes
    if wide:
        gets = [registers.u64(one) for one in given]
        put64 = registers.put64(target) if target else None

        def act64(memory: NDArray[np.uint8], place: NDArray[np.int64], lanes: Mask) -> None:
            operands = [get().view(np.int64) for get in gets]
            old = np.zeros(lanes_all, np.int64)
            atomics.atomic64(
                memory.view(np.int64), place, lanes, operation, signed, operands[0], operands[-1],
                old,
            )  # fmt: skip
            if put64:
                put64(old, lanes)

        return act64
    reads = [registers.u32(one) for one in given]
    put = registers.put(target) if target else None

    def act(memory: NDArray[np.uint8], place: NDArray[np.int64], lanes: Mask) -> None:
        operands = [np.ascontiguousarray(get()) for get in reads]
        old = np.zeros(lanes_all, np.uint32)
        atomics.atomic32(
            memory.view(np.uint32), place, lanes, operation, signed, operands[0], operands[-1], old
        )
        if put:
            put(old, lanes)

    return act


BINDERS: dict[str, MachineBind] = {
    **dict.fromkeys(("ATOMG", "ATOMS", "ATOM", "RED", "REDG"), reaching(_atomic)),
}
