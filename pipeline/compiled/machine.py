"""A batch of blocks that runs a program: every instruction on all lanes that stand at it.

Warps of a batch that stand at the same instruction run it together. The lanes of a *group* stand at
one position; a warp whose lanes part is in several groups, which stay apart until the code lets
them meet (BSYNC, WARPSYNC), as on hardware since Volta. Of several groups the one that is furthest
behind runs, so that warps catch up with each other.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.barriers import BlockBarriers, Convergence
from pipeline.compiled.binding import Mask, Registers
from pipeline.compiled.constants import ConstantBanks
from pipeline.compiled.decode import Program
from pipeline.compiled.geometry import Geometry
from pipeline.compiled.instruction import Instruction
from pipeline.compiled.space import GlobalMemory
from pipeline.compiled.standstill import Standstill
from pipeline.compiled.tally import Tally
from pipeline.errors import MachineCodeError, OutOfRangeError

MOST_STEPS = 50_000_000
"""Steps after which a batch is taken to run for ever."""
_PATIENCE = 64
"""Jumps back that a group may make while others wait for their turn."""


class Group:
    """Lanes that stand at one position.

    Attributes
    ----------
    position
        Of the next instruction.
    lanes : (lanes,)
        Who they are.
    write
        The same, or None if these are all lanes that have not ended.
    warps : (warps,)
        Warps with a lane in the group.
    warp_lanes
        All lanes of these warps, or None if ``write`` is None: uniform instructions act on them.
    block_warps, block_lanes : (blocks,)
        How many there are of each block.
    """

    __slots__ = ("block_lanes", "block_warps", "lanes", "position", "warp_lanes", "warps", "write")

    def __init__(self, position: int, lanes: Mask, alive: Mask, geometry: Geometry) -> None:
        self.position = position
        self.lanes = lanes
        self.warps = geometry.warps_of(lanes)
        self.block_warps = np.count_nonzero(self.warps.reshape(geometry.blocks, -1), axis=1)
        self.block_lanes = geometry.per_block(lanes)
        whole = not (alive & ~lanes).any()
        self.write = None if whole else lanes
        self.warp_lanes = None if whole else geometry.spread(self.warps)


@dataclass(slots=True)
class Slot:
    """One instruction, ready to run.

    Attributes
    ----------
    step
        Acts on rows; None for instructions that move the group.
    control
        Moves the group; returns whether it is still the group's turn.
    guard, inverted
        Row of the guard, if there is one.
    uniform
        Whether it acts once per warp.
    run, length
        A run of instructions that starts here and may be done at once, and how many these are.
    idle
        How many instructions from here on do nothing and need not be looked at.
    """

    step: Callable[[Mask | None, Mask], None] | None
    control: Callable[[Group], bool] | None
    guard: Mask | None
    inverted: bool
    uniform: bool
    run: Callable[[], None] | None = None
    length: int = 1
    idle: int = 0


def nothing(_mask: Mask | None, _lanes: Mask) -> None:
    """Do nothing: the step of an instruction that is only counted."""


def _mark_idle(slots: list[Slot]) -> None:
    following = 0
    for slot in reversed(slots):
        idle = slot.step is nothing and slot.guard is None
        slot.idle = following = following + 1 if idle else 0


Observer = Callable[[int, NDArray[np.int64], Mask, str], None]
OnBarrier = Callable[[list[tuple[int, Mask]], NDArray[np.int64]], None]


class Machine:
    """Registers, memory and groups of a batch of blocks.

    Attributes
    ----------
    program, geometry, banks, memory
        What runs, where, and what it sees.
    registers, shared, local
        Registers of all lanes; memory of blocks and threads.
    tally
        What has been counted.
    with_values
        Whether global and shared memory hold values.
    observers
        Called with position, addresses, lanes and kind of memory of every access.
    clock
        Instructions run so far.
    patience_used
        Jumps back since a group last gave way to others.
    on_jump_back
        Called with the position of a branch and the group that jumps back there.
    on_barrier
        Called when blocks have passed a barrier, with the lanes that go on by position, and how
        many barriers each block passed.
    on_passed
        Called with the first position, the one behind the last, and the group that ran them.
    """

    def __init__(
        self,
        program: Program,
        geometry: Geometry,
        banks: ConstantBanks,
        memory: GlobalMemory,
        shared_bytes: int,
        with_values: bool = True,
    ) -> None:
        self.program, self.geometry = program, geometry
        self.banks, self.memory = banks, memory
        self.with_values = with_values
        self.registers = Registers(program, geometry, banks)
        self.shared_bytes = -(-max(shared_bytes, 1) // 16) * 16
        self.local_bytes = -(-max(program.stack_bytes, 1) // 16) * 16
        self.shared = np.zeros(geometry.blocks * self.shared_bytes if with_values else 0, np.uint8)
        self.local = np.zeros(geometry.lanes * self.local_bytes, np.uint8)
        self.tally = Tally(len(program.instructions), geometry)
        self.observers: list[Observer] = []
        self.clock = 0
        self.on_jump_back: Callable[[int, Group], None] | None = None
        self.on_barrier: OnBarrier | None = None
        self.on_passed: Callable[[int, int, Group], None] | None = None
        self.alive: Mask = geometry.exists.copy()
        self.convergence = Convergence(geometry)
        self.barriers = BlockBarriers(geometry)
        self.ready: list[Group] = []
        self.slots: list[Slot] = []
        self.patience_used = 0
        self._standstill = Standstill(self)

    def position(self, instruction: Instruction) -> int:
        """Return the number of an instruction of the program."""
        return self.program.position[instruction.address]

    def moves(self, kind: str) -> bool:
        """Say whether a kind of memory holds values; a thread's own always does."""
        return self.with_values or kind == "local"

    def accessed(self, position: int, address: NDArray[np.int64], lanes: Mask, kind: str) -> None:
        """Tell observers of an access."""
        for observer in self.observers:
            observer(position, address, lanes, kind)

    def fault(
        self, instruction: Instruction, lane: int, size: int, address: int, where: str
    ) -> Exception:
        """Return the error for an access that goes wrong, with the thread that made it."""
        aligned = "" if address % size == 0 else f", and is no multiple of {size}"
        return OutOfRangeError(
            f"{self.program.kernel}: {instruction.place}: {self.thread(lane)} moves {size} bytes "
            f"at {where}{aligned}"
        )

    def thread(self, lane: int) -> str:
        """Return which thread of the grid a lane is, in words."""
        geometry = self.geometry
        block = geometry.coordinates()[lane // geometry.block_lanes].tolist()
        thread = lane % geometry.block_lanes
        x, y, _ = geometry.block
        return f"thread {(thread % x, thread // x % y, thread // (x * y))} of block {tuple(block)}"

    # ---------- groups ----------

    def add_group(self, position: int, lanes: Mask) -> None:
        """Let lanes go on at a position."""
        self.ready.append(Group(position, lanes, self.alive, self.geometry))

    def ended(self, lanes: Mask) -> None:
        """Note that lanes have ended, and let go who waited for them."""
        self.alive &= ~lanes
        self.release()

    def release(self, reduction: str | None = None) -> None:
        """Let go all lanes whose barriers are complete."""
        for position, lanes in self.convergence.released(self.alive):
            self.add_group(position, lanes)
        going, passed = self.barriers.released(self.alive, reduction)
        self.tally.barriers += passed
        if self.on_barrier is not None and passed.any():
            self.on_barrier(going, passed)
        for position, lanes in going:
            self.add_group(position, lanes)

    def run(self) -> None:
        """Run all blocks of the batch to their ends.

        Raises
        ------
        MachineCodeError
            If threads wait for each other for ever.
        OutOfRangeError
            If a thread touches memory that it has not got.
        """
        _mark_idle(self.slots)
        self.add_group(0, self.alive.copy())
        with np.errstate(all="ignore"):
            while self.ready:
                self._advance(self._take())
        if self.alive.any():
            lane = int(self.alive.argmax())
            raise MachineCodeError(
                f"{self.program.kernel}: {int(self.alive.sum())} threads wait for others that "
                f"never come, thread {lane % self.geometry.block_lanes} of block "
                f"{int(self.geometry.numbers[lane // self.geometry.block_lanes])} among them: is a "
                f"barrier inside a branch?"
            )

    def _take(self) -> Group:
        """Take the group that is furthest behind, together with others that stand there.

        Groups with lanes of the same warp stay apart. A group that keeps jumping back, to wait for
        another lane of its warp, gives way from time to time.
        """
        ready = self.ready
        if len(ready) == 1:
            return ready.pop()
        if self.patience_used > _PATIENCE:
            self.patience_used = 0
            return ready.pop(0)
        first = min(group.position for group in ready)
        chosen: Group | None = None
        rest = []
        for group in ready:
            if group.position != first:
                rest.append(group)
            elif chosen is None:
                chosen = group
            elif (chosen.warps & group.warps).any():
                rest.append(group)
            else:
                chosen = Group(first, chosen.lanes | group.lanes, self.alive, self.geometry)
        self.ready = rest
        assert chosen is not None
        return chosen

    def _advance(self, group: Group) -> None:
        """Run a group until it ends, waits, or another group's turn has come."""
        start = position = group.position
        limit = self._limit(position)
        while True:
            slot = self.slots[position]
            if slot.step is None:
                if not self._move(slot, group, start, position):
                    return
                start = position = group.position
                continue
            if slot.idle:
                position = min(position + slot.idle, limit)
            elif slot.run is not None and group.write is None and position + slot.length <= limit:
                slot.run()
                position += slot.length
            else:
                self._step(slot, group, position)
                position += 1
            if position >= limit:
                self._passed(group, start, position)
                self.ready.append(group)
                return

    def _passed(self, group: Group, start: int, position: int) -> None:
        """Count that a group has run from one position to another, where it stands now."""
        self.tally.passed(start, position, group.block_warps, group.block_lanes)
        self.clock += position - start
        group.position = position
        if self.on_passed is not None:
            self.on_passed(start, position, group)

    def _move(self, slot: Slot, group: Group, start: int, position: int) -> bool:
        """Do an instruction that moves the group; say whether it is still the group's turn."""
        self._passed(group, start, position + 1)
        if self.clock > MOST_STEPS:
            raise MachineCodeError(
                f"{self.program.kernel}: still running after {MOST_STEPS} instructions; does a "
                f"loop never end?"
            )
        if slot.control is not None and not slot.control(group):
            return False
        if group.position <= position:
            self.patience_used += bool(self.ready)
            if self._standstill.reached(group):
                raise MachineCodeError(
                    f"{self.program.kernel}: {self.program.instructions[position].place}: "
                    f"{self.thread(int(group.lanes.argmax()))} goes round a loop that never ends; "
                    f"does it wait for what no thread does?"
                )
            if self.on_jump_back is not None:
                self.on_jump_back(position, group)
        if self.ready:
            self.ready.append(group)
            return False
        return True

    def _limit(self, position: int) -> int:
        """Return where the next group stands, to stop there and go on together."""
        ahead = [group.position for group in self.ready if group.position > position]
        return min(ahead, default=len(self.slots) + 1)

    def _step(self, slot: Slot, group: Group, position: int) -> None:
        assert slot.step is not None
        write = group.warp_lanes if slot.uniform else group.write
        if slot.guard is None:
            slot.step(write, group.lanes)
            return
        lanes = self.guarded(slot, group, position)
        if lanes.any():
            slot.step(lanes if not slot.uniform else self._warps_too(lanes), lanes)

    def _warps_too(self, lanes: Mask) -> Mask:
        return self.geometry.spread(self.geometry.warps_of(lanes))

    def guarded(self, slot: Slot, group: Group, position: int) -> Mask:
        """Return the lanes of a group for which a guard holds; count the others."""
        assert slot.guard is not None
        lanes: Mask = group.lanes & (~slot.guard if slot.inverted else slot.guard)
        self.tally.kept_off(position, group.lanes & ~lanes)
        return lanes
