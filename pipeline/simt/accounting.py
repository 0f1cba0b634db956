"""Counters and hazards of one launch: accesses in, what they cost and break out.

Nothing here knows who executes the threads. The Python block model feeds it, and so can any other
front end that knows, for every instruction, which element each thread of each block touches.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import InitVar, dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipeline.simt import hazards
from pipeline.simt.access import Access
from pipeline.simt.blocks import Blocks
from pipeline.simt.costs import Costs
from pipeline.simt.hazards_fast import ATOMIC, COPY_ISSUED, COPY_LANDED, LOAD, STORE
from pipeline.simt.memory import GlobalArray, SharedArray
from pipeline.simt.source import source
from pipeline.simt.watch import Report

_PREFIX = {LOAD: "gld", STORE: "gst", ATOMIC: "gatom"}

MAX_REPORTS = 20
"""Hazards that are kept with all details; every one is counted."""


@dataclass
class Accounting:
    """Counters and hazards of one launch.

    Attributes
    ----------
    rule
        How shared-memory wavefronts are counted, see :mod:`pipeline.simt.banks`.
    counters
        Every counter of ``pipeline.vocab.counters`` that instructions change; missing ones are 0.
    hazard_counts
        Offending instructions per kind, one per block and instruction.
    reports
        The first ``MAX_REPORTS`` hazards with their details.
    smem_bytes
        Most shared memory that a block declared.
    moved
        Names of arrays in global memory and how they were reached: ``gld``, ``gst`` or ``gatom``.
    """

    rule: InitVar[str] = "lecture"
    counters: Counter[str] = field(default_factory=Counter)
    hazard_counts: Counter[str] = field(default_factory=Counter)
    reports: list[hazards.Hazard] = field(default_factory=list)
    smem_bytes: int = 0
    moved: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self, rule: str) -> None:
        """Refuse a rule that does not exist."""
        self._costs = Costs(rule)

    # ---------- instructions without memory ----------

    def issue(self, warps: int, lanes: int, times: int = 1) -> None:
        """Count ``times`` instructions issued by ``warps`` warps with ``lanes`` active lanes."""
        self.counters["warp_instr"] += warps * times
        self.counters["thread_instr"] += lanes * times

    def ffma(self, warps: int, lanes: int, times: int) -> None:
        """Count ``times`` multiply-adds per active lane."""
        self.issue(warps, lanes, times)
        self.counters["ffma_instr"] += warps * times
        self.counters["fma"] += lanes * times

    def mma(self, warps: int, lanes: int, times: int, multiply_adds: int) -> None:
        """Count ``times`` tensor-core instructions per warp, of ``multiply_adds`` each."""
        self.issue(warps, lanes, times)
        self.counters["mma_instr"] += warps * times
        for name in ("fma", "mma_fma"):
            self.counters[name] += warps * times * multiply_adds

    def barrier(self, blocks: int, warps: int, lanes: int) -> None:
        """Count one barrier of ``blocks`` blocks."""
        self.issue(warps, lanes)
        self.counters["barriers"] += blocks

    def shuffle(self, warps: int, lanes: int, times: int) -> None:
        """Count ``times`` exchanges of 32 bits between the lanes of a warp."""
        self.issue(warps, lanes, times)
        self.counters["shfl_instr"] += warps * times

    def vote(self, warps: int, lanes: int) -> None:
        """Count one vote of the lanes of a warp."""
        self.issue(warps, lanes)
        self.counters["vote_instr"] += warps

    # ---------- global memory ----------

    def reached(self, *ways: str) -> frozenset[str]:
        """Names of the arrays that were reached in one of these ways, see ``moved``."""
        return frozenset(name for name, how in self.moved if how in ways)

    def global_access(
        self, access: Access, array: GlobalArray, blocks: Blocks, kind: int
    ) -> NDArray[np.bool_] | None:
        """Count global loads, stores or atomics, and hold them against what other blocks do.

        Parameters
        ----------
        access, array
            What is touched, and where.
        blocks
            Who touches it.
        kind
            ``LOAD``, ``STORE`` or ``ATOMIC`` of :mod:`pipeline.simt.hazards_fast`.

        Returns
        -------
        (blocks,) or None
            The blocks that race, of the last instruction that shows a race.
        """
        prefix = _PREFIX[kind]
        warps, lanes = self._transactions(access, array, prefix)
        self.issue(warps, lanes)
        self.counters[f"{prefix}_instr"] += warps
        if kind == ATOMIC:
            self.counters["gatom_conflicts"] += self._costs.repeats(access)
        return self._note_block_races(access, array, blocks, kind)

    def _transactions(self, access: Access, array: GlobalArray, prefix: str) -> tuple[int, int]:
        """Count sectors, lines and bytes; return warps and lanes of all repeats."""
        itemsize = array.flat.itemsize
        warps, lanes, sectors, lines = self._costs.transactions(access, itemsize)
        self.counters[f"{prefix}_sectors"] += sectors
        self.counters[f"{prefix}_lines"] += lines
        self.counters["g_bytes_requested"] += lanes * access.width * itemsize
        if warps:
            self.moved.add((array.name, prefix))
        return warps, lanes

    # ---------- shared memory ----------

    def shared_memory(self, declared: Iterable[SharedArray], blocks: int) -> None:
        """Note the shared memory that each of ``blocks`` blocks has declared so far."""
        total = sum(array.flat.nbytes for array in declared) // blocks
        self.smem_bytes = max(self.smem_bytes, total)

    def shared_access(self, access: Access, array: SharedArray, blocks: Blocks, kind: int) -> None:
        """Count shared loads or stores, and check them against what other warps did.

        Parameters
        ----------
        access, array
            What is touched, and where; the watch of the array is updated.
        blocks
            Who touches it.
        kind
            ``LOAD`` or ``STORE`` of :mod:`pipeline.simt.hazards_fast`.
        """
        prefix = "lds" if kind == LOAD else "sts"
        warps, lanes, _ = self._shared_wavefronts(access, array, prefix)
        self.issue(warps, lanes)
        self.counters[f"{prefix}_instr"] += warps
        self.counters["smem_instr"] += warps
        self._check_warps(access, array, blocks, kind)

    def matrix_load(self, access: Access, array: SharedArray, blocks: Blocks, lanes: int) -> None:
        """Count a matrix load (ldmatrix), and check it as :meth:`shared_access` does.

        Parameters
        ----------
        access, array
            The rows that are read: one for each of a warp's first lanes.
        blocks
            Who reads.
        lanes
            Lanes that execute it, with or without a row to name.
        """
        warps, _, taken = self._shared_wavefronts(access, array, "lds", matrix=True)
        self.issue(warps, lanes)
        self.counters["ldmatrix_instr"] += warps
        self.counters["ldmatrix_wavefronts"] += taken
        self._check_warps(access, array, blocks, LOAD)

    def shared_atomic(self, access: Access, array: SharedArray, blocks: Blocks) -> None:
        """Count shared atomics; see :meth:`shared_access`."""
        warps, lanes, taken = self._costs.atomic_wavefronts(access, array.flat.itemsize)
        self.issue(warps, lanes)
        self.counters["satom_instr"] += warps
        self.counters["satom_wavefronts"] += taken
        self._check_warps(access, array, blocks, ATOMIC)

    def async_copy(
        self,
        reads: Access,
        origin: GlobalArray,
        writes: Access,
        target: SharedArray,
        blocks: Blocks,
    ) -> None:
        """Count an asynchronous copy from global to shared memory."""
        warps, lanes = self._transactions(reads, origin, "gld")
        self._shared_wavefronts(writes, target, "sts")
        self.issue(warps, lanes)
        self.counters["ldgsts_instr"] += warps
        self._note_block_races(reads, origin, blocks, LOAD)
        self._check_warps(writes, target, blocks, COPY_ISSUED)

    def landed(self, access: Access, array: SharedArray, blocks: Blocks) -> None:
        """Note that an asynchronous copy has arrived, for the threads that issued it."""
        self._check_warps(access, array, blocks, COPY_LANDED)

    def _shared_wavefronts(
        self, access: Access, array: SharedArray, prefix: str, matrix: bool = False
    ) -> tuple[int, int, int]:
        """Count wavefronts; return warps, lanes and wavefronts of all repeats."""
        itemsize = array.flat.itemsize
        store = prefix == "sts"
        warps, lanes, taken, ideal = self._costs.wavefronts(access, itemsize, store, matrix)
        self.counters[f"{prefix}_wavefronts"] += taken
        self.counters["smem_wavefronts"] += taken
        self.counters["ideal_smem_wavefronts"] += ideal
        return warps, lanes, taken

    # ---------- hazards ----------

    def note(
        self,
        kind: str,
        count: int,
        blocks: Blocks,
        row: int,
        warp: int,
        other_warp: int = -1,
        array: str = "",
        index: int = -1,
        other_block: int | None = None,
    ) -> None:
        """Count a hazard that ``count`` blocks show, and keep the details of the first one.

        Parameters
        ----------
        kind, warp, other_warp, array, index
            As in :class:`pipeline.simt.hazards.Hazard`.
        blocks, row
            The batch, and which of its blocks shows it first.
        other_block
            Number of the block that it collides with.
        """
        self.hazard_counts[kind] += count
        if len(self.reports) >= MAX_REPORTS:
            return
        self.reports.append(
            hazards.Hazard(
                kind=kind,
                block=blocks.index_at(row),
                warp=warp,
                other_warp=other_warp,
                array=array,
                index=index,
                interval=int(blocks.epoch[row]),
                source=source(),
                other_block=None if other_block is None else blocks.index(other_block),
            )
        )

    def _check_warps(self, access: Access, array: SharedArray, blocks: Blocks, kind: int) -> None:
        """Enter an access in the history of its array, and note what it shows."""
        for report in array.watch.access(access, blocks.epoch, kind):
            self._note_report(report, array.name, blocks)

    def _note_report(self, report: Report, name: str, blocks: Blocks) -> None:
        """Turn the report of one instruction into counts and hazards."""
        for kind, (count, row, warp, other, element) in zip(
            hazards.ACCESS_KINDS, report[:-1].tolist(), strict=True
        ):
            if count:
                self.note(kind, count, blocks, row, warp, other, name, element)
        self.counters["race_count"] += int(report[-1, 0])

    def _note_block_races(
        self, access: Access, array: GlobalArray, blocks: Blocks, kind: int
    ) -> NDArray[np.bool_] | None:
        """Enter an access in the history of its array, and note the blocks that race."""
        if array.traffic is None or (kind == LOAD and array.traffic.skips_loads):
            return None
        racing = None
        for races in array.traffic.access(access, blocks.numbers, kind):
            count, row, warp, other, element = races.report.tolist()
            self.note(
                hazards.GLOBAL_READ if kind == LOAD else hazards.GLOBAL_WRITE,
                count,
                blocks,
                row,
                warp,
                array=array.name,
                index=element,
                other_block=other,
            )
            self.counters["race_count"] += count
            racing = races.racing
        return racing
