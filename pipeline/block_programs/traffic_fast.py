"""Compiled twin of :mod:`pipeline.block_programs.traffic`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled

_SECTOR_SHIFT = 5
ADD, MAX, MIN, AND, OR, XOR, XCHG, CAS = range(8)


@compiled
def gather(
    memory: NDArray[Any],
    start: int,
    bounds: tuple[int, int],
    offsets: NDArray[np.int64],
    mask: NDArray[np.bool_],
    other: NDArray[Any],
    stamps: NDArray[np.int64],
    tick: int,
    out: NDArray[Any],
) -> tuple[int, int, int, int]:
    """Load elements; arguments and results as in the plain twin."""
    low, high = bounds
    active = sectors = 0
    size = memory.itemsize
    for r in range(out.shape[0]):
        o = r if offsets.shape[0] > 1 else 0
        m = r if mask.shape[0] > 1 else 0
        d = r if other.shape[0] > 1 else 0
        last = -1
        for i in range(out.shape[1]):
            if not mask[m, i if mask.shape[1] > 1 else 0]:
                out[r, i] = other[d, i if other.shape[1] > 1 else 0]
                continue
            offset = offsets[o, i]
            if offset < low or offset >= high:
                return active, sectors, r, i
            place = start + offset
            out[r, i] = memory[place]
            active += 1
            sector = (place * size) >> _SECTOR_SHIFT
            if sector != last:
                last = sector
                if stamps[sector] != tick + r:
                    stamps[sector] = tick + r
                    sectors += 1
    return active, sectors, -1, -1


@compiled
def resolve(
    start: int,
    bounds: tuple[int, int],
    size: int,
    offsets: NDArray[np.int64],
    mask: NDArray[np.bool_],
    stamps: NDArray[np.int64],
    tick: int,
    places: NDArray[np.int64],
    lanes: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """Find the elements that a store touches; arguments and results as in the plain twin."""
    low, high = bounds
    active = sectors = 0
    width = offsets.shape[1]
    for r in range(ends.shape[0]):
        o = r if offsets.shape[0] > 1 else 0
        m = r if mask.shape[0] > 1 else 0
        last = -1
        for i in range(width):
            if not mask[m, i if mask.shape[1] > 1 else 0]:
                continue
            offset = offsets[o, i]
            if offset < low or offset >= high:
                return active, sectors, r, i
            place = start + offset
            places[active] = place
            lanes[active] = r * width + i
            active += 1
            sector = (place * size) >> _SECTOR_SHIFT
            if sector != last:
                last = sector
                if stamps[sector] != tick + r:
                    stamps[sector] = tick + r
                    sectors += 1
        ends[r] = active
    return active, sectors, -1, -1


@compiled
def read_in_order(
    places: NDArray[np.int64],
    ends: NDArray[np.int64],
    programs: NDArray[np.int64],
    writer: NDArray[np.int32],
    reader: NDArray[np.int32],
) -> bool:
    """Note who reads, and say whether launch order allows it; as in the plain twin."""
    first = 0
    for r in range(ends.shape[0]):
        for k in range(first, ends[r]):
            if writer[places[k]] > programs[r]:
                return False
            reader[places[k]] = max(reader[places[k]], programs[r])
        first = ends[r]
    return True


@compiled
def scatter(
    memory: NDArray[Any],
    places: NDArray[np.int64],
    values: NDArray[Any],
    ends: NDArray[np.int64],
    programs: NDArray[np.int64],
    writer: NDArray[np.int32],
    storer: NDArray[np.int32],
    reader: NDArray[np.int32],
    found: NDArray[np.int64],
) -> int:
    """Store elements; arguments and results as in the plain twin."""
    hazards = 0
    first = 0
    for r in range(ends.shape[0]):
        program = programs[r]
        for k in range(first, ends[r]):
            place = places[k]
            if _too_late(place, program, writer, reader):
                return -1
            before = storer[place]
            if before >= 0 and before != program and memory[place] != values[k]:
                _describe(found, hazards, place, before, program, memory[place], values[k])
                hazards += 1
            memory[place] = values[k]
            writer[place] = program
            storer[place] = program
        for k in range(first, ends[r]):
            place = places[k]
            if memory[place] != values[k]:
                _describe(found, hazards, place, program, program, values[k], memory[place])
                hazards += 1
        first = ends[r]
    return hazards


@compiled
def _too_late(
    place: int, program: int, writer: NDArray[np.int32], reader: NDArray[np.int32]
) -> bool:
    return writer[place] > program or (len(reader) > 0 and reader[place] > program)


@compiled
def _describe(
    found: NDArray[np.int64], row: int, place: int, before: int, after: int, old: int, new: int
) -> None:
    if row < found.shape[0]:
        found[row, 0] = place
        found[row, 1] = before
        found[row, 2] = after
        found[row, 3] = np.int64(old)
        found[row, 4] = np.int64(new)


@compiled
def _changed(op: int, old: Any, value: Any, compare: Any) -> Any:
    if op == 0:
        return old + value
    if op == 1:
        return max(old, value)
    if op == 2:
        return min(old, value)
    if op == 7:
        return value if old == compare else old
    return value


@compiled
def exchange(
    memory: NDArray[Any],
    places: NDArray[np.int64],
    values: NDArray[Any],
    compare: NDArray[Any],
    ends: NDArray[np.int64],
    programs: NDArray[np.int64],
    writer: NDArray[np.int32],
    reader: NDArray[np.int32],
    op: int,
    old: NDArray[Any],
) -> bool:
    """Do atomics in launch order; arguments and results as in the plain twin."""
    first = 0
    for r in range(ends.shape[0]):
        for k in range(first, ends[r]):
            place = places[k]
            if _too_late(place, programs[r], writer, reader):
                return False
            old[k] = memory[place]
            memory[place] = _changed(op, old[k], values[k], compare[k])
            writer[place] = programs[r]
        first = ends[r]
    return True
