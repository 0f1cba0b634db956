"""What lanes of a warp do together, and what they know of themselves."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.binding import Mask
from pipeline.compiled.constants import SHARED_WINDOW
from pipeline.compiled.geometry import WARP
from pipeline.compiled.instruction import Instruction, Name, Predicate, Register
from pipeline.compiled.machine import Machine
from pipeline.compiled.semantics.memory import MachineBind
from pipeline.compiled.semantics.step import (
    Step,
    carries,
    conditions,
    only,
    refuse,
    result,
    values,
)

_LANE = np.arange(WARP)


def _shuffle_source(
    kind: str, by: NDArray[np.int64], clamp: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the lane that each lane reads, and whether it lies within its segment.

    As PTX defines ``shfl``: bits 8 to 12 of ``clamp`` fix the lane bits that stay, bits 0 to 4 the
    last lane.
    """
    lane = np.broadcast_to(_LANE, by.shape)
    segment = clamp >> 8 & 31
    lowest = lane & segment
    highest = lowest | (clamp & 31 & ~segment)
    by = by & 31
    if kind == "UP":
        source = lane - by
        return source, source >= highest
    if kind == "DOWN":
        source = lane + by
    elif kind == "BFLY":
        source = lane ^ by
    else:
        source = lowest | (by & ~segment)
    return source, source <= highest


def _shuffle(instruction: Instruction, machine: Machine) -> Step:
    only(instruction, "UP", "DOWN", "BFLY", "IDX")
    registers, warps = machine.registers, machine.geometry.warps
    value, by, clamp = (registers.u32(one) for one in values(instruction))
    put = registers.put(result(instruction))
    truths = [registers.put_truth(one) for one in carries(instruction)]
    kind = instruction.modifiers[0]

    def step(mask: Mask | None, _lanes: Mask) -> None:
        given, amount, limits = (
            get().reshape(warps, WARP).astype(np.int64) for get in (value, by, clamp)
        )
        source, inside = _shuffle_source(kind, amount, limits)
        chosen = np.where(inside, source, _LANE)
        taken = np.take_along_axis(given, chosen & 31, axis=1)
        for put_truth in truths:
            put_truth(inside.reshape(-1), mask)
        put(taken.astype(np.uint32).reshape(-1), mask)

    return step


def _vote(instruction: Instruction, machine: Machine) -> Step:
    """Bind VOTE: all, any or equal, and as a mask of the lanes for which it holds."""
    only(instruction, "ANY", "ALL", "EQ")
    registers, geometry = machine.registers, machine.geometry
    truth = registers.truth(conditions(instruction)[0])
    targets = [one for one in instruction.results if isinstance(one, Register)]
    put = registers.put(targets[0]) if targets else None
    truths = [registers.put_truth(one) for one in carries(instruction)]
    kind = instruction.modifiers[0]

    def step(mask: Mask | None, lanes: Mask) -> None:
        holds = truth() & lanes
        if put:
            put(geometry.spread(geometry.masks(holds)), mask)
        some = geometry.warps_of(holds)
        lacking = geometry.warps_of(lanes & ~holds)
        outcome = some if kind == "ANY" else ~lacking if kind == "ALL" else ~(some & lacking)
        for put_truth in truths:
            put_truth(geometry.spread(outcome), mask)

    return step


def _match(instruction: Instruction, machine: Machine) -> Step:
    """Bind MATCH: which active lanes hold the same value."""
    registers, geometry = machine.registers, machine.geometry
    wide = instruction.has("U64")
    value = (registers.u64 if wide else registers.u32)(values(instruction)[0])
    put = registers.put(result(instruction))
    truths = [registers.put_truth(one) for one in carries(instruction)]

    def step(mask: Mask | None, lanes: Mask) -> None:
        given = value().reshape(-1, WARP)
        active = lanes.reshape(-1, WARP)
        same = (given[:, :, None] == given[:, None, :]) & active[:, None, :]
        packed = np.packbits(same, axis=2, bitorder="little").view("<u4")[:, :, 0]
        whole = geometry.masks(lanes)[:, None]
        if instruction.has("ALL"):
            agreed = (packed == whole) | ~active
            everyone = agreed.all(axis=1)[:, None]
            packed = np.where(everyone, whole, np.uint32(0))
            for put_truth in truths:
                put_truth(np.broadcast_to(everyone, given.shape).reshape(-1), mask)
        put(np.broadcast_to(packed, given.shape).astype(np.uint32).reshape(-1), mask)

    return step


_REDUCTIONS: dict[str, tuple[Callable[..., NDArray], int, int]] = {
    # Function, and what takes no part: without and with sign.
    "SUM": (np.add.reduce, 0, 0),
    "OR": (np.bitwise_or.reduce, 0, 0),
    "XOR": (np.bitwise_xor.reduce, 0, 0),
    "AND": (np.bitwise_and.reduce, 0xFFFFFFFF, -1),
    "MIN": (np.minimum.reduce, 0xFFFFFFFF, 0x7FFFFFFF),
    "MAX": (np.maximum.reduce, 0, -0x80000000),
}


def _reduce(instruction: Instruction, machine: Machine) -> Step:
    """Bind REDUX: a reduction over the active lanes of a warp, into a uniform register."""
    registers, geometry = machine.registers, machine.geometry
    # Without a name it is AND.
    name = next((one for one in instruction.modifiers if one in _REDUCTIONS), "AND")
    function, plain, with_sign = _REDUCTIONS[name]
    signed = instruction.has("S32")
    neutral = with_sign if signed else plain
    value, put = registers.u32(values(instruction)[0]), registers.put(result(instruction))

    def step(_mask: Mask | None, lanes: Mask) -> None:
        given = value().view(np.int32 if signed else np.uint32).astype(np.int64)
        chosen = np.where(lanes, given, neutral).reshape(-1, WARP)
        total = function(chosen, axis=1).astype(np.uint32)
        warps = geometry.spread(geometry.warps_of(lanes))
        put(geometry.spread(total), warps)

    return step


