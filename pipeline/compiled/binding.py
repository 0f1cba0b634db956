"""What an instruction's operands are on the arrays of a batch: how they are read and written."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.constants import ConstantBanks
from pipeline.compiled.decode import Program
from pipeline.compiled.geometry import Geometry
from pipeline.compiled.instruction import (
    Constant,
    Immediate,
    Operand,
    Predicate,
    Register,
    register_key,
)
from pipeline.errors import MachineCodeError

Words = NDArray[np.uint32]
Mask = NDArray[np.bool_]
Get = Callable[[], NDArray]
Put = Callable[[NDArray, Mask | None], None]

_TRUE = 14
_UNIFORM_PREDICATES = 7
_SIGN32, _SIGN64 = np.uint32(1 << 31), np.uint64(1 << 63)
_SPARE_REGISTERS = 4


class Registers:
    """Registers and predicates of every lane of a batch, with constants as registers beside them.

    Uniform registers are kept per lane as well, so that every instruction reads and writes rows.

    Attributes
    ----------
    rows : (rows, lanes)
        R0 and up, then UR0 and up, then constants.
    predicates : (15, lanes)
        P0 to P6, UP0 to UP6, and one that always holds.
    """

    def __init__(self, program: Program, geometry: Geometry, banks: ConstantBanks) -> None:
        self._banks = banks
        used = [
            one
            for instruction in program.instructions
            for operand in instruction.operands
            for one in _registers(operand)
        ]
        self._uniform = _SPARE_REGISTERS + 1 + _most(used, "R")
        constants = self._uniform + _SPARE_REGISTERS + 1 + _most(used, "UR")
        values = {0: constants}
        for instruction in program.instructions:
            for operand in instruction.operands:
                for value in self._words(operand):
                    values.setdefault(value, constants + len(values))
        self._constants = values
        self.rows: Words = np.zeros((constants + len(values), geometry.lanes), np.uint32)
        for value, row in values.items():
            self.rows[row] = value
        self.predicates = np.zeros((_TRUE + 1, geometry.lanes), np.bool_)
        self.predicates[_TRUE] = True
        self.carried = constants
        """Rows below this one hold registers, those from it on constants."""

    def _words(self, operand: Operand) -> Iterable[int]:
        """Yield the constants that an operand may read, a word at a time."""
        if isinstance(operand, Immediate):
            yield operand.bits & 0xFFFFFFFF
            yield operand.bits >> 32
        elif isinstance(operand, Constant) and operand.register is None:
            for offset in (operand.offset, operand.offset + 4):
                yield self._banks.word(operand.bank, offset)

    # ---------- places ----------

    def row(self, operand: Operand, word: int = 0) -> int:
        """Return the row of a word of a register or of a constant."""
        if isinstance(operand, Register):
            if operand.number is None:
                return self._constants[0]
            first = self._uniform if operand.file == "UR" else 0
            return first + operand.number + word
        if isinstance(operand, Immediate):
            bits = (operand.bits, operand.bits >> 32)[word]
            return self._constants[bits & 0xFFFFFFFF]
        if isinstance(operand, Constant) and operand.register is None:
            return self._constants[self._banks.word(operand.bank, operand.offset + 4 * word)]
        raise MachineCodeError(f"{operand} is no value of 32 bits")

    def rows_of(self, keys: int) -> NDArray[np.int64]:
        """Return the rows of registers given as a bit mask over their numbers."""
        files = (("R", 0, self._uniform), ("UR", self._uniform, self.carried))
        found = [
            first + number
            for file, first, end in files
            for number in range(end - first)
            if keys >> register_key(file, number) & 1
        ]
        return np.array(found, np.int64)

    @staticmethod
    def predicate_row(operand: Predicate) -> int:
        """Return the row of a predicate."""
        if operand.number is None:
            return _TRUE
        return operand.number + (_UNIFORM_PREDICATES if operand.file == "UP" else 0)

    # ---------- reading ----------

    def word(self, operand: Operand, word: int = 0) -> Words:
        """Return the row itself, without what the operand does to its value."""
        view: Words = self.rows[self.row(operand, word)]
        return view

    def u32(self, operand: Operand) -> Get:
        """Return a reader of 32-bit integers, sign and complement applied."""
        view = self.word(operand)
        if getattr(operand, "inverted", False):
            return lambda: ~view
        if getattr(operand, "absolute", False):
            signed = view.view(np.int32)
            if getattr(operand, "negative", False):
                return lambda: (-np.abs(signed)).view(np.uint32)
            return lambda: np.abs(signed).view(np.uint32)
        if getattr(operand, "negative", False):
            return lambda: np.negative(view)
        return lambda: view

    def u64(self, operand: Operand) -> Get:
        """Return a reader of 64-bit integers in two registers."""
        low, high = self.word(operand), self._high(operand)
        inverted = getattr(operand, "inverted", False)
        negative = getattr(operand, "negative", False)

        def get() -> NDArray[np.uint64]:
            value = low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)
            return ~value if inverted else np.negative(value) if negative else value

        return get

    def _high(self, operand: Operand) -> Words:
        if isinstance(operand, Register) and operand.number is None:
            return self.word(operand)
        return self.word(operand, 1)

    def f32(self, operand: Operand) -> Get:
        """Return a reader of single-precision numbers."""
        view = self.word(operand).view(np.float32)
        return _with_sign(view, operand)

    def f64(self, operand: Operand) -> Get:
        """Return a reader of double-precision numbers; immediates hold the upper half."""
        if isinstance(operand, Immediate):
            bits = operand.bits << 32 if operand.real else operand.bits
            value = np.full(self.rows.shape[1], bits & (1 << 64) - 1, np.uint64).view(np.float64)
            return lambda: value
        join = self.u64(_plain(operand))
        if not (getattr(operand, "negative", False) or getattr(operand, "absolute", False)):
            return lambda: join().view(np.float64)
        return lambda: _with_sign(join().view(np.float64), operand)()

    def truth(self, operand: Operand) -> Get:
        """Return a reader of a predicate."""
        assert isinstance(operand, Predicate)
        view = self.predicates[self.predicate_row(operand)]
        return (lambda: ~view) if operand.inverted else (lambda: view)

    # ---------- writing ----------

    def put(self, operand: Operand) -> Put:
        """Return a writer of 32 bits; other types of 32 bits are taken as they are."""
        if isinstance(operand, Register) and operand.number is None:
            return _drop
        row = self.word(operand)

        def put(value: NDArray, mask: Mask | None) -> None:
            bits = value if value.dtype == np.uint32 else value.view(np.uint32)
            if mask is None:
                row[...] = bits
            else:
                np.copyto(row, bits, where=mask)

        return put

    def put64(self, operand: Operand) -> Put:
        """Return a writer of 64 bits into two registers."""
        if isinstance(operand, Register) and operand.number is None:
            return _drop
        low, high = self.word(operand), self.word(operand, 1)

        def put(value: NDArray, mask: Mask | None) -> None:
            halves = np.ascontiguousarray(value).view(np.uint32).reshape(-1, 2)
            where = True if mask is None else mask
            np.copyto(low, halves[:, 0], where=where)
            np.copyto(high, halves[:, 1], where=where)

        return put

    def put_truth(self, operand: Operand) -> Put:
        """Return a writer of a predicate."""
        assert isinstance(operand, Predicate)
        if operand.number is None:
            return _drop
        row = self.predicates[self.predicate_row(operand)]

        def put(value: NDArray, mask: Mask | None) -> None:
            np.copyto(row, value, where=True if mask is None else mask)

        return put


def _drop(_value: NDArray, _mask: Mask | None) -> None:
    """Write to the register that is always zero."""


def _plain(operand: Operand) -> Operand:
    """Return the operand without signs."""
    if isinstance(operand, Register):
        return Register(operand.file, operand.number)
    if isinstance(operand, Constant):
        return Constant(operand.bank, operand.offset, operand.register)
    return operand


def _with_sign(view: NDArray, operand: Operand) -> Get:
    negative = getattr(operand, "negative", False)
    if getattr(operand, "absolute", False):
        return (lambda: -np.abs(view)) if negative else (lambda: np.abs(view))
    return (lambda: -view) if negative else (lambda: view)


def _registers(operand: Operand) -> Iterable[Register]:
    for one in (operand, *(getattr(operand, name, None) for name in _PARTS)):
        if isinstance(one, Register) and one.number is not None:
            yield one


_PARTS = ("register", "uniform", "descriptor")


def _most(registers: Iterable[Register], file: str) -> int:
    return max((one.number or 0 for one in registers if one.file == file), default=0)
