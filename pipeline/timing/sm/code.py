"""What the replay knows of every instruction, as columns of numbers."""

import math
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.decode import Program
from pipeline.compiled.instruction import Address, Immediate, Instruction, Predicate, Register
from pipeline.compiled.opcodes import OPCODES
from pipeline.compiled.roles import memory_words
from pipeline.errors import ModelError

# Where an instruction goes.
FMA, HEAVY, ALU, UNIFORM, SPECIAL, TENSOR, DOUBLE, FREE = range(8)
SHARED, LOAD, STORE, LOCAL, COPY, SHUFFLE, ATOMIC = range(8, 15)
BARRIER, EXIT, GROUP, WAIT_GROUPS = range(15, 19)
FIRST_MEMORY, LAST_MEMORY = SHARED, ATOMIC

_STORES = ("STG", "STS", "STL", "ST", "STSM")
_HALF_OPERATIONS = ("HFMA2", "HADD2", "HMUL2")
_ON_HEAVY = ("IMAD", "IDP", *_HALF_OPERATIONS)
_UNITS = {
    "double": DOUBLE, "tensor": TENSOR, "convert": SPECIAL, "special": SPECIAL,
    "uniform": UNIFORM, "load_global": LOAD, "store_global": STORE, "load_shared": SHARED,
    "store_shared": SHARED, "local": LOCAL, "constant": SPECIAL,
}  # fmt: skip
_OF_OPCODE = {
    "FFMA": FMA, "FMUL": FMA, "FADD": FMA, **dict.fromkeys(_ON_HEAVY, HEAVY),
    "S2R": SPECIAL, "S2UR": SPECIAL, "B2R": SPECIAL, "POPC": SPECIAL, "FLO": SPECIAL,
    "BREV": SPECIAL, "I2FP": ALU, "F2FP": ALU, "SHFL": SHUFFLE, "LDGSTS": COPY,
    "LDGDEPBAR": GROUP, "DEPBAR": WAIT_GROUPS, "BAR": BARRIER, "EXIT": EXIT, "ATOMS": SHARED,
    "ATOMG": ATOMIC, "ATOM": ATOMIC, "RED": ATOMIC, "REDG": ATOMIC, "MATCH": SPECIAL,
    "REDUX": SPECIAL, "VOTE": ALU, "VOTEU": UNIFORM, "R2UR": ALU,
}  # fmt: skip
_SHAPE = re.compile(r"(16|8)(8)(\d+)")
SLOTS = 3
"""Operands that an instruction reads side by side."""


class Code(NamedTuple):
    """Columns over the instructions of a program.

    Attributes
    ----------
    unit
        Where it goes.
    stall, stay, write_barrier, read_barrier, wait
        Of the control word; barriers are -1 where none is set.
    register : (instructions, 3)
        Register that each operand slot reads, -1 for none.
    words : (instructions, 3)
        How many registers it spans there.
    reuse : (instructions, 3)
        Whether the slot keeps it.
    long
        Whether its result counts as a long scoreboard.
    store
        Whether it stores.
    size
        Words that it moves per lane.
    number
        Barrier of a BAR; groups that a wait leaves open.
    warps
        Warps that a BAR waits for, 0 for all of the block.
    products
        Multiply-adds of a tensor-core instruction.
    """

    unit: NDArray[np.int32]
    stall: NDArray[np.int32]
    stay: NDArray[np.int32]
    write_barrier: NDArray[np.int32]
    read_barrier: NDArray[np.int32]
    wait: NDArray[np.int32]
    register: NDArray[np.int32]
    words: NDArray[np.int32]
    reuse: NDArray[np.int32]
    long: NDArray[np.int32]
    store: NDArray[np.int32]
    size: NDArray[np.int32]
    number: NDArray[np.int32]
    warps: NDArray[np.int32]
    products: NDArray[np.int32]


def code(program: Program) -> Code:
    """Return the columns of a program."""
    rows = [_row(one) for one in program.instructions]
    columns = [np.array([row[i] for row in rows], np.int32) for i in range(len(Code._fields))]
    return Code(*columns)


def unit_of(instruction: Instruction) -> int:
    """Return where an instruction goes.

    Which pipe does what is that of the Nsight Compute Kernel Profiling Guide, 'Pipelines'.
    """
    opcode = instruction.opcode
    if opcode in _OF_OPCODE:
        return _OF_OPCODE[opcode]
    kind = OPCODES[opcode]
    if kind == "control" or kind in ("barrier", "warp"):
        return FREE
    return _UNITS.get(kind, ALU)


def _row(one: Instruction) -> tuple[object, ...]:
    unit = unit_of(one)
    bits = one.control
    registers, words, reuse = _slots(one)
    number, count = _numbers(one)
    return (
        unit, bits.stall, bits.stay, _or_none(bits.write_barrier), _or_none(bits.read_barrier),
        bits.wait, registers, words, reuse, unit in (LOAD, LOCAL, ATOMIC, COPY, STORE),
        one.opcode in ("STS", "STL", "STSM") or unit == STORE, memory_words(one.modifiers),
        number, count, _products(one),
    )  # fmt: skip


def _or_none(barrier: int | None) -> int:
    return -1 if barrier is None else barrier


def _slots(one: Instruction) -> tuple[list[int], list[int], list[int]]:
    """Return what the operand slots of an arithmetic instruction read."""
    sources = [operand for operand in one.sources if not isinstance(operand, Predicate)]
    registers, words, reuse = [-1] * SLOTS, [0] * SLOTS, [0] * SLOTS
    for slot, operand in enumerate(sources[:SLOTS]):
        # The register of an address is read like any other.
        register = operand.register if isinstance(operand, Address) else operand
        if isinstance(register, Register) and register.file == "R" and register.number is not None:
            registers[slot] = register.number
            words[slot] = 1 if isinstance(operand, Address) else _span(one, slot)
            reuse[slot] = int(register.reuse)
    return registers, words, reuse


def _span(one: Instruction, slot: int) -> int:
    if one.opcode == "IMAD" and one.has("WIDE"):
        return 2 if slot == SLOTS - 1 else 1
    if one.opcode == "HMMA":
        return (4, 2, 4)[slot] if "16816" in one.modifiers else (2, 1, 4)[slot]
    if one.opcode in _STORES:
        return memory_words(one.modifiers)
    return 2 if one.opcode in ("DFMA", "DADD", "DMUL") else 1


def _products(one: Instruction) -> int:
    """Return the multiply-adds of a tensor-core instruction, whose modifier is M, N and K."""
    shapes = filter(None, map(_SHAPE.fullmatch, one.modifiers))
    return next((math.prod(map(int, shape.groups())) for shape in shapes), 0)


def _numbers(one: Instruction) -> tuple[int, int]:
    """Return barrier and warps of a BAR, or the groups that a wait leaves open."""
    numbers = [operand.bits for operand in one.operands if isinstance(operand, Immediate)]
    if one.opcode == "BAR":
        if not numbers:
            raise ModelError(f"{one.place}: a barrier whose number is in a register")
        return numbers[0], (numbers[1] // 32 if len(numbers) > 1 else 0)
    if one.opcode == "DEPBAR":
        return (numbers[0] if numbers else 0), 0
    return 0, 0
