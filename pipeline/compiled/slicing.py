"""What of a program decides which instructions run and which addresses they touch.

Counters depend on addresses, predicates and branches, not on the numbers that a kernel computes.
A slice holds the instructions that feed these; the others are counted and not done.
"""

from dataclasses import dataclass
from functools import reduce
from operator import or_

from pipeline.compiled.decode import Program
from pipeline.compiled.instruction import (
    Address,
    Instruction,
    Predicate,
    Target,
    register_key,
)
from pipeline.compiled.roles import registers

ACCESSES = frozenset(
    ["LDG", "LDS", "LDL", "LD", "STG", "STS", "STL", "ST", "ATOMG", "ATOMS", "ATOM", "RED", "REDG",
     "LDGSTS", "LDSM"]
)  # fmt: skip
_FROM_MEMORY = frozenset(["LDG", "LDS", "LD", "ATOMG", "ATOMS", "ATOM", "LDSM"])
_CONTROL = frozenset(
    ["BRA", "BRX", "RET", "CALL", "EXIT", "BSSY", "BSYNC", "BREAK", "BMOV", "WARPSYNC", "BAR",
     "BPT"]
)  # fmt: skip
_COUNTED_BY_GUARD = ACCESSES | {"FFMA"}


@dataclass(frozen=True)
class Slice:
    """The part of a program that decides on counters.

    Attributes
    ----------
    positions
        Instructions whose results matter.
    live
        Registers that matter before every instruction, as bit masks over register numbers.
    on_data
        Positions of loads whose results matter: with any, counters depend on data.
    """

    positions: frozenset[int]
    live: tuple[int, ...]
    on_data: tuple[int, ...]


def successors(program: Program) -> list[tuple[int, ...]]:
    """Return where the program may go on after every instruction, as positions."""
    count = len(program.instructions)
    after_calls = tuple(
        number + 1 for number, one in enumerate(program.instructions) if one.opcode == "CALL"
    )
    tables = dict(program.branches)
    found = []
    for number, one in enumerate(program.instructions):
        onward = (number + 1,) if number + 1 < count else ()
        if one.opcode == "RET":
            found.append(after_calls)
        elif number in tables or one.opcode == "BRX":
            found.append(tables.get(number, ()))
        elif one.opcode in ("BRA", "CALL"):
            target = tuple(
                program.position[to.address] for to in one.operands if isinstance(to, Target)
            )
            found.append(target + (onward if _conditional(one) else ()))
        elif one.opcode == "EXIT":
            found.append(onward if _conditional(one) else ())
        else:
            found.append(onward)
    return found


def _conditional(instruction: Instruction) -> bool:
    guarded = instruction.guard is not None and instruction.guard.number is not None
    return (
        guarded
        or instruction.has("DIV")
        or any(isinstance(one, Predicate) for one in instruction.operands)
    )


def _bits(keys: tuple[int, ...] | list[int]) -> int:
    return reduce(or_, (1 << key for key in keys), 0)


def _guard(instruction: Instruction) -> int:
    guard = instruction.guard
    if guard is None or guard.number is None:
        return 0
    return 1 << register_key(guard.file, guard.number)


def _always_needed(instruction: Instruction, with_local: bool) -> int:
    """Return the registers that matter for themselves: addresses, guards, conditions."""
    if instruction.opcode in _CONTROL:
        return _bits(instruction.reads)
    needed = _guard(instruction) if instruction.opcode in _COUNTED_BY_GUARD else 0
    if instruction.opcode in ACCESSES:
        if with_local and instruction.opcode == "STL":
            return _bits(instruction.reads)
        for place, one in enumerate(instruction.operands):
            if isinstance(one, Address):
                shared_side = instruction.opcode == "LDGSTS" and place == 0
                modifiers = () if shared_side else instruction.modifiers
                needed |= _bits(list(registers(one, 1, modifiers)))
            elif isinstance(one, Predicate) and instruction.opcode == "LDGSTS":
                needed |= _bits(list(registers(one, 1, ())))
    return needed


def cut(program: Program) -> Slice:
    """Return the slice of a program."""
    found = _cut(program, with_local=False)
    instructions = program.instructions
    if any(instructions[number].opcode == "LDL" for number in found.positions):
        found = _cut(program, with_local=True)
    return found


def _cut(program: Program, with_local: bool) -> Slice:
    """Follow needed registers backwards until nothing is added."""
    instructions = program.instructions
    following = successors(program)
    writes = [_bits(one.writes) for one in instructions]
    reads = [_bits(one.reads) for one in instructions]
    always = [_always_needed(one, with_local) for one in instructions]
    definite = [0 if one.guard else mask for one, mask in zip(instructions, writes, strict=True)]
    live = [0] * len(instructions)
    chosen: set[int] = set()
    changed = True
    while changed:
        changed = False
        for number in range(len(instructions) - 1, -1, -1):
            after = reduce(or_, (live[to] for to in following[number]), 0)
            needed = after | always[number]
            if writes[number] & after:
                chosen.add(number)
                needed = (after & ~definite[number]) | reads[number] | always[number]
            if needed != live[number]:
                live[number] = needed
                changed = True
    on_data = sorted(number for number in chosen if instructions[number].opcode in _FROM_MEMORY)
    return Slice(frozenset(chosen), tuple(live), tuple(on_data))
