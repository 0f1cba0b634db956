"""Which operands an instruction writes, and how many registers each one spans."""

from collections.abc import Iterator

from pipeline.compiled.instruction import (
    Address,
    Constant,
    Name,
    Operand,
    Predicate,
    Register,
    register_key,
)

# Opcodes whose first operands are results, by how many; others write what stands first: predicates
# and one register, and the predicates right after it.
_WRITTEN = {
    **dict.fromkeys(("ISETP", "FSETP", "DSETP", "HSETP2", "UISETP", "PLOP3", "UPLOP3"), 2),
    **dict.fromkeys(("VOTE", "VOTEU"), 2),
    **dict.fromkeys(("UFSETP",), 2),
    **dict.fromkeys(("FCHK", "R2P", "ISCADD", "VOTE1"), 1),
    "P2R": 1,
    "BSSY": 1,
}
# Opcodes that write no register.
_NOTHING = frozenset(
    ["STG", "STS", "STL", "ST", "RED", "REDG", "REDAS", "BRA", "BRX", "JMP", "EXIT", "BSYNC", "BAR",
     "RET", "CALL", "WARPSYNC", "NOP", "MEMBAR", "ERRBAR", "CCTL", "DEPBAR", "LDGDEPBAR", "YIELD",
     "LDGSTS", "NANOSLEEP", "KILL", "BREAK", "ENDCOLLECTIVE", "CGAERRBAR", "PREEXIT", "FENCE",
     "ARRIVES", "BPT", "DEPBAR", "ACQBULK", "CCTLL", "UCGABAR_ARV", "UCGABAR_WAIT", "PMTRIG"]
)  # fmt: skip
_MEMORY = frozenset(
    ["LDG", "LDS", "LDL", "LD", "STG", "STS", "STL", "ST", "ATOMG", "ATOMS", "ATOM", "RED", "REDG",
     "LDC", "ULDC", "LDCU", "LDGSTS", "LDSM", "STSM"]
)  # fmt: skip
_WIDE_WITH_64 = frozenset(["MOV", "UMOV", "IADD", "UIADD", "IADD3", "UIADD3", "SEL", "USEL"])
_MINIMA = frozenset(["IMNMX", "UIMNMX", "VIMNMX", "UVIMNMX"])
_PREDICATES = 7
_DOUBLE = frozenset(["DADD", "DMUL", "DFMA", "DMNMX"])


def written(opcode: str, operands: tuple[Operand, ...]) -> int:
    """Return how many of the operands are results; they stand first."""
    if opcode in _NOTHING:
        return 0
    if opcode in ("VOTE", "VOTEU") and isinstance(operands[0], Predicate):
        return 1
    if opcode == "BMOV":
        return 1
    if opcode in _WRITTEN:
        return _WRITTEN[opcode]
    return _leading(operands)


def _leading(operands: tuple[Operand, ...]) -> int:
    """Count the predicates and the one register that stand first."""
    count, seen = 0, False
    for one in operands:
        if isinstance(one, Register) and not seen:
            seen = True
        elif not isinstance(one, Predicate):
            break
        count += 1
    return count


def memory_words(modifiers: tuple[str, ...]) -> int:
    """Return how many registers a load or store moves per lane."""
    return 4 if "128" in modifiers else 2 if "64" in modifiers else 1


def _matrix_words(modifiers: tuple[str, ...]) -> tuple[int, ...]:
    """Return the registers of D, A, B and C of a tensor-core instruction."""
    shape = modifiers[0]
    if shape in ("884", "8x8x4"):
        return 4, 2, 2, 4
    wide = 4 if "F32" in modifiers or "S8" in modifiers or "U8" in modifiers else 2
    if "S4" in modifiers or "U4" in modifiers:
        wide = 4
    a = {"16816": 4, "1688": 2, "1684": 2, "8816": 1, "16832": 4, "16864": 4, "8832": 1}[shape]
    if shape == "1688" and "TF32" in modifiers:
        a = 4
    if shape == "16816" and ("S8" in modifiers or "U8" in modifiers):
        a = 2
    if shape.startswith("88"):
        return 2, 1, 1, 2
    return wide, a, a // 2, wide


