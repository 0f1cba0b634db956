"""Loads, stores, atomics and copies: what they move, and what they cost."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import fast
from pipeline.compiled.binding import Mask
from pipeline.compiled.constants import LOCAL_WINDOW, SHARED_WINDOW
from pipeline.compiled.elf import reserved_shared
from pipeline.compiled.instruction import (
    Address,
    Constant,
    Instruction,
    Operand,
    Predicate,
    Register,
)
from pipeline.compiled.machine import Machine
from pipeline.compiled.roles import address_span, memory_words
from pipeline.compiled.semantics.step import Step, refuse

_SMALL = {"U8": (1, False), "S8": (1, True), "U16": (2, False), "S16": (2, True), "8": (1, False),
          "16": (2, False)}  # fmt: skip
_SCALES = {"X4": 4, "X8": 8, "X16": 16}
WORD = 4

_LOWER = np.int64(0xFFFFFFFF)

MachineBind = Callable[[Instruction, Machine], Step]


def access_bytes(instruction: Instruction) -> int:
    """Return how many bytes a load or store moves per lane."""
    for name in instruction.modifiers:
        if name in _SMALL:
            return _SMALL[name][0]
    return WORD * memory_words(instruction.modifiers)


def address_of(
    machine: Machine, operand: Operand, modifiers: tuple[str, ...]
) -> Callable[[], NDArray[np.int64]]:
    """Return a reader of the byte address of every lane."""
    assert isinstance(operand, Address)
    parts = [
        _part(machine, one, modifiers)
        for one in (operand.register, operand.uniform)
        if one is not None and one.number is not None
    ]
    offset = np.int64(operand.offset)
    if not parts:
        fixed = np.full(machine.geometry.lanes, offset, np.int64)
        return lambda: fixed
    if len(parts) == 1:
        only = parts[0]
        return lambda: only() + offset
    first, second = parts
    return lambda: first() + second() + offset


def _part(
    machine: Machine, register: Register, modifiers: tuple[str, ...]
) -> Callable[[], NDArray[np.int64]]:
    plain = Register(register.file, register.number)
    if address_span(register, modifiers) == 2:
        wide = machine.registers.u64(plain)
        return lambda: wide().view(np.int64)
    word = machine.registers.word(plain)
    scale = next((_SCALES[name] for name in register.suffixes if name in _SCALES), 1)
    if "U32" in register.suffixes:
        return lambda: word.astype(np.int64) * scale
    return lambda: word.view(np.int32).astype(np.int64) * scale


# ---------- where accesses go ----------


class Global:
    """Global memory of the launch."""

    def __init__(self, machine: Machine, instruction: Instruction, size: int) -> None:
        self._machine, self._instruction, self._size = machine, instruction, size
        self._index = np.zeros(machine.geometry.lanes, np.int64)

    @property
    def memory(self) -> NDArray[np.uint8]:
        """Return the bytes of all arrays."""
        return self._machine.memory.buffer

    def place(self, address: NDArray[np.int64], lanes: Mask) -> NDArray[np.int64]:
        """Return the place in memory of every lane's access, or fail for the first bad one."""
        memory = self._machine.memory
        bad = fast.resolve(
            address, lanes, self._size, memory.starts, memory.ends, memory.offsets, self._index
        )
        if bad >= 0:
            raise self._machine.fault(
                self._instruction, bad, self._size, int(address[bad]),
                memory.near(int(address[bad])),
            )  # fmt: skip
        return self._index

    def count(self, position: int, address: NDArray[np.int64], lanes: Mask, _store: bool) -> None:
        """Count an access."""
        self._machine.tally.global_access(position, address, lanes, self._size)


