"""Loads, stores and atomics of a batch of programs: values moved, bytes and sectors counted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs import dtypes, traffic, traffic_fast
from pipeline.block_programs.arithmetic import cast, constant, is_number
from pipeline.block_programs.block import Block, aligned
from pipeline.block_programs.dtypes import DType
from pipeline.block_programs.hazards import LANES, PROGRAMS, Hazard
from pipeline.block_programs.machine import Machine, OrderError
from pipeline.block_programs.memory import Argument, Storage
from pipeline.block_programs.narrow import from_bits, to_bits
from pipeline.block_programs.source import refusal, source
from pipeline.errors import OutOfRangeError

Array = NDArray[Any]

HAZARDS_KEPT = 16
"""How many hazards of one store are described; all are counted."""

_EVERYTHING = np.ones((1, 1), np.bool_)
_COMPILED = tuple(np.dtype(name) for name in ("i4", "i8", "u4", "u8", "f4", "f8"))


class TrackError(Exception):
    """A batch reads and writes one array: it starts again, with reads noted."""


@dataclass(frozen=True)
class Undo:
    """What stood in places of a storage before a write."""

    storage: Storage
    places: Array
    bits: Array
    writer: Array
    storer: Array

    def undo(self) -> None:
        """Put everything back."""
        self.storage.bits[self.places] = self.bits
        self.storage.writer[self.places] = self.writer
        self.storage.storer[self.places] = self.storer


def load(machine: Machine, pointer: Block, mask: Block | None, other: Any) -> Block:
    """Load elements where ``mask`` is true; elsewhere take ``other``, or zero without it."""
    memory, dtype = _target(pointer, "load")
    shape = pointer.data.shape[1:]
    filler = np.zeros((1, 1), np.dtype(f"uint{8 * dtype.itemsize}"))
    if other is not None:
        given = constant(pointer, other, dtype) if is_number(other) else cast(other, dtype)
        filler = _rows(to_bits(given.data, dtype), shape, "other")
    offsets, lit = _rows(pointer.data, shape, "load"), _mask(mask, shape)
    rows = max(len(offsets), len(lit), len(filler))
    storage = memory.storage
    out = np.empty((rows, offsets.shape[1]), storage.bits.dtype)
    active, sectors, row, lane = traffic_fast.gather(
        storage.bits, memory.start, (memory.low, memory.high), offsets, lit, filler,
        storage.stamps, storage.ticks(rows), out,
    )  # fmt: skip
    if row >= 0:
        raise _out_of_range(machine, memory, "loads", offsets, row, lane, rows)
    _note_read(machine, memory, offsets, lit)
    times = machine.together // rows
    machine.count("loads", machine.together)
    machine.count("load_bytes", active * times * dtype.itemsize)
    machine.count("load_sectors", sectors * times)
    data = from_bits(out, dtype).reshape(rows, *shape)
    machine.notice(data)
    return pointer.like(data, dtype)


def store(machine: Machine, pointer: Block, value: Any, mask: Block | None) -> None:
    """Store elements where ``mask`` is true, in launch order."""
    memory, dtype = _target(pointer, "store")
    touched = _touch(machine, memory, pointer, mask, "stores to")
    given = constant(pointer, value, dtype) if is_number(value) else cast(value, dtype)
    bits = _lanes(to_bits(given.data, dtype), touched, "value")
    storage = memory.storage
    found = np.empty((HAZARDS_KEPT, 5), np.int64)
    hazards = traffic_fast.scatter(
        storage.bits, touched.places, bits, touched.ends, machine.programs, storage.writer,
        storage.storer, storage.reader, found,
    )  # fmt: skip
    if hazards < 0:
        raise OrderError
    machine.count("stores", machine.together)
    machine.count("store_bytes", len(touched.places) * dtype.itemsize)
    machine.count("store_sectors", touched.sectors)
    if hazards:
        _report(machine, memory, found[:hazards], hazards)


def atomic(
    machine: Machine, pointer: Block, op: int, value: Any, mask: Block | None, compare: Any = None
) -> Block:
    """Do one atomic per element, in launch order, and return what was there before."""
    memory, dtype = _target(pointer, "atomic")
    bitwise = op in (traffic_fast.AND, traffic_fast.OR, traffic_fast.XOR)
    if bitwise and not dtype.is_int():
        raise refusal(f"atomics of bits take integers, not {dtype}")
    touched = _touch(machine, memory, pointer, mask, "updates")
    given, expected = (
        _lanes(_held(pointer, x, dtype), touched, "value")
        for x in (value, value if compare is None else compare)
    )
    storage = memory.storage
    held = from_bits(storage.bits, dtype)
    fast = held.dtype in _COMPILED and not bitwise
    # Types that are held as others are copies: what changed is written back below.
    in_place = np.shares_memory(held, storage.bits)
    old = np.empty(len(touched.places), held.dtype)
    done = (traffic_fast if fast else traffic).exchange(
        held, touched.places, given, expected, touched.ends, machine.programs, storage.writer,
        storage.reader, op, old,
    )  # fmt: skip
    if not done:
        raise OrderError
    if not in_place:
        storage.bits[touched.places] = to_bits(held[touched.places], dtype)
    machine.locked = machine.locked or op == traffic_fast.CAS
    machine.count("atomics", machine.together)
    machine.count("atomic_bytes", len(touched.places) * dtype.itemsize)
    machine.count("atomic_sectors", touched.sectors)
    out = np.zeros((machine.together, int(np.prod(touched.shape))), dtype.held)
    out.reshape(-1)[touched.lanes] = old
    return pointer.like(out.reshape(machine.together, *touched.shape), dtype)


@dataclass(frozen=True)
class Touched:
    """Elements that a store or an atomic touches: see :func:`traffic.resolve`."""

    places: Array
    lanes: Array
    ends: Array
    sectors: int
    shape: tuple[int, ...]


def _touch(
    machine: Machine, memory: Argument, pointer: Block, mask: Block | None, verb: str
) -> Touched:
    """Find the elements of a write, check them, and remember them in case it must be undone."""
    storage = memory.storage
    if not memory.writable:
        raise refusal(f"{memory.name} is read-only, and the program {verb} it")
    shape = pointer.data.shape[1:]
    offsets, lit = _rows(pointer.data, shape, verb), _mask(mask, shape)
    machine.notice(offsets)
    rows = machine.together
    places, lanes = (np.empty(rows * offsets.shape[1], np.int64) for _ in range(2))
    ends = np.empty(rows, np.int64)
    active, sectors, row, lane = traffic_fast.resolve(
        memory.start, (memory.low, memory.high), memory.dtype.itemsize, offsets, lit,
        storage.stamps, storage.ticks(rows), places, lanes, ends,
    )  # fmt: skip
    if row >= 0:
        raise _out_of_range(machine, memory, verb, offsets, row, lane, rows)
    places, lanes = places[:active], lanes[:active]
    storage.note_writers()
    if not machine.in_turn:
        _need_tracking(storage, storage.loaded)
        storage.stored = True
        before = (x[places] for x in (storage.bits, storage.writer, storage.storer))
        machine.undo.append(Undo(storage, places, *before))
    return Touched(places, lanes, ends, sectors, shape)


def _note_read(machine: Machine, memory: Argument, offsets: Array, lit: Array) -> None:
    """Keep launch order between reads and writes of one array, where programs run together."""
    storage, rows = memory.storage, machine.together
    if machine.in_turn:
        return
    _need_tracking(storage, storage.stored)
    storage.loaded = True
    if not storage.tracked:
        return
    storage.note_readers()
    places, lanes = (np.empty(rows * offsets.shape[1], np.int64) for _ in range(2))
    ends = np.empty(rows, np.int64)
    active, *_ = traffic_fast.resolve(
        memory.start, (memory.low, memory.high), memory.dtype.itemsize, offsets, lit,
        storage.stamps, storage.ticks(rows), places, lanes, ends,
    )  # fmt: skip
    if not traffic_fast.read_in_order(
        places[:active], ends, machine.programs, storage.writer, storage.reader
    ):
        raise OrderError


def _need_tracking(storage: Storage, both: bool) -> None:
    if both and not storage.tracked:
        storage.tracked = True
        raise TrackError


def _target(pointer: Block, name: str) -> tuple[Argument, DType]:
    if not isinstance(pointer, Block) or pointer.memory is None:
        given = pointer.dtype if isinstance(pointer, Block) else type(pointer).__name__
        raise refusal(f"{name} takes pointers, not {given}")
    return pointer.memory, pointer.memory.dtype


def _rows(data: Array, shape: tuple[int, ...], name: str) -> Array:
    """Give a block's lanes in one row per program, (programs or 1, lanes)."""
    data = aligned(data, len(shape))
    if data.ndim > len(shape) + 1:
        raise refusal(f"{name}: pointers {shape} with a block of {data.shape[1:]}")
    if data.shape[1:] != shape:
        try:
            data = np.broadcast_to(data, (len(data), *shape))
        except ValueError:
            raise refusal(f"{name}: pointers {shape} with a block of {data.shape[1:]}") from None
    return np.ascontiguousarray(data).reshape(len(data), -1)