def _first_lane(instruction: Instruction, machine: Machine) -> Step:
    """Bind R2UR: the value of the first active lane, for the whole warp.

    A predicate says whether another active lane has another value.
    """
    registers, geometry = machine.registers, machine.geometry
    targets = [one for one in instruction.results if isinstance(one, Register)]
    value, put = registers.u32(values(instruction)[0]), registers.put(targets[0])
    truths = [one for one in instruction.results if isinstance(one, Predicate)]
    put_truth = registers.put_truth(truths[0]) if truths else None

    def step(mask: Mask | None, lanes: Mask) -> None:
        active = lanes.reshape(-1, WARP)
        first = active.argmax(axis=1)
        given = value().reshape(-1, WARP)
        chosen = given[np.arange(len(given)), first]
        put(geometry.spread(chosen), geometry.spread(geometry.warps_of(lanes)))
        if put_truth is not None:
            differs = (active & (given != chosen[:, None])).any(axis=1)
            put_truth(geometry.spread(differs), mask)

    return step


# ---------- special registers ----------


def _lane_masks() -> dict[str, NDArray[np.uint64]]:
    one = np.uint64(1) << _LANE.astype(np.uint64)
    below = one - np.uint64(1)
    full = np.uint64(0xFFFFFFFF)
    return {
        "SR_EQMASK": one,
        "SR_LTMASK": below,
        "SR_LEMASK": below | one,
        "SR_GTMASK": full & ~(below | one),
        "SR_GEMASK": full & ~below,
    }


def special(machine: Machine, name: str) -> NDArray[np.uint32] | None:
    """Return a special register of every lane, or None if it is not known."""
    geometry = machine.geometry
    axis = {"X": 0, "Y": 1, "Z": 2}.get(name[-1], 0)
    base = name.partition(".")[0]
    if base == "SR_TID":
        return geometry.thread(axis)
    if base == "SR_CTAID":
        return geometry.place(axis)
    if base in ("SR_NTID", "SR_NCTAID"):
        sizes = geometry.block if base == "SR_NTID" else geometry.grid
        return np.full(geometry.lanes, sizes[axis], np.uint32)
    if name == "SR_LANEID":
        return np.tile(_LANE.astype(np.uint32), geometry.warps)
    if base in _lane_masks():
        return np.tile(_lane_masks()[base].astype(np.uint32), geometry.warps)
    if name in ("SR_WARPID", "SR_VIRTID"):
        within = np.arange(geometry.warps) % geometry.warps_per_block
        return geometry.spread(within.astype(np.uint32))
    fixed = _FIXED.get(name)
    return None if fixed is None else np.full(geometry.lanes, fixed, np.uint32)


_FIXED = {
    "SR_SWINHI": SHARED_WINDOW,
    **dict.fromkeys(("SRZ", "SR_CgaCtaId", "SR_SMID", "SR_VIRTCFG", "SR_GRIDID"), 0),
}
_CLOCKS = ("SR_CLOCKLO", "SR_CLOCKHI", "SR_GLOBALTIMERLO", "SR_GLOBALTIMERHI", "SR_CLOCK_64")


def _special(instruction: Instruction, machine: Machine) -> Step:
    """Bind S2R, S2UR and CS2R: a special register; clocks count instructions of the batch."""
    name = instruction.sources[0]
    assert isinstance(name, Name)
    target = result(instruction)
    wide = instruction.opcode in ("CS2R", "CS2UR") and not instruction.has("32")
    registers = machine.registers
    put = registers.put64(target) if wide else registers.put(target)
    if name.text in _CLOCKS:
        kind = np.uint64 if wide else np.uint32
        return lambda mask, _lanes: put(
            np.full(machine.geometry.lanes, machine.clock, np.uint64).astype(kind), mask
        )
    value = special(machine, name.text)
    if value is None:
        raise refuse(instruction, f"special register {name.text}")
    fixed = value.astype(np.uint64) if wide else value
    return lambda mask, _lanes: put(fixed, mask)


def _barrier_result(instruction: Instruction, machine: Machine) -> Step:
    """Bind B2R.RESULT: what the last barrier with a reduction gave."""
    if not instruction.has("RESULT"):
        raise refuse(instruction, "reading a barrier")
    registers = machine.registers
    targets = [one for one in instruction.operands if isinstance(one, Register)]
    truths = [one for one in instruction.operands if isinstance(one, Predicate)]
    put = registers.put(targets[0])
    puts = [registers.put_truth(one) for one in truths]

    def step(mask: Mask | None, _lanes: Mask) -> None:
        put(machine.barriers.results, mask)
        for put_truth in puts:
            put_truth(machine.barriers.results != 0, mask)

    return step


BINDERS: dict[str, MachineBind] = {
    "SHFL": _shuffle,
    "VOTE": _vote,
    "VOTEU": _vote,
    "MATCH": _match,
    "REDUX": _reduce,
    "CREDUX": _reduce,
    "R2UR": _first_lane,
    "S2R": _special,
    "S2UR": _special,
    "CS2R": _special,
    "CS2UR": _special,
    "B2R": _barrier_result,
}
