"""Listings become programs: every instruction decoded, every name resolved."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from pipeline.compiled.elf import Facts
from pipeline.compiled.instruction import (
    INSTRUCTION_BYTES,
    Instruction,
    Operand,
    Predicate,
    Register,
    Target,
    control,
    register_key,
)
from pipeline.compiled.listing import Data, Line, Listing
from pipeline.compiled.opcodes import OPCODES, REFUSED
from pipeline.compiled.operands import operand, split_operands
from pipeline.compiled.roles import registers, widths, written
from pipeline.errors import MachineCodeError

_GUARD = re.compile(r"@(!?)(U?P)(\d|T)\s+")
_LABEL = re.compile(r"`\(([^)]+)\)")
_BRANCHES = re.compile(r'\s*\(\*"BRANCH_TARGETS (.*?)"\*\)')
_REMARK = re.compile(r'\s*\(\*".*?"\*\)')

_DRIVER_STACK = 1024
"""Stack per thread that a driver allots unless told otherwise (B): cudaLimitStackSize."""


@dataclass(frozen=True)
class Program:
    """A decoded kernel.

    Attributes
    ----------
    kernel, architecture
        Entry and target, such as ``sm_80``.
    instructions
        In the order of their addresses.
    facts
        Registers, shared memory, parameters.
    data
        Contents of constant banks and global arrays.
    branches
        Targets of indirect branches by the position of the branch, as positions.
    """

    kernel: str
    architecture: str
    instructions: tuple[Instruction, ...]
    facts: Facts
    data: tuple[Data, ...] = ()
    branches: tuple[tuple[int, tuple[int, ...]], ...] = ()

    @cached_property
    def position(self) -> dict[int, int]:
        """Number of the instruction at each address."""
        return {one.address: number for number, one in enumerate(self.instructions)}

    @property
    def stack_bytes(self) -> int:
        """Local memory per thread (B): the driver's, where recursion hides the need."""
        uses = any(one.opcode in ("LDL", "STL") for one in self.instructions)
        return self.facts.local_bytes or (_DRIVER_STACK if uses else 0)

    @property
    def capability(self) -> int:
        """Compute capability, 80 for ``sm_80``."""
        return int(re.sub(r"\D", "", self.architecture))


def decode(listing: Listing) -> Program:
    """Decode every instruction of a listing.

    Raises
    ------
    MachineCodeError
        Naming address and source line of every instruction that is not known.
    """
    _check_whole(listing)
    instructions, unknown = [], []
    branches = []
    for number, line in enumerate(listing.lines):
        try:
            instruction, targets = _instruction(line, listing)
        except MachineCodeError as error:
            unknown.append(f"{_place(line, listing)}: {error}")
            continue
        except (ValueError, LookupError):
            unknown.append(f"{_place(line, listing)}: its operands cannot be read")
            continue
        instructions.append(instruction)
        if targets:
            branches.append((number, tuple(targets)))
    if unknown:
        raise MachineCodeError(
            f"{listing.kernel} for {listing.architecture}: {len(unknown)} instructions are not "
            f"known:\n" + "\n".join(f"  {line}" for line in unknown)
        )
    program = Program(
        listing.kernel, listing.architecture, tuple(instructions), listing.facts, listing.data
    )
    known = [(at, tuple(_positions(program, targets))) for at, targets in branches]
    return Program(
        program.kernel, program.architecture, program.instructions, program.facts, program.data,
        tuple(known),
    )  # fmt: skip


def _check_whole(listing: Listing) -> None:
    """Refuse code of which lines are missing: in between, or at its end, where labels tell.

    Lines may name only source files that the listing has.
    """
    if any(line.file > len(listing.files) for line in listing.lines):
        raise MachineCodeError(
            f"{listing.kernel} for {listing.architecture}: lines name source files that its head "
            f"does not; make the listing again"
        )
    here = 0
    for line in listing.lines:
        if line.address != here:
            break
        here += INSTRUCTION_BYTES
    if here != INSTRUCTION_BYTES * len(listing.lines) or here < max(
        listing.labels.values(), default=1
    ):
        raise MachineCodeError(
            f"{listing.kernel} for {listing.architecture}: instructions are missing from "
            f"{here:#06x} on; make the listing again"
        )