class Own:
    """Memory that every block (shared) or every thread (local) has of its own."""

    def __init__(
        self,
        machine: Machine,
        instruction: Instruction,
        size: int,
        memory: NDArray[np.uint8],
        owner: NDArray[np.int64],
        each: int,
        name: str,
        reserved: int = 0,
    ) -> None:
        self._machine, self._instruction, self._size = machine, instruction, size
        self.memory = memory
        self._offset, self._each, self._name = owner * each, each, name
        self._index = np.zeros(machine.geometry.lanes, np.int64)
        self._reserved = reserved
        self._span = np.array([reserved], np.int64), np.array([each], np.int64)

    def place(self, address: NDArray[np.int64], lanes: Mask) -> NDArray[np.int64]:
        """Return the place in memory of every lane's access, or fail for the first bad one."""
        start, end = self._span
        bad = fast.resolve(address, lanes, self._size, start, end, start, self._index)
        if bad >= 0:
            byte, size = int(address[bad]) - self._reserved, self._each - self._reserved
            where = f"byte {byte} of {size} bytes of {self._name} memory"
            raise self._machine.fault(self._instruction, bad, self._size, int(address[bad]), where)
        return self._index + self._offset

    def count(self, position: int, address: NDArray[np.int64], lanes: Mask, store: bool) -> None:
        """Count an access."""
        if self._name == "shared":
            self._machine.tally.shared_access(position, address, lanes, self._size, store)
            return
        # Local memory lies interleaved: the same word of 32 threads is one line.
        lane = np.arange(address.size) % 32
        for word in range(-(-self._size // WORD)):
            place = ((address >> 2) + word) * 128 + lane * WORD
            self._machine.tally.global_access(position, place, lanes, min(self._size, WORD))


_KINDS = {"G": "global", "S": "shared", "L": "local"}


def space_of(machine: Machine, instruction: Instruction, size: int, kind: str) -> Global | Own:
    """Return the memory that an instruction reaches: global, shared or local."""
    if kind == "shared":
        return Own(
            machine, instruction, size, machine.shared, machine.geometry.block_of_lane(),
            machine.shared_bytes, kind, reserved_shared(machine.program.capability),
        )  # fmt: skip
    if kind == "local":
        return Own(
            machine, instruction, size, machine.local, np.arange(machine.geometry.lanes),
            machine.local_bytes, kind,
        )  # fmt: skip
    return Global(machine, instruction, size)


_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}
ReadAddress = Callable[[], NDArray[np.int64]]
BindAccess = Callable[[Instruction, Machine, str, ReadAddress], Step]


def reaching(access: BindAccess) -> MachineBind:
    """Return a binder of an access to the memory that its opcode names.

    A generic access goes, lane by lane, where the upper word of its address says.
    """

    def bind(instruction: Instruction, machine: Machine) -> Step:
        operand = next(one for one in instruction.operands if isinstance(one, Address))
        address = address_of(machine, operand, instruction.modifiers)
        kind = _KINDS.get("S" if instruction.opcode == "ATOMS" else instruction.opcode[2:3])
        if instruction.opcode in ("ATOMG", "RED", "REDG"):
            kind = "global"
        if kind is not None:
            return access(instruction, machine, kind, address)
        inside = {
            name: access(instruction, machine, name, lambda: address() & _LOWER)
            for name in _WINDOWS
        }
        outside = access(instruction, machine, "global", address)

        def step(mask: Mask | None, lanes: Mask) -> None:
            upper, rest = address() >> 32, lanes
            for name, window in _WINDOWS.items():
                part = lanes & (upper == window)
                if part.any():
                    inside[name](mask, part)
                    rest = rest & ~part
            if rest.any():
                outside(mask, rest)

        return step

    return bind


def _query(instruction: Instruction, machine: Machine) -> Step:
    """Bind QSPC: whether a generic address lies in shared or in local memory."""
    kind = next((one for one in instruction.modifiers if one in ("S", "L")), None)
    if kind is None:
        raise refuse(instruction, "this question about an address")
    operand = next(one for one in instruction.operands if isinstance(one, Address))
    address = address_of(machine, operand, instruction.modifiers)
    window = _WINDOWS[_KINDS[kind]]
    truths = [one for one in instruction.results if isinstance(one, Predicate)]
    put = machine.registers.put_truth(truths[0])
    return lambda mask, _lanes: put(address() >> 32 == window, mask)


# ---------- loads and stores ----------


def _load(instruction: Instruction, machine: Machine, kind: str, address: ReadAddress) -> Step:
    size = access_bytes(instruction)
    space = space_of(machine, instruction, size, kind)
    position = machine.position(instruction)
    target = next(one for one in instruction.results if isinstance(one, Register))
    move = _loader(instruction, machine, target, size)
    values = machine.moves(kind)

    def step(_mask: Mask | None, lanes: Mask) -> None:
        where = address()
        machine.accessed(position, where, lanes, kind)
        space.count(position, where, lanes, False)
        place = space.place(where, lanes)
        if values:
            move(space.memory, place, lanes)

    return step


def _loader(
    instruction: Instruction, machine: Machine, target: Register, size: int
) -> Callable[[NDArray[np.uint8], NDArray[np.int64], Mask], None]:
    if target.number is None:
        return lambda _memory, _place, _lanes: None
    rows = machine.registers.rows
    row = machine.registers.row(target)
    if size >= WORD:
        words = size // WORD
        return lambda memory, place, lanes: fast.load_words(
            memory.view(np.uint32), place, lanes, rows, row, words
        )
    signed = any(_SMALL[name][1] for name in instruction.modifiers if name in _SMALL)
    return lambda memory, place, lanes: fast.load_small(
        memory, place, lanes, size, signed, rows[row]
    )


def _store(instruction: Instruction, machine: Machine, kind: str, address: ReadAddress) -> Step:
    size = access_bytes(instruction)
    space = space_of(machine, instruction, size, kind)
    position = machine.position(instruction)
    source = next(one for one in instruction.operands if isinstance(one, Register))
    registers = machine.registers
    words = np.array(
        [
            registers.row(source, word if source.number is not None else 0)
            for word in range(max(1, size // WORD))
        ],
        np.int64,
    )
    values = machine.moves(kind)

    def step(_mask: Mask | None, lanes: Mask) -> None:
        where = address()
        machine.accessed(position, where, lanes, kind)
        space.count(position, where, lanes, True)
        place = space.place(where, lanes)
        if not values:
            return
        if size >= WORD:
            fast.store_words(space.memory.view(np.uint32), place, lanes, registers.rows, words)
        else:
            fast.store_small(space.memory, place, lanes, size, registers.rows[words[0]])

    return step


def _load_constant(instruction: Instruction, machine: Machine) -> Step:
    """Bind LDC and its kinds: words of a constant bank at an offset that a register may hold."""
    operand = next(one for one in instruction.sources if isinstance(one, Constant))
    target = next(one for one in instruction.results if isinstance(one, Register))
    registers = machine.registers
    size, words = access_bytes(instruction), memory_words(instruction.modifiers)
    offset = operand.offset
    index = None
    if operand.register is not None and operand.register.number is not None:
        index = registers.u32(operand.register)
    bank = operand.bank
    puts = [
        registers.put(Register(target.file, None if target.number is None else target.number + i))
        for i in range(words)
    ]
    signed = any(_SMALL[name][1] for name in instruction.modifiers if name in _SMALL)

    def read(at: NDArray[np.int64]) -> NDArray[np.uint32]:
        memory = machine.banks.memory(bank)
        if size >= WORD:
            return memory.view(np.uint32)[at >> 2]
        value = memory[at].astype(np.uint32)
        if size > 1:
            value = value | memory[at + 1].astype(np.uint32) << np.uint32(8)
        top = np.uint32(1 << (8 * size - 1))
        return ((value ^ top) - top).astype(np.uint32) if signed else value.astype(np.uint32)

    def step(mask: Mask | None, _lanes: Mask) -> None:
        start = offset if index is None else index().astype(np.int64) + offset
        for word, put in enumerate(puts):
            at = np.asarray(start + WORD * word, np.int64) & 0xFFFF
            put(np.broadcast_to(read(at), machine.geometry.lanes), mask)

    return step


BINDERS: dict[str, MachineBind] = {
    "QSPC": _query,
    **dict.fromkeys(("LDG", "LDS", "LDL", "LD"), reaching(_load)),
    **dict.fromkeys(("STG", "STS", "STL", "ST"), reaching(_store)),
    **dict.fromkeys(("LDC", "ULDC", "LDCU"), _load_constant),
}
