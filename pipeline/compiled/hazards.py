"""Hazards of machine code while it runs: races on shared memory, and barriers that some miss.

What hazards are is defined in :mod:`pipeline.simt.hazards`, whose accounting this feeds. Every
barrier, also a named one that only some warps take part in, is taken to order all threads of the
block: what is found is there, and what such barriers leave open is not looked for. Lanes of one
warp are taken to run in step.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.binding import Mask
from pipeline.compiled.decode import Program
from pipeline.compiled.elf import reserved_shared
from pipeline.compiled.geometry import WARP
from pipeline.compiled.instruction import Immediate, Instruction, Register, register_key
from pipeline.compiled.machine import Machine
from pipeline.compiled.totals import access_bytes
from pipeline.simt.access import Access
from pipeline.simt.hazards import ACCESS_KINDS, DIVERGENT_BARRIER, Hazard
from pipeline.simt.hazards_fast import ATOMIC, COPY_ISSUED, COPY_LANDED, LOAD, STORE
from pipeline.simt.watch import Report, Watch

ARRAY = "shared_bytes"
"""Name of a block's shared memory in hazards, in bytes: code does not know the source's arrays."""

_KINDS = {
    **dict.fromkeys(("LDS", "LDSM", "LD"), LOAD),
    **dict.fromkeys(("STS", "ST"), STORE),
    **dict.fromkeys(("ATOMS", "ATOM"), ATOMIC),
    "LDGSTS": COPY_ISSUED,
}
_MATRIX_ROW = 16
_WORD = 4
_EXCHANGE_REACH = 32
"""Instructions between the load and the exchange of an atomic that is a loop."""


@dataclass(frozen=True)
class Finding:
    """A kind of hazard at an instruction.

    Attributes
    ----------
    position
        Of the instruction in the program.
    first
        The first block that shows it.
    count
        How often blocks show it.
    """

    position: int
    first: Hazard
    count: int


class HazardWatch:
    """Looks on while machines run the blocks of a launch.

    Parameters
    ----------
    program
        What they run.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        code = program.instructions
        self.kinds = {
            number: ATOMIC if _opens_exchange(code, number) else _KINDS[one.opcode]
            for number, one in enumerate(code)
            if one.opcode in _KINDS
        }
        self.sizes = {
            number: _MATRIX_ROW if code[number].opcode == "LDSM" else access_bytes(code[number])
            for number in self.kinds
        }
        self.granule = min([_WORD, *self.sizes.values()])
        self._counts: Counter[tuple[str, int]] = Counter()
        self._first: dict[tuple[str, int], Hazard] = {}

    def attach(self, machine: Machine) -> None:
        """Look on while a batch of blocks runs."""
        _BatchWatch(self, machine)

    def note(self, position: int, hazard: Hazard, count: int) -> None:
        """Note that ``count`` blocks show a hazard at an instruction."""
        key = hazard.kind, position
        self._counts[key] += count
        self._first.setdefault(key, hazard)

    def findings(self) -> list[Finding]:
        """Return what was found, in the order of the code."""
        return [
            Finding(position, self._first[kind, position], count)
            for (kind, position), count in sorted(
                self._counts.items(), key=lambda item: (item[0][1], item[0][0])
            )
        ]


@dataclass
class _Copy:
    """An asynchronous copy under way: where to, by which lanes, and in which of their groups."""

    address: NDArray[np.int64]
    lanes: Mask
    group: NDArray[np.int64]
    size: int