def _mask(mask: Any, shape: tuple[int, ...]) -> Array:
    if mask is None or (is_number(mask) and mask):
        return _EVERYTHING
    if is_number(mask):
        return ~_EVERYTHING
    return _rows(cast(mask, dtypes.int1).data, shape, "mask")


def _lanes(data: Array, touched: Touched, name: str) -> Array:
    """Values of the active lanes, in their order."""
    rows = _rows(data, touched.shape, name)
    width = rows.shape[1]
    everyone = np.broadcast_to(rows, (len(touched.ends), width))
    return everyone.reshape(-1)[touched.lanes]


def _held(pointer: Block, value: Any, dtype: DType) -> Array:
    return (constant(pointer, value, dtype) if is_number(value) else cast(value, dtype)).data


def _out_of_range(
    machine: Machine, memory: Argument, verb: str, offsets: Array, row: int, lane: int, rows: int
) -> OutOfRangeError:
    offset = int(offsets[row if len(offsets) > 1 else 0, lane])
    place = machine.place(int(machine.programs[row if rows > 1 else 0]))
    hint = ""
    if not memory.low <= offset < memory.high and offset < memory.low:
        hint = "; a product of int32 values may have overflowed: convert one with .to(tl.int64)"
    return OutOfRangeError(
        f"{source()}: program {place} {verb} {memory.name} at offset {offset} (element {lane} of "
        f"its block); offsets {memory.low} to {memory.high - 1} are allowed: check the mask{hint}"
    )


def _report(machine: Machine, memory: Argument, found: Array, count: int) -> None:
    """Describe stores of different values; after a CAS they are taken as guarded by a lock."""
    bits = np.dtype(f"uint{8 * memory.dtype.itemsize}")
    for place, before, after, *values in found.tolist():
        if machine.locked and before != after:
            continue
        old, new = from_bits(np.array(values, np.int64).astype(bits), memory.dtype).tolist()
        machine.hazards.append(
            Hazard(
                kind=PROGRAMS if before != after else LANES,
                argument=memory.name,
                offset=place - memory.start,
                programs=(machine.place(before), machine.place(after)),
                values=(old, new),
                source=source(),
            )
        )
    machine.hazard_count += 0 if machine.locked else count
