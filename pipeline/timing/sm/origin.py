"""Where lines come from: which accesses of the blocks of a wave touch the same data."""

import math
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.decode import Program
from pipeline.compiled.instruction import Address, Instruction, Name
from pipeline.compiled.launch import Launch, Space
from pipeline.compiled.roles import registers
from pipeline.compiled.slicing import ACCESSES, successors
from pipeline.compiled.space import array_of
from pipeline.timing.sm.trace import LINE_BYTES, LOCAL_LINES, Trace

_AXES = {"SR_CTAID.X": 1, "SR_CTAID.Y": 2, "SR_CTAID.Z": 4}
_MOST_PLACES = 1 << 32


def block_axes(program: Program) -> NDArray[np.int64]:
    """Find the axes of the grid along which the address of every access moves.

    What a register holds depends on an axis if what it was computed from does: followed forwards
    from the special registers that hold a block's place, over all ways through the program.

    Returns
    -------
    (instructions,)
        Bits of x, y and z; 0 where nothing is accessed.
    """
    instructions = program.instructions
    onward = successors(program)
    reached: list[dict[int, int] | None] = [None] * len(instructions)
    reached[0] = {}
    waiting = [0]
    while waiting:
        at = waiting.pop()
        after = _after(instructions[at], dict(reached[at] or {}))
        for to in onward[at]:
            known = reached[to]
            merged = dict(after) if known is None else _merged(known, after)
            if merged != known:
                reached[to] = merged
                waiting.append(to)
    return np.array(
        [_of_address(one, before) for one, before in zip(instructions, reached, strict=True)],
        np.int64,
    )


def _of_address(one: Instruction, before: dict[int, int] | None) -> int:
    """Return what the addresses of an access depend on, 0 for other instructions."""
    if one.opcode not in ACCESSES or before is None:
        return 0
    keys = [
        key
        for operand in one.operands
        if isinstance(operand, Address)
        for key in registers(operand, 1, one.modifiers)
    ]
    return reduce(or_, (before.get(key, 0) for key in keys), 0)


def _merged(known: dict[int, int], more: dict[int, int]) -> dict[int, int]:
    return {key: known.get(key, 0) | more.get(key, 0) for key in {*known, *more}}


def _after(one: Instruction, axes: dict[int, int]) -> dict[int, int]:
    """Return what registers depend on after an instruction."""
    bits = 0
    for key in one.reads:
        bits |= axes.get(key, 0)
    for operand in one.operands:
        if isinstance(operand, Name):
            bits |= _AXES.get(operand.text, 0)
    if one.opcode in ACCESSES:
        bits = 0
    guarded = one.guard is not None and one.guard.number is not None
    for key in one.writes:
        old = axes.get(key, 0) if guarded else 0
        if bits | old:
            axes[key] = bits | old
        else:
            axes.pop(key, None)
    return axes


class Origin(NamedTuple):
    """Over the instructions: what of their lines comes from DRAM.

    Attributes
    ----------
    share
        Part of the sectors that this SM asks for first which the chip has to fetch: others share
        the rest.
    retained
        Part of the lines that L2 still holds from the wave before.
    """

    share: NDArray[np.float64]
    retained: NDArray[np.float64]


def _places(grid: tuple[int, int, int], blocks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the coordinates of blocks by their numbers, (blocks, 3)."""
    x, y, _ = grid
    return np.stack([blocks % x, blocks // x % y, blocks // (x * y)], 1)


def _distinct(where: NDArray[np.int64], axes: int) -> NDArray[np.int64]:
    """Return the different places of blocks as far as some axes tell, as sorted numbers."""
    key = np.zeros(len(where), np.int64)
    for axis in range(3):
        if axes >> axis & 1:
            key = key * _MOST_PLACES + where[:, axis] + 1
    return np.unique(key)


def origin(
    launch: Launch, axes: NDArray[np.int64], trace: Trace, here: NDArray[np.int64],
    wave: tuple[int, int], l2_bytes: float,
) -> Origin:  # fmt: skip
    """Account for the lines of a wave of blocks.

    Blocks of a wave go through their data together, so what several of them touch comes from DRAM
    once. Who comes later finds it in L2, and so catches up until it waits as long as the first:
    each SM sees the latency of DRAM, and its share of the traffic. From the wave before L2 holds
    what it touched as well, if all that a wave touches fits. A launch whose arrays all fit finds
    them there, as it is taken to be repeated.

    Parameters
    ----------
    launch
        What is launched.
    axes : (instructions,)
        As :func:`block_axes` finds them.
    trace
        Of the blocks ``here``, those of one SM.
    wave
        First block of the wave, and the one behind its last.
    l2_bytes
        What L2 holds for one SM (B).
    """
    first, last = wave
    touched = _places(launch.grid, np.arange(first, last))
    before = _places(launch.grid, np.arange(max(0, 2 * first - last), first))
    mine = _places(launch.grid, here)
    sms = max(1.0, len(touched) / len(here))
    sizes = [one.size for one in launch.arguments if isinstance(one, Space)]
    fits = sum(sizes) <= l2_bytes
    share, kept = np.ones(len(axes)), np.zeros(len(axes))
    bytes_of_wave: dict[int, float] = {}
    arrays = _arrays(trace, len(axes))
    for bits in np.unique(axes).tolist():
        now = _distinct(touched, bits)
        share[axes == bits] = len(now) / (len(_distinct(mine, bits)) * sms)
        kept[axes == bits] = np.isin(now, _distinct(before, bits)).mean()
        part = len(now) / _all_places(launch.grid, bits)
        for number in np.unique(arrays[(axes == bits) & (arrays >= 0)]).tolist():
            size = sizes[number] * part if number < len(sizes) else 0.0
            bytes_of_wave[number] = max(bytes_of_wave.get(number, 0.0), size)
    room = np.clip(2 - sum(bytes_of_wave.values()) / l2_bytes, 0, 1)
    if fits:
        return Origin(np.zeros(len(axes)), np.ones(len(axes)))
    return Origin(np.minimum(share, 1), kept * room)


def _all_places(grid: tuple[int, int, int], axes: int) -> int:
    return math.prod(count for axis, count in enumerate(grid) if axes >> axis & 1)


def _arrays(trace: Trace, instructions: int) -> NDArray[np.int64]:
    """Return the number of the global array that each instruction touches, -1 where it does not."""
    found = np.full(instructions, -1, np.int64)
    path = trace.path[0]
    steps = slice(*trace.path_start[path : path + 2].tolist())
    rows = trace.row[trace.row_start[0] :][: steps.stop - steps.start]
    touching = rows >= 0
    rows, positions = rows[touching], trace.position[steps][touching]
    some = trace.line_start[rows] < trace.line_start[rows + 1]
    lines = trace.line[trace.line_start[rows[some]]]
    inside = lines < LOCAL_LINES
    found[positions[some][inside]] = array_of(lines[inside] * LINE_BYTES)
    return found
