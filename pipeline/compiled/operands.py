"""Operands of the disassembler's text as records."""

import re
from functools import lru_cache

from pipeline.compiled.instruction import (
    Address,
    Constant,
    Immediate,
    Name,
    Operand,
    Predicate,
    Register,
)
from pipeline.errors import MachineCodeError

_REGISTER = re.compile(r"(U?R)(\d+|Z)((?:\.\w+)*)$")
_PREDICATE = re.compile(r"(!?)(U?P)(\d+|T)$")
_CONSTANT = re.compile(r"c\[(0x[0-9a-f]+)\]\s?\[([^\]]+)\]((?:\.\w+)*)$")
_ADDRESS = re.compile(r"(?:desc\[(\w+)\])?\[([^\]]*)\]((?:\.\w+)*)$")
_INTEGER = re.compile(r"-?0x[0-9a-f]+$")
_REAL = re.compile(r"[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|INF|QNAN|SNAN)$")
_NAME = re.compile(
    r"(?:SR?_?\w+|B\d+|SB\d+|PR|SRZ|(?:SR_)?[A-Za-z]\w*(?:\.[A-Za-z]\w*)*|\{[\d,]+\})$"
)
_ALL_ONES = (1 << 64) - 1


def split_operands(text: str) -> list[str]:
    """Cut the operands of an instruction apart at commas outside of braces."""
    return [part.strip() for part in re.split(r",(?![^{]*\})", text)] if text.strip() else []


@lru_cache(maxsize=1 << 14)
def register(text: str) -> Register:
    """Read a register without signs, such as ``R2.64`` or ``URZ``."""
    match = _REGISTER.match(text)
    if match is None:
        raise MachineCodeError(f"{text!r} is no register")
    suffixes = tuple(match[3].split(".")[1:])
    return Register(
        file=match[1],
        number=None if match[2] == "Z" else int(match[2]),
        reuse="reuse" in suffixes,
        suffixes=tuple(suffix for suffix in suffixes if suffix != "reuse"),
    )


def _signed(text: str) -> tuple[str, bool, bool, bool]:
    """Strip ``-``, ``~`` and ``|..|``; return the rest and which there were."""
    negative, inverted = text.startswith("-"), text.startswith("~")
    rest = text[1:] if negative or inverted else text
    absolute = rest.startswith("|")
    # What follows the closing bar, .reuse or .H0_H0, belongs to the register.
    return (rest.replace("|", "") if absolute else rest), negative, absolute, inverted


@lru_cache(maxsize=1 << 14)
def operand(text: str, encoded: int) -> Operand:
    """Read one operand.

    Parameters
    ----------
    text
        As the disassembler writes it.
    encoded
        The 32 bits that hold immediates, for real numbers, which the text rounds.

    Raises
    ------
    MachineCodeError
        If it is of no known form.
    """
    if match := _PREDICATE.match(text):
        number = None if match[3] == "T" else int(match[3])
        return Predicate(match[2], number, match[1] == "!")
    if _INTEGER.match(text):
        return Immediate(int(text, 16) & _ALL_ONES)
    if _REAL.match(text):
        return Immediate(encoded, real=True)
    if match := _ADDRESS.match(text):
        return _address(match[1], match[2])
    bare, negative, absolute, inverted = _signed(text)
    if _REGISTER.match(bare):
        plain = register(bare)
        return Register(
            plain.file, plain.number, negative, absolute, inverted, plain.reuse, plain.suffixes
        )
    if match := _CONSTANT.match(bare):
        index, offset = _sum(match[2])
        suffixes = tuple(part for part in match[3].split(".")[1:] if part != "reuse")
        return Constant(
            int(match[1], 16), offset, index[0] if index else None, negative, absolute, inverted,
            suffixes,
        )  # fmt: skip
    if _NAME.match(text):
        return Name(text)
    raise MachineCodeError(f"{text!r} is no operand that is known")


def _sum(text: str) -> tuple[list[Register], int]:
    """Read a sum of registers and numbers."""
    registers, offset = [], 0
    for part in text.replace("+-", "+ -").split("+"):
        term = part.replace(" ", "")
        if re.match(r"-?(0x[0-9a-f]+|\d+)$", term):
            offset += int(term, 0)
        elif term:
            registers.append(register(term))
    return registers, offset


def _address(descriptor: str | None, inside: str) -> Address:
    registers, offset = _sum(inside)
    general = [one for one in registers if one.file == "R"]
    uniform = [one for one in registers if one.file == "UR"]
    if len(general) > 1 or len(uniform) > 1:
        raise MachineCodeError(f"[{inside}] adds up two registers of a kind")
    return Address(
        general[0] if general else None,
        uniform[0] if uniform else None,
        offset,
        register(descriptor) if descriptor else None,
    )