def _positions(program: Program, addresses: Iterable[int]) -> list[int]:
    return [program.position[address] for address in addresses]


def _place(line: Line, listing: Listing) -> str:
    source = f", {listing.files[line.file - 1]}:{line.line}" if line.line else ""
    return f"{line.address:#06x}{source}: {line.text}"


def _instruction(line: Line, listing: Listing) -> tuple[Instruction, list[int]]:
    """Decode one line; return the targets of an indirect branch with it."""
    text, targets = line.text, []
    if match := _BRANCHES.search(text):
        targets = [_resolved(name, listing.labels) for name in match[1].split(",")]
    text = _REMARK.sub("", text)
    guard = None
    if match := _GUARD.match(text):
        number = None if match[3] == "T" else int(match[3])
        guard = Predicate(match[2], number, match[1] == "!")
        text = text[match.end() :]
    word, _, rest = text.strip().partition(" ")
    opcode, *modifiers = word.split(".")
    if opcode in REFUSED:
        raise MachineCodeError(REFUSED[opcode])
    if opcode not in OPCODES:
        raise MachineCodeError(f"opcode {opcode} is not known")
    operands = tuple(_operands(opcode, rest, line, listing))
    if opcode == "CALL" and isinstance(operands[0], Register):
        targets = [at for name, at in listing.labels.items() if not name.startswith(".L")]
    return _complete(line, listing, opcode, tuple(modifiers), guard, operands), targets


def _operands(opcode: str, rest: str, line: Line, listing: Listing) -> list[Operand]:
    found: list[Operand] = []
    parts = split_operands(rest)
    if opcode in ("BRX", "JMX", "RET") or (opcode == "CALL" and rest.startswith("R")):
        # A register and what is added to it, without a comma between.
        parts = rest.replace("`", " `").split()
    encoded = line.lower >> 32
    for part in parts:
        if match := _LABEL.match(part):
            found.append(Target(_resolved(match[1], listing.labels)))
        else:
            found.append(operand(part, encoded))
    return found


def _resolved(name: str, labels: dict[str, int]) -> int:
    if name not in labels:
        raise MachineCodeError(
            f"the code goes to {name}, which is not in the kernel; functions that are not compiled "
            f"into it, such as printf, cannot be run"
        )
    return labels[name]


def _address_modifiers(opcode: str, place: int, modifiers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modifiers that say how wide an address is; shared memory has 32 bits."""
    return () if opcode == "LDGSTS" and place == 0 else modifiers


def _complete(
    line: Line,
    listing: Listing,
    opcode: str,
    modifiers: tuple[str, ...],
    guard: Predicate | None,
    operands: tuple[Operand, ...],
) -> Instruction:
    first = written(opcode, operands)
    spans = widths(opcode, modifiers, operands)
    touched = [
        tuple(registers(one, span, _address_modifiers(opcode, place, modifiers)))
        for place, (one, span) in enumerate(zip(operands, spans, strict=True))
    ]
    reads = [key for keys in touched[first:] for key in keys]
    if guard is not None and guard.number is not None:
        reads.append(register_key(guard.file, guard.number))
    return Instruction(
        address=line.address,
        text=line.text,
        opcode=opcode,
        modifiers=modifiers,
        guard=guard,
        operands=operands,
        written=first,
        writes=tuple(key for keys in touched[:first] for key in keys),
        reads=tuple(dict.fromkeys(reads)),
        control=control(line.upper),
        file=listing.files[line.file - 1] if line.file else None,
        line=line.line or None,
    )
