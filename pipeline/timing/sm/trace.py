"""Traces: what every warp of an SM's resident blocks does, as arrays that the replay reads."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.decode import Program
from pipeline.compiled.geometry import WARP, Geometry
from pipeline.compiled.launch import Launch
from pipeline.compiled.totals import access_bytes
from pipeline.timing.sm import costs_fast
from pipeline.timing.sm.record import Access, Record, Segment, record

LINE_BYTES = 128
_TURN_BUDGET = 24_000
_FEWEST_TURNS, _MOST_TURNS = 5, 48
LOCAL_LINES = np.int64(1) << 50
"""Numbers of lines of local memory begin here."""
_NO_SECTOR = np.uint8(0)


class Trace(NamedTuple):
    """Steps of all warps, and what they touch.

    Attributes
    ----------
    path_start : (paths + 1,)
        Where the steps of every path begin in ``position``.
    position : (steps,)
        Instruction of every step, as its number in the program.
    path, block : (warps,)
        Path that a warp takes, and which of the resident blocks it belongs to.
    row_start : (warps,)
        Where the rows of a warp begin in ``row``, which has one for every step of its path.
    row : (...)
        Row of the columns below for a step that touches memory, else -1.
    wavefronts, stored_wavefronts : (rows,)
        Cycles of the data stage: of the access, and of the shared side of an asynchronous copy.
    line_start : (rows + 1,)
        Where the lines of an access begin.
    line, number, sectors : (lines,)
        Line of global or local memory, its number among all that occur, and bits of its sectors.
    lines
        How many lines occur.
    span : (steps,)
        Which of the spans below a step belongs to.
    turns, left_out : (spans,)
        Turns of a loop that a span holds, and how many like them were left out.
    low, high : (spans,)
        Steps of all warps in the span after which it goes on evenly, and up to which.
    measured : (spans,)
        Turns in between.
    """

    path_start: NDArray[np.int64]
    position: NDArray[np.int32]
    path: NDArray[np.int32]
    block: NDArray[np.int32]
    row_start: NDArray[np.int64]
    row: NDArray[np.int32]
    wavefronts: NDArray[np.int32]
    stored_wavefronts: NDArray[np.int32]
    line_start: NDArray[np.int64]
    line: NDArray[np.int64]
    number: NDArray[np.int32]
    sectors: NDArray[np.uint8]
    lines: int
    span: NDArray[np.int16]
    turns: NDArray[np.float64]
    left_out: NDArray[np.float64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    measured: NDArray[np.float64]


def turns_wanted(instructions: int) -> int:
    """Return how many turns of a loop to replay, given the warp instructions of one turn."""
    return max(_FEWEST_TURNS, min(_MOST_TURNS, _TURN_BUDGET // max(instructions, 1)))


def trace(launch: Launch, blocks: NDArray[np.int64]) -> Trace:
    """Return the traces of the warps of some blocks of a launch."""
    geometry = Geometry(launch.grid, launch.block, blocks)
    recorded = record(launch, blocks, turns_wanted)
    return _Builder(launch.program, geometry).build(recorded)


def _spans(recorded: Record) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
    """Return the span of every segment, and what is known of each span, (spans, 4).

    That is its turns, how many were left out, and from which and up to which turn it is measured:
    whole periods, without the first turn, and of many turns without the last ones, when some warps
    are already done.
    """
    span = np.zeros(len(recorded.segments), np.int16)
    found = [(1.0, 0.0, 0.0, 1.0)]
    for number, leap in enumerate(recorded.leaps, start=1):
        inside = span[leap.first : leap.last]
        again = 1 + leap.left_out / leap.turns
        # Turns of inner loops that were left out would be left out again.
        for inner in np.unique(inside[inside > 0]).tolist():
            turns, left_out, low, high = found[inner]
            found[inner] = turns, (turns + left_out) * again - turns, low, high
        inside[inside == 0] = number
        measured = max(1, (leap.turns - 1) * 3 // 4 // leap.period) * leap.period
        low = max(0, min(leap.turns - measured, -(-leap.turns // 4)))
        found.append((leap.turns, leap.left_out, low, min(low + measured, leap.turns)))
    return span, np.array(found)


def _steps(
    spans: list[NDArray[np.int16]], path: NDArray[np.int64], part: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return how many steps all warps have done when each is through a part of each span."""
    done = np.zeros((len(spans), len(part)))
    for number, one in enumerate(spans):
        for span, share in enumerate(part.tolist()):
            inside = np.flatnonzero(one == span)
            if len(inside):
                done[number, span] = inside[0] + share * (inside[-1] + 1 - inside[0])
    return np.rint(done[path.reshape(-1)].sum(axis=0)).astype(np.int64)


