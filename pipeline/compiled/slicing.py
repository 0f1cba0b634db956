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


_UNIFORM_PREDICATES = range(register_key("UP", 0), register_key("B", 0))
_UNIFORM = reduce(
    or_, (1 << key for key in (*range(register_key("UR", 0), register_key("P", 0)),
                               *_UNIFORM_PREDICATES)),
)  # fmt: skip

Literal = tuple[int, bool]
"""A predicate's number and whether it is inverted."""
Live = dict[Literal | None, int]
"""Registers that matter where a literal holds, and wherever the lane goes (None)."""


def _literal(guard: Predicate | None) -> Literal | None:
    if guard is None or guard.number is None:
        return None
    return register_key(guard.file, guard.number), guard.inverted


@dataclass(frozen=True)
class _Facts:
    """What an instruction does to registers, as bit masks.

    ``kills`` are those that have a new value wherever ``literal`` holds; ``always`` those that
    matter whatever becomes of the results.
    """

    literal: Literal | None
    writes: int
    kills: int
    reads: int
    always: int


def _facts(instruction: Instruction, with_local: bool) -> _Facts:
    literal, writes = _literal(instruction.guard), _bits(instruction.writes)
    uniform = writes & _UNIFORM and literal is not None and literal[0] not in _UNIFORM_PREDICATES
    weak = literal is not None and (instruction.opcode in _CONTROL or uniform)
    return _Facts(
        # A group moves as a whole, and lanes share uniform registers: what one does matters to all.
        literal=None if weak else literal,
        writes=writes,
        kills=0 if weak else writes,
        reads=_bits(instruction.reads),
        always=_always_needed(instruction, with_local),
    )


def _opposite(literal: Literal) -> Literal:
    return literal[0], not literal[1]


def _edges(
    number: int, instruction: Instruction, following: tuple[int, ...]
) -> list[tuple[int, Literal | None]]:
    """Return where an instruction leads, with the literal that cannot hold there."""
    literal = _literal(instruction.guard)
    if instruction.opcode not in ("BRA", "EXIT") or literal is None:
        return [(to, None) for to in following]
    further = any(isinstance(one, Predicate) for one in instruction.operands)
    if further or instruction.has("DIV") or instruction.has("CONV"):
        return [(to, None) for to in following]
    return [(to, literal if to == number + 1 else _opposite(literal)) for to in following]


def _after(live: list[Live], edges: list[tuple[int, Literal | None]]) -> Live:
    found: Live = {}
    for to, never in edges:
        for literal, mask in live[to].items():
            if literal is None or literal != never:
                found[literal] = found.get(literal, 0) | mask
    return found


def _before(after: Live, one: _Facts) -> tuple[Live, bool]:
    """Return what matters before an instruction, and whether its results matter."""
    literal, opposite = one.literal, None if one.literal is None else _opposite(one.literal)
    found: Live = {None: 0}
    for other, mask in after.items():
        # What is said of a predicate that is written here does not hold before.
        kept = None if other is None or one.writes >> other[0] & 1 else other
        found[kept] = found.get(kept, 0) | mask
    wanted = bool(one.writes & _union(found, opposite))
    if literal is None:
        found = {other: mask & ~one.kills for other, mask in found.items()}
    else:
        # Where the guard does not hold, what was there stays.
        stays, found[None] = found[None] & one.kills, found[None] & ~one.kills
        found[literal] = found.get(literal, 0) & ~one.kills
        found[opposite] = found.get(opposite, 0) | stays
    found[literal] = found.get(literal, 0) | one.always | (one.reads if wanted else 0)
    if literal is not None and (wanted or one.always):
        found[None] |= 1 << literal[0]
    return {other: mask for other, mask in found.items() if mask}, wanted


def _union(live: Live, without: Literal | None = None) -> int:
    return reduce(or_, (mask for one, mask in live.items() if one is None or one != without), 0)


def _cut(program: Program, with_local: bool) -> Slice:
    """Follow needed registers backwards until nothing is added."""
    instructions = program.instructions
    edges = [
        _edges(number, one, following)
        for number, (one, following) in enumerate(
            zip(instructions, successors(program), strict=True)
        )
    ]
    facts = [_facts(one, with_local) for one in instructions]
    live: list[Live] = [{} for _ in instructions]
    chosen: set[int] = set()
    changed = True
    while changed:
        changed = False
        for number in range(len(instructions) - 1, -1, -1):
            before, wanted = _before(_after(live, edges[number]), facts[number])
            if wanted:
                chosen.add(number)
            if before != live[number]:
                live[number] = before
                changed = True
    on_data = sorted(number for number in chosen if instructions[number].opcode in _FROM_MEMORY)
    return Slice(frozenset(chosen), tuple(_union(one) for one in live), tuple(on_data))