def widths(opcode: str, modifiers: tuple[str, ...], operands: tuple[Operand, ...]) -> list[int]:
    """Return how many registers each operand spans."""
    result = _result_width(opcode, modifiers)
    source = _source_width(opcode, modifiers)
    first = written(opcode, operands)
    spans = [result if place < first else source for place in range(len(operands))]
    if opcode in ("HMMA", "IMMA", "BMMA", "DMMA"):
        words = _matrix_words(modifiers)
        spans[: len(words)] = words
    elif opcode in ("IMAD", "UIMAD") and {"WIDE", "HI"} & set(modifiers):
        registers = [i for i, one in enumerate(operands) if not isinstance(one, Predicate)]
        spans[registers[3]] = 2
    elif opcode in ("SEL", "FSEL") and "64" in modifiers:
        spans = [2] * len(operands)
    elif opcode == "RET" or opcode == "BRX":
        spans[0] = 2
    return spans


def _result_width(opcode: str, modifiers: tuple[str, ...]) -> int:
    if opcode == "LDSM":
        return int(modifiers[-1]) if modifiers[-1] in ("2", "4") else 1
    if opcode in _MEMORY:
        return memory_words(modifiers)
    if opcode in ("CS2R", "CS2UR"):
        return 1 if "32" in modifiers else 2
    if opcode in ("IMAD", "UIMAD"):
        return 2 if "WIDE" in modifiers else 1
    if opcode in ("F2F", "I2F"):
        kinds = [kind for kind in modifiers if kind in ("F64", "F32", "F16")]
        return 2 if kinds[:1] == ["F64"] else 1
    if opcode == "F2I":
        return 2 if {"S64", "U64"} & set(modifiers) else 1
    return 2 if _is_wide(opcode, modifiers) else 1


def _source_width(opcode: str, modifiers: tuple[str, ...]) -> int:
    if opcode in ("LDC", "ULDC", "LDCU"):
        return 1
    if opcode in _MEMORY:
        return memory_words(modifiers)
    if opcode == "F2F":
        return 2 if "F64" in modifiers[1:] else 1
    if opcode == "F2I":
        return 2 if "F64" in modifiers else 1
    if opcode == "I2F":
        return 2 if {"S64", "U64"} & set(modifiers) else 1
    if opcode in ("DSETP",) or (opcode in ("ISETP", "UISETP") and {"S64", "U64"} & set(modifiers)):
        return 2
    if opcode == "MATCH":
        return 2 if "U64" in modifiers else 1
    return 2 if _is_wide(opcode, modifiers) else 1


def _is_wide(opcode: str, modifiers: tuple[str, ...]) -> bool:
    return (
        opcode in _DOUBLE
        or (opcode == "FRND" and "F64" in modifiers)
        or ("64" in modifiers and opcode in _WIDE_WITH_64)
        or (opcode in _MINIMA and bool({"S64", "U64"} & set(modifiers)))
    )


def registers(one: Operand, span: int, modifiers: tuple[str, ...]) -> Iterator[int]:
    """Yield the numbers of all registers of an operand, those of an address included."""
    if isinstance(one, Register):
        if one.number is not None:
            yield from (register_key(one.file, one.number + i) for i in range(span))
    elif isinstance(one, Predicate):
        if one.number is not None:
            yield register_key(one.file, one.number)
    elif isinstance(one, Constant):
        yield from registers(one.register, 1, modifiers) if one.register else ()
    elif isinstance(one, Address):
        yield from _address_registers(one, modifiers)
    elif isinstance(one, Name):
        yield from _named(one.text)


def _named(name: str) -> Iterator[int]:
    """Yield the number of a barrier, or those of all predicates."""
    if name.startswith("B") and name[1:].isdigit():
        yield register_key("B", int(name[1:]))
    elif name == "PR":
        yield from (register_key("P", i) for i in range(_PREDICATES))


def address_span(part: Register, modifiers: tuple[str, ...]) -> int:
    """Return how many registers a part of an address spans: extended ones are 64 bits wide."""
    if "U32" in part.suffixes or "E" not in modifiers:
        return 2 if "64" in part.suffixes else 1
    return 2


def _address_registers(one: Address, modifiers: tuple[str, ...]) -> Iterator[int]:
    for part in (one.register, one.uniform):
        if part is not None:
            yield from registers(part, address_span(part, modifiers), modifiers)
    if one.descriptor is not None:
        yield from registers(one.descriptor, 2, modifiers)
