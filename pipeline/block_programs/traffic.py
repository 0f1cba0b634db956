"""What loads, stores and atomics of a batch of programs do, plainly; the twin is compiled.

Programs are rows. A place is an index into the memory; an offset counts from the first element of
the argument.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.block_programs.traffic_fast import ADD, AND, CAS, MAX, MIN, OR, XCHG, XOR

_SECTOR_BYTES = 32

OPERATIONS: dict[int, Callable[[Any, Any], Any]] = {
    ADD: operator.add,
    MAX: max,
    MIN: min,
    AND: operator.and_,
    OR: operator.or_,
    XOR: operator.xor,
    XCHG: lambda _, value: value,
}


def gather(
    memory: NDArray[Any],
    start: int,
    bounds: tuple[int, int],
    offsets: NDArray[np.int64],
    mask: NDArray[np.bool_],
    other: NDArray[Any],
    stamps: NDArray[np.int64],  # noqa: ARG001 -- arguments of the twin
    tick: int,  # noqa: ARG001
    out: NDArray[Any],
) -> tuple[int, int, int, int]:
    """Load elements, and count them.

    Parameters
    ----------
    memory : (elements,)
        Bits, as unsigned integers.
    start
        Place of the argument's first element.
    bounds
        Lowest allowed offset, and the first beyond the allowed ones.
    offsets : (1 or rows, width)
        Of every lane.
    mask, other : (1 or rows, 1 or width)
        Lanes that load, and what the others get.
    stamps : (sectors,), tick
        Scratch of the compiled twin: stamps at or after ``tick`` have not been used.
    out : (rows, width)
        Filled with what every lane gets.

    Returns
    -------
    active, sectors, row, lane
        Elements loaded; distinct 32-byte sectors per row, summed; where an offset was out of bounds
        first, or -1 and -1. After that nothing more is loaded.
    """
    rows, width = out.shape
    offsets, mask = np.broadcast_to(offsets, out.shape), np.broadcast_to(mask, out.shape)
    other = np.broadcast_to(other, out.shape)
    touched: set[tuple[int, int]] = set()
    active = 0
    for r in range(rows):
        for i in range(width):
            if not mask[r, i]:
                out[r, i] = other[r, i]
                continue
            if not bounds[0] <= offsets[r, i] < bounds[1]:
                return active, len(touched), r, i
            place = start + offsets[r, i]
            out[r, i] = memory[place]
            touched.add((r, int(place) * memory.itemsize // _SECTOR_BYTES))
            active += 1
    return active, len(touched), -1, -1


def resolve(
    start: int,
    bounds: tuple[int, int],
    size: int,
    offsets: NDArray[np.int64],
    mask: NDArray[np.bool_],
    stamps: NDArray[np.int64],  # noqa: ARG001 -- arguments of the twin
    tick: int,  # noqa: ARG001
    places: NDArray[np.int64],
    lanes: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """Find the elements that active lanes touch, row after row.

    Parameters
    ----------
    start, bounds, offsets, mask, stamps, tick
        As in :func:`gather`.
    size
        Bytes of an element.
    places, lanes : (rows * width,)
        Filled from the front: place, and index of the lane in (rows, width), of every active lane.
    ends : (rows,)
        Filled: how many lanes are active up to the end of each row.

    Returns
    -------
    active, sectors, row, lane
        As from :func:`gather`.
    """
    rows, width = len(ends), offsets.shape[1]
    offsets = np.broadcast_to(offsets, (rows, width))
    mask = np.broadcast_to(mask, (rows, width))
    touched: set[tuple[int, int]] = set()
    active = 0
    for r in range(rows):
        for i in range(width):
            if not mask[r, i]:
                continue
            if not bounds[0] <= offsets[r, i] < bounds[1]:
                return active, len(touched), r, i
            places[active], lanes[active] = start + offsets[r, i], r * width + i
            touched.add((r, int(places[active]) * size // _SECTOR_BYTES))
            active += 1
        ends[r] = active
    return active, len(touched), -1, -1


def _rows(ends: NDArray[np.int64], programs: NDArray[np.int64]) -> Iterator[tuple[int, range]]:
    """Every program with its entries in a list of active lanes."""
    firsts = [0, *ends[:-1]]
    for program, first, end in zip(programs, firsts, ends, strict=True):
        yield int(program), range(int(first), int(end))


def read_in_order(
    places: NDArray[np.int64],
    ends: NDArray[np.int64],
    programs: NDArray[np.int64],
    writer: NDArray[np.int32],
    reader: NDArray[np.int32],
) -> bool:
    """Note who reads, and say whether every read is what one program after another would see.

    Parameters
    ----------
    places, ends
        From :func:`resolve`.
    programs : (rows,)
        Number of the program in each row, ascending.
    writer, reader : (elements,)
        Last programs, in launch order, that wrote and read an element; -1 where none. ``reader`` is
        updated.
    """
    for program, entries in _rows(ends, programs):
        for k in entries:
            if writer[places[k]] > program:
                return False
            reader[places[k]] = max(int(reader[places[k]]), program)
    return True


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
    """Store elements, in launch order and lane order.

    Parameters
    ----------
    memory : (elements,), values : (active,)
        Bits.
    places, ends, programs, writer, reader
        As in :func:`read_in_order`; ``reader`` is empty where reads are not noted.
    storer : (elements,)
        Last program that wrote the element by a store; ``writer`` knows atomics too.
    found : (most, 5)
        Filled with the first hazards: place, earlier and later program, earlier and later bits.

    Returns
    -------
    int
        Hazards: elements that hold another program's different value, and lanes whose value another
        lane of the same store replaced. -1 where launch order does not allow the store; then some
        elements may have been stored.
    """
    hazards: list[tuple[int, int, int, int, int]] = []
    for program, entries in _rows(ends, programs):
        for k in entries:
            place = int(places[k])
            if writer[place] > program or (len(reader) and reader[place] > program):
                return -1
            before, kept = int(storer[place]), int(memory[place])
            if before not in (-1, program) and kept != values[k]:
                hazards.append((place, before, program, kept, int(values[k])))
            memory[place] = values[k]
            writer[place] = storer[place] = program
        for k in entries:
            place, kept = int(places[k]), int(memory[places[k]])
            if kept != values[k]:
                hazards.append((place, program, program, int(values[k]), kept))
    for row, hazard in zip(found, hazards, strict=False):
        row[:] = np.array(hazard, np.uint64).astype(np.int64)
    return len(hazards)


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
    """Do atomics in launch order and lane order.

    Parameters
    ----------
    memory : (elements,), values, compare : (active,)
        Values, in the element type. ``compare`` is what CAS expects.
    places, ends, programs, writer, reader
        As in :func:`scatter`.
    op
        One of the numbers in :mod:`pipeline.block_programs.traffic_fast`.
    old : (active,)
        Filled with what was there before.

    Returns
    -------
    bool
        Whether launch order allows them; if not, some may have been done.
    """
    for program, entries in _rows(ends, programs):
        for k in entries:
            place = places[k]
            if writer[place] > program or (len(reader) and reader[place] > program):
                return False
            old[k] = memory[place]
            if op != CAS:
                memory[place] = OPERATIONS[op](memory[place], values[k])
            elif memory[place] == compare[k]:
                memory[place] = values[k]
            writer[place] = program
    return True
