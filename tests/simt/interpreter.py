"""Run a random program one lane at a time: its counters, its hazards and its values."""

from collections import Counter

import numpy as np

from tests.simt import hazard_oracle, oracle, warp_oracle
from tests.simt.oracle import Lane
from tests.strategies import SLOTS, Program, Step

SIZE = (3 + 4 * 3 + SLOTS + 3 * 4) * 16
"""Elements of each array that a program touches."""


def starts(program: Program, step: Step) -> np.ndarray:
    """First element of every (block, thread)."""
    shape = (program.blocks, program.threads)
    if step.start is not None:
        return np.broadcast_to(step.start, shape)
    block, thread = np.ogrid[: program.blocks, : program.threads]
    slot = step.const + step.by_block * block + thread * step.stride % step.modulus
    return slot * step.width


class Interpreter:
    """State of a launch.

    Attributes
    ----------
    count
        Counters.
    found
        Hazards by kind.
    held
        The value of each (block, thread).
    data
        Global memory.
    votes
        Results of the votes in order, as (block, thread) to answer.
    """

    def __init__(self, program: Program, rule: str) -> None:
        self.program, self.rule = program, rule
        self.count: Counter[str] = Counter(
            blocks=program.blocks, threads=program.blocks * program.threads
        )
        self.found: Counter[str] = Counter()
        self.held = {
            (block, thread): (block + 3 * thread) % 7
            for block in range(program.blocks)
            for thread in range(program.threads)
        }
        self.data = [0] * SIZE
        self.votes: list[dict[tuple[int, int], int]] = []
        self._tile = {block: [0] * SIZE for block in range(program.blocks)}
        self._hazards = hazard_oracle.HazardOracle()
        self._blocks = hazard_oracle.BlockRaceOracle()
        self._flying: list[tuple[int, Step, list[Lane], list[list[float]]]] = []
        self._groups = 0

    def run(self) -> None:
        """Run every step, then settle what can be known only at the end."""
        for step in self.program.steps:
            everybody = self._lanes(step, 0, None, None)
            outside = self._lanes(step, 0, step.outer, None)
            inside = self._lanes(step, 0, step.outer, step.active)
            self.count["divergent_branches"] += _divided(everybody, outside)
            self.count["divergent_branches"] += _divided(outside, inside)
            for number in range(step.repeat):
                lanes = self._lanes(step, number, step.outer, step.active)
                lit = [lane for lane in lanes if lane.active]
                self.count["thread_instr"] += len(lit)
                self.count["warp_instr"] += len({(lane.block, lane.warp) for lane in lit})
                self._issue(step, lit)
        for kind, _, already in self._blocks.offences():
            self.found[kind] += 1
            self.count["race_count"] += not already
        self.found.update(self._hazards.counts)
        self.count["race_count"] += self._hazards.race_count

    def _lanes(self, step: Step, number: int, *masks) -> list[Lane]:
        shape = (self.program.blocks, self.program.threads)
        active = np.ones(shape, bool)
        for mask in masks:
            active = active & (True if mask is None else mask)
        first = starts(self.program, step) + number * step.step * step.width
        return [
            Lane(block, t // 32, t % 32, int(first[block, t]) * self.program.itemsize, lit)
            for block in range(shape[0])
            for t, lit in enumerate(active[block].tolist())
        ]

    def _issue(self, step: Step, lit: list[Lane]) -> None:
        kind = step.kind.rsplit("_", 1)[0]
        kind = "vote" if kind in ("ballot", "vote") else kind
        getattr(self, f"_{kind}")(step, lit)

    # ---------- memory ----------

    def _load(self, step: Step, lit: list[Lane]) -> None:
        self._count_global("gld", step, lit)
        self._blocks.enter("load", lit, self.program.itemsize, step.width)
        self._take(step, lit, self._read(self.data, step, lit))

    def _store(self, step: Step, lit: list[Lane]) -> None:
        self._count_global("gst", step, lit)
        colliding = hazard_oracle.colliding_blocks(lit, self.program.itemsize, step.width)
        self.found[hazard_oracle.COLLISION] += len(colliding)
        self.count["race_count"] += len(colliding)
        self._blocks.enter("store", lit, self.program.itemsize, step.width, colliding)
        for lane in lit:
            for element in self._elements(lane, step):
                self.data[element] = self.held[_who(lane)]

    def _sload(self, step: Step, lit: list[Lane]) -> None:
        self._count_shared("lds", step, lit)
        self._hazards.load(lit, self.program.itemsize, step.width)
        self._take(step, lit, self._read(None, step, lit))

    def _sstore(self, step: Step, lit: list[Lane]) -> None:
        self._count_shared("sts", step, lit)
        self._hazards.store(lit, self.program.itemsize, step.width)
        for lane in lit:
            for element in self._elements(lane, step):
                self._tile[lane.block][element] = self.held[_who(lane)]

    def _sync(self, step: Step, lit: list[Lane]) -> None:
        for block in {lane.block for lane in lit}:
            self._hazards.barrier(block)
            self.count["barriers"] += 1
            arrived = sum(lane.block == block for lane in lit)
            self.found[hazard_oracle.DIVERGENT_BARRIER] += arrived < self.program.threads

    # ---------- atomics ----------

    def _atomic(self, step: Step, lit: list[Lane]) -> None:
        one = oracle.global_atomic(lit, self.program.itemsize)
        self.count["gatom_instr"] += one["instructions"]
        self.count["gatom_sectors"] += one["sectors"]
        self.count["gatom_lines"] += one["lines"]
        self.count["gatom_conflicts"] += one["conflicts"]
        self.count["g_bytes_requested"] += one["bytes"]
        self._blocks.enter("atomic", lit, self.program.itemsize)
        self._update(step, lit, None)

    def _satomic(self, step: Step, lit: list[Lane]) -> None:
        one = oracle.shared_atomic(lit, self.program.itemsize)
        self.count["satom_instr"] += one["instructions"]
        self.count["satom_wavefronts"] += one["wavefronts"]
        self._hazards.atomic(lit, self.program.itemsize)
        self._update(step, lit, self._tile)

    def _update(self, step: Step, lit: list[Lane], tile) -> None:
        operation = step.kind.rsplit("_", 1)[1]
        for lane in lit:
            memory = self.data if tile is None else tile[lane.block]
            (element,) = self._elements(lane, step)
            before, given = memory[element], self.held[_who(lane)]
            memory[element] = warp_oracle.combined(operation, before, given, self.program.dtype)
            self.held[_who(lane)] = before

    # ---------- asynchronous copies ----------

    def _copy(self, step: Step, lit: list[Lane]) -> None:
        self._count_global("gld", step, lit, "ldgsts")
        self._count_shared("sts", step, lit, None)
        self._blocks.enter("load", lit, self.program.itemsize, step.width)
        self._hazards.copy(lit, self.program.itemsize, step.width)
        self._flying.append((self._groups, step, lit, self._read(self.data, step, lit)))

    def _commit(self, step: Step, lit: list[Lane]) -> None:
        self._groups += 1

    def _wait(self, step: Step, lit: list[Lane]) -> None:
        still = []
        for group, what, lanes, values in self._flying:
            if group >= self._groups - step.pending:
                still.append((group, what, lanes, values))
                continue
            self._hazards.land(lanes, self.program.itemsize, what.width)
            for lane, moved in zip(lanes, values, strict=True):
                for element, value in zip(self._elements(lane, what), moved, strict=True):
                    self._tile[lane.block][element] = value
        self._flying = still

    # ---------- within a warp ----------

    def _shfl(self, step: Step, lit: list[Lane]) -> None:
        shape = (self.program.blocks, self.program.threads)
        by = np.broadcast_to(step.lane, shape)
        each = -(-self.program.itemsize // 4)
        warps = _warps(lit)
        self.count["shfl_instr"] += each * len(warps)
        self.count["warp_instr"] += (each - 1) * len(warps)
        self.count["thread_instr"] += (each - 1) * len(lit)
        silent_blocks = set()
        for warp in warps:
            values = {lane.lane: self.held[_who(lane)] for lane in warp}
            names = {lane.lane: int(by[_who(lane)]) for lane in warp}
            got, silent = warp_oracle.shuffle(step.kind, values, names)
            silent_blocks |= {warp[0].block} if silent else set()
            for lane in warp:
                self.held[_who(lane)] = got[lane.lane]
        self.found[hazard_oracle.INACTIVE_LANE] += len(silent_blocks)

    def _vote(self, step: Step, lit: list[Lane]) -> None:
        answers = dict.fromkeys(self.held, 0)
        for warp in _warps(lit):
            self.count["vote_instr"] += 1
            says = {lane.lane: self.held[_who(lane)] >= step.least for lane in warp}
            answer = {
                "ballot": warp_oracle.ballot(says),
                "vote_any": any(says.values()),
                "vote_all": all(says.values()),
            }[step.kind]
            answers.update(dict.fromkeys(map(_who, warp), answer))
        self.votes.append(answers)

    # ---------- parts ----------

    def _elements(self, lane: Lane, step: Step) -> range:
        first = lane.address // self.program.itemsize
        return range(first, first + step.width)

    def _read(self, memory, step: Step, lit: list[Lane]) -> list[list[float]]:
        return [
            [
                (self._tile[lane.block] if memory is None else memory)[element]
                for element in self._elements(lane, step)
            ]
            for lane in lit
        ]

    def _take(self, step: Step, lit: list[Lane], values: list[list[float]]) -> None:
        for lane, moved in zip(lit, values, strict=True):
            self.held[_who(lane)] = moved[-1]

    def _count_global(self, prefix: str, step: Step, lit: list[Lane], instr: str = "") -> None:
        one = oracle.global_access(lit, self.program.itemsize, step.width)
        self.count[f"{instr or prefix}_instr"] += one["instructions"]
        self.count[f"{prefix}_sectors"] += one["sectors"]
        self.count[f"{prefix}_lines"] += one["lines"]
        self.count["g_bytes_requested"] += one["bytes"]

    def _count_shared(
        self, prefix: str, step: Step, lit: list[Lane], instr: str | None = "smem"
    ) -> None:
        store = prefix == "sts"
        one = oracle.shared_access(lit, self.rule, self.program.itemsize, step.width, store=store)
        for name in (prefix, "smem"):
            self.count[f"{name}_wavefronts"] += one["wavefronts"]
            self.count[f"{name}_instr"] += one["instructions"] if instr else 0
        self.count["ideal_smem_wavefronts"] += one["ideal"]


def _who(lane: Lane) -> tuple[int, int]:
    return lane.block, 32 * lane.warp + lane.lane


def _warps(lit: list[Lane]) -> list[list[Lane]]:
    warps: dict[tuple[int, int], list[Lane]] = {}
    for lane in lit:
        warps.setdefault((lane.block, lane.warp), []).append(lane)
    return list(warps.values())


def _divided(before: list[Lane], after: list[Lane]) -> int:
    """Count the warps of which some active lanes, but not all, stay active."""
    kept = Counter((lane.block, lane.warp) for lane in after if lane.active)
    were = Counter((lane.block, lane.warp) for lane in before if lane.active)
    return sum(0 < kept[warp] < were[warp] for warp in were)
