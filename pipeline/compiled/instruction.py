"""One instruction of a GPU's machine code, as a record.

Registers, uniform registers, predicates and convergence barriers share one numbering, so that what
an instruction reads and writes is a tuple of numbers: see :func:`register_key`.
"""

from dataclasses import dataclass

FILES = ("R", "UR", "P", "UP", "B")
_FIRST_KEY = {"R": 0, "UR": 256, "P": 512, "UP": 520, "B": 528}
KEYS = 544
"""Numbers of registers of all files lie below this."""

INSTRUCTION_BYTES = 16
"""Size of an instruction since Volta."""


def register_key(file: str, number: int) -> int:
    """Return the number of a register among those of all files."""
    return _FIRST_KEY[file] + number


@dataclass(frozen=True, slots=True)
class Register:
    """A register of 32 bits, or the first of several.

    Attributes
    ----------
    file
        ``R`` for a value per lane, ``UR`` for one per warp.
    number
        None for the register that is always zero.
    negative, absolute, inverted
        What is done to the value when it is read; inverted is ``~``.
    reuse
        Whether the operand cache is to keep the value for the next instruction.
    suffixes
        Parts that are read or scaled: ``H0_H0``, ``X4``, ``64`` and the like.
    """

    file: str
    number: int | None
    negative: bool = False
    absolute: bool = False
    inverted: bool = False
    reuse: bool = False
    suffixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Predicate:
    """A truth value; ``number`` is None for the one that always holds."""

    file: str
    number: int | None
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class Immediate:
    """A constant in the instruction.

    Attributes
    ----------
    bits
        The 64-bit two's complement of an integer, or the 32 bits that encode real numbers: the
        number itself, both halves of a pair, or the upper half of a double.
    real
        Whether it is written as a real number.
    """

    bits: int
    real: bool = False


@dataclass(frozen=True, slots=True)
class Constant:
    """A word of a constant bank: ``c[bank][register + offset]``."""

    bank: int
    offset: int
    register: Register | None = None
    negative: bool = False
    absolute: bool = False
    inverted: bool = False
    suffixes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Address:
    """A place in memory: ``[register + uniform + offset]``, with a descriptor beside."""

    register: Register | None
    uniform: Register | None
    offset: int
    descriptor: Register | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """Anything else: special registers, barriers, scoreboards, sets of predicates."""

    text: str


@dataclass(frozen=True, slots=True)
class Target:
    """A place in the code (bytes from the start of the kernel)."""

    address: int


Operand = Register | Predicate | Immediate | Constant | Address | Name | Target


@dataclass(frozen=True, slots=True)
class Control:
    """What the compiler tells the scheduler (bits 105 to 125 of the instruction).

    Attributes
    ----------
    stall
        Cycles before the warp may issue its next instruction.
    stay
        The yield bit as it is encoded: 1 keeps the scheduler with this warp.
    write_barrier, read_barrier
        Scoreboards, 0 to 5, that are released when the result is written or the operands have been
        read; None where the instruction sets none.
    wait
        Bit mask of the scoreboards that must be clear before issue.
    reuse
        Bit mask of the operand slots that the cache keeps.
    """

    stall: int
    stay: int
    write_barrier: int | None
    read_barrier: int | None
    wait: int
    reuse: int


_NO_BARRIER = 7


def control(upper: int) -> Control:
    """Take the control bits out of the upper 64 bits of an instruction."""
    bits = upper >> (105 - 64)
    write, read = bits >> 5 & 7, bits >> 8 & 7
    return Control(
        stall=bits & 15,
        stay=bits >> 4 & 1,
        write_barrier=None if write == _NO_BARRIER else write,
        read_barrier=None if read == _NO_BARRIER else read,
        wait=bits >> 11 & 63,
        reuse=bits >> 17 & 15,
    )


@dataclass(frozen=True, slots=True)
class Instruction:
    """One decoded instruction.

    Attributes
    ----------
    address
        Bytes from the start of the kernel.
    text
        As the disassembler writes it, guard included.
    opcode, modifiers
        ``IMAD.WIDE.U32`` is ``IMAD`` with ``("WIDE", "U32")``.
    guard
        Predicate under which lanes take part, or None.
    operands
        In the order of the text.
    written
        How many of ``operands`` are results; they come first.
    writes, reads
        Numbers of all registers that are written and read, see :func:`register_key`; the guard is
        among those read.
    control
        Bits for the scheduler.
    file, line
        Of the source, where known.
    """

    address: int
    text: str
    opcode: str
    modifiers: tuple[str, ...]
    guard: Predicate | None
    operands: tuple[Operand, ...]
    written: int
    writes: tuple[int, ...]
    reads: tuple[int, ...]
    control: Control
    file: str | None = None
    line: int | None = None

    def has(self, modifier: str) -> bool:
        """Say whether the opcode carries a modifier."""
        return modifier in self.modifiers

    @property
    def results(self) -> tuple[Operand, ...]:
        """The operands that are written."""
        return self.operands[: self.written]

    @property
    def sources(self) -> tuple[Operand, ...]:
        """The operands that are read."""
        return self.operands[self.written :]

    @property
    def place(self) -> str:
        """Address and source line, for messages."""
        source = f", {self.file}:{self.line}" if self.line else ""
        return f"{self.address:#06x}{source}: {self.text}"