@dataclass
class _BatchWatch:
    """What the blocks of one machine have done so far."""

    owner: HazardWatch
    machine: Machine
    watch: Watch = field(init=False)
    copies: list[_Copy] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen to accesses, barriers and waits for copies."""
        machine, geometry = self.machine, self.machine.geometry
        self.watch = Watch(geometry.blocks, machine.shared_bytes // self.owner.granule)
        self.epoch = np.zeros(geometry.blocks, np.int32)
        self.committed = np.zeros(geometry.lanes, np.int64)
        machine.observers.append(self._accessed)
        machine.on_barrier = self._passed_barrier
        for position, instruction in enumerate(machine.program.instructions):
            if instruction.opcode == "LDGDEPBAR":
                machine.slots[position].step = self._committed
            elif instruction.opcode == "DEPBAR":
                left = _may_be_left(instruction)
                machine.slots[position].step = lambda _, lanes, n=left: self._waited(lanes, n)

    # ---------- accesses ----------

    def _accessed(self, position: int, address: NDArray[np.int64], lanes: Mask, kind: str) -> None:
        if kind != "shared" or not lanes.any():
            return
        size = self.owner.sizes[position]
        touched = address[lanes]
        if touched.min() < 0 or touched.max() + size > self.machine.shared_bytes:
            return  # The access itself fails next, with the thread that made it.
        what = self.owner.kinds[position]
        self._enter(position, address, lanes, size, what)
        if what == COPY_ISSUED:
            self.copies.append(_Copy(address.copy(), lanes.copy(), self.committed.copy(), size))

    def _enter(
        self, position: int, address: NDArray[np.int64], lanes: Mask, size: int, kind: int
    ) -> None:
        blocks = self.machine.geometry.blocks
        active = lanes.reshape(blocks, -1)
        thread = np.where(active, address.reshape(blocks, -1) // self.owner.granule, 0)
        same = bool((active == active[0]).all() and (thread == thread[0]).all())
        rows = slice(0, 1 if same else blocks)
        access = Access(
            const=0,
            block=np.zeros((blocks, 1), np.int64),
            thread=np.ascontiguousarray(thread[rows]),
            active=np.ascontiguousarray(active[rows]),
            width=size // self.owner.granule,
            same=same,
        )
        for report in self.watch.access(access, self.epoch, kind):
            self._note(position, report)

    def _note(self, position: int, report: Report) -> None:
        for kind, (count, row, warp, other, element) in zip(
            ACCESS_KINDS, report[:-1].tolist(), strict=True
        ):
            if count:
                byte = element * self.owner.granule - reserved_shared(self.owner.program.capability)
                self.owner.note(
                    position,
                    self._hazard(kind, position, row, warp, other, ARRAY, byte),
                    count,
                )

    def _hazard(
        self, kind: str, position: int, row: int, warp: int, other: int, array: str, index: int
    ) -> Hazard:
        x, y, z = self.machine.geometry.coordinates()[row].tolist()
        return Hazard(
            kind, (x, y, z), warp, other, array, index, int(self.epoch[row]),
            _source(self.machine.program.instructions[position]),
        )  # fmt: skip

    # ---------- asynchronous copies ----------

    def _committed(self, _mask: Mask | None, lanes: Mask) -> None:
        """LDGDEPBAR: what these lanes have copied so far is a group."""
        self.committed += lanes

    def _waited(self, lanes: Mask, left: int) -> None:
        """DEPBAR: all but the last groups of these lanes have arrived."""
        going = []
        for copy in self.copies:
            landed = copy.lanes & lanes & (copy.group < self.committed - left)
            if landed.any():
                self._enter(0, copy.address, landed, copy.size, COPY_LANDED)
                copy.lanes &= ~landed
            if copy.lanes.any():
                going.append(copy)
        self.copies = going

    # ---------- barriers ----------

    def _passed_barrier(self, going: list[tuple[int, Mask]], passed: NDArray[np.int64]) -> None:
        self._find_torn(going, passed)
        geometry = self.machine.geometry
        running = geometry.per_block(self.machine.alive) > 0
        if (passed[running] > 0).all():
            self.watch.barrier()
        else:
            self.watch.torn_barrier(self.epoch)
        self.epoch = (self.epoch + passed).astype(np.int32)

    def _find_torn(self, going: list[tuple[int, Mask]], passed: NDArray[np.int64]) -> None:
        """Report blocks of which threads met at different barriers, or had ended before."""
        geometry, instructions = self.machine.geometry, self.machine.program.instructions
        whole = [
            (position - 1, lanes) for position, lanes in going
            if not _counts_threads(instructions[position - 1])
        ]  # fmt: skip
        for position, lanes in whole:
            here = geometry.per_block(lanes)
            torn = (here > 0) & (here < geometry.threads) & (passed > 0)
            if torn.any():
                row = int(np.flatnonzero(torn)[0])
                block = slice(row * geometry.block_lanes, (row + 1) * geometry.block_lanes)
                absent = geometry.exists[block] & ~lanes[block]
                hazard = self._hazard(
                    DIVERGENT_BARRIER, position, row, int(lanes[block].argmax()) // WARP,
                    int(absent.argmax()) // WARP, "", -1,
                )  # fmt: skip
                self.owner.note(position, hazard, int(torn.sum()))


def _opens_exchange(code: Sequence[Instruction], number: int) -> bool:
    """Say whether a load reads what a compare-and-swap then compares with.

    Atomics that hardware lacks, such as sums of real numbers, are compiled to such loops, of which
    load and exchange together are one atomic.
    """
    one = code[number]
    target = next((part for part in one.results if isinstance(part, Register)), None)
    if one.opcode not in ("LDS", "LD") or target is None or target.number is None:
        return False
    for later in code[number + 1 : number + 1 + _EXCHANGE_REACH]:
        values = [part for part in later.operands if isinstance(part, Register)]
        if later.opcode in ("ATOMS", "ATOM") and (later.has("CAS") or later.has("CAST")):
            return any(part.number == target.number for part in values)
        if register_key(target.file, target.number) in later.writes:
            return False
    return False


def _counts_threads(instruction: Instruction) -> bool:
    """Say whether a barrier is for some threads only."""
    return sum(isinstance(one, Immediate) for one in instruction.operands) > 1


def _may_be_left(instruction: Instruction) -> int:
    """Return how many groups of copies a wait leaves under way."""
    return next((one.bits for one in instruction.operands if isinstance(one, Immediate)), 0)


def _source(instruction: Instruction) -> str:
    if instruction.line:
        return f"{instruction.file}:{instruction.line}"
    return f"{instruction.address:#06x} ({instruction.text})"