class _Builder:
    """Turns a record into arrays."""

    def __init__(self, program: Program, geometry: Geometry) -> None:
        self._program, self._geometry = program, geometry
        self._rows = 0
        self._wavefronts: list[NDArray[np.int32]] = []
        self._stored: list[NDArray[np.int32]] = []
        self._counts: list[NDArray[np.int32]] = []
        self._lines: list[NDArray[np.int64]] = []
        self._masks: list[NDArray[np.uint8]] = []
        warps = geometry.warps
        self._room = np.empty(warps * WARP, np.int64), np.empty(warps * WARP, np.uint8)

    def build(self, recorded: Record) -> Trace:
        geometry = self._geometry
        warps = geometry.warps
        lengths = np.array([one.end - one.start for one in recorded.segments], np.int64)
        taken = np.array([one.warps for one in recorded.segments], np.bool_).reshape(-1, warps)
        before = np.zeros((len(lengths) + 1, warps), np.int64)
        np.cumsum(lengths[:, None] * taken, axis=0, out=before[1:])
        row_start = np.concatenate([[0], np.cumsum(before[-1])])
        row = np.full(row_start[-1], -1, np.int32)
        for at, segment in enumerate(recorded.segments):
            self._fill(segment, before[at] + row_start[:-1], row)
        paths, path = np.unique(taken, axis=1, return_inverse=True)
        positions = [
            np.concatenate(
                [np.arange(recorded.segments[i].start, recorded.segments[i].end, dtype=np.int32)
                 for i in np.flatnonzero(paths[:, way])]
            )
            for way in range(paths.shape[1])
        ]  # fmt: skip
        line = np.concatenate([np.zeros(0, np.int64), *self._lines])
        number = np.empty(len(line), np.int32)
        counts = np.concatenate([np.zeros(1, np.int64), *self._counts])
        span, known = _spans(recorded)
        spans = [np.repeat(span[kept], lengths[kept]) for kept in paths.T.astype(bool)]
        return Trace(
            path_start=np.concatenate([[0], np.cumsum([len(one) for one in positions])]),
            position=np.concatenate(positions),
            path=path.reshape(-1).astype(np.int32),
            block=np.repeat(np.arange(geometry.blocks, dtype=np.int32), geometry.warps_per_block),
            row_start=row_start[:-1],
            row=row,
            wavefronts=np.concatenate([np.zeros(0, np.int32), *self._wavefronts]),
            stored_wavefronts=np.concatenate([np.zeros(0, np.int32), *self._stored]),
            line_start=np.cumsum(counts),
            line=line,
            number=number,
            sectors=np.concatenate([np.zeros(0, np.uint8), *self._masks]),
            lines=costs_fast.numbered(line, number),
            span=np.concatenate(spans),
            turns=known[:, 0],
            left_out=known[:, 1],
            low=_steps(spans, path, known[:, 2] / known[:, 0]),
            high=_steps(spans, path, known[:, 3] / known[:, 0]),
            measured=known[:, 3] - known[:, 2],
        )

    def _fill(self, segment: Segment, first: NDArray[np.int64], row: NDArray[np.int32]) -> None:
        """Add the accesses of a segment; of an asynchronous copy both sides are one row."""
        accesses = list(segment.accesses)
        while accesses:
            one = accesses.pop(0)
            into = None
            if self._program.instructions[one[0]].opcode == "LDGSTS":
                into = accesses.pop(0)
            warps = segment.warps & one[3].any(axis=1)
            where = first[warps] + (one[0] - segment.start)
            count = int(warps.sum())
            row[where] = np.arange(self._rows, self._rows + count, dtype=np.int32)
            self._rows += count
            self._measure(one, into, warps)

    def _measure(self, one: Access, into: Access | None, warps: NDArray[np.bool_]) -> None:
        position, kind, address, lanes = one
        if not warps.all():
            address, lanes = address[warps], lanes[warps]
        instruction = self._program.instructions[position]
        size = access_bytes(instruction)
        count = len(address)
        wavefronts, stored = np.zeros(count, np.int32), np.zeros(count, np.int32)
        counts = np.zeros(count, np.int32)
        if kind == "shared" and instruction.opcode == "ATOMS":
            costs_fast.atomic_wavefronts(address, lanes, size, wavefronts)
        elif kind == "local":
            wavefronts[:] = size // 4
        else:
            paired = instruction.opcode != "LDSM"
            costs_fast.shared_wavefronts(address, lanes, min(size, 16), paired, wavefronts)
        if kind == "local":
            self._local(address, lanes, warps, size, counts)
        elif kind != "shared":
            self._touch(address, lanes, counts)
        if into is not None:
            to, who = into[2][warps], into[3][warps]
            costs_fast.shared_wavefronts(to, who, size, True, stored)
        self._wavefronts.append(wavefronts)
        self._stored.append(stored)
        self._counts.append(counts)

    def _touch(
        self, address: NDArray[np.int64], lanes: NDArray[np.bool_], counts: NDArray[np.int32]
    ) -> None:
        lines, masks = self._room
        total = costs_fast.touched_lines(address, lanes, counts, lines, masks)
        self._lines.append(lines[:total].copy())
        self._masks.append(masks[:total].copy())

    def _local(
        self, address: NDArray[np.int64], lanes: NDArray[np.bool_], warps: NDArray[np.bool_],
        size: int, counts: NDArray[np.int32],
    ) -> None:  # fmt: skip
        """Note lines of local memory: the same word of the 32 threads of a warp is one."""
        words = max(1, size // 4)
        first = np.where(lanes, address >> 2, 1 << 40).min(axis=1)
        number = np.flatnonzero(warps)
        lines = LOCAL_LINES + (number << 20)[:, None] + first[:, None] + np.arange(words)
        counts[:] = words
        self._lines.append(lines.reshape(-1).astype(np.int64))
        self._masks.append(np.full(lines.size, 15, np.uint8))
