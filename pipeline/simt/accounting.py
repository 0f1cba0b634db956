"""What warps' accesses cost: addresses and masks in, counters and hazards out.

Nothing here knows who executes the threads. The Python block model feeds it, and so can any other
front end that knows, for every instruction, which element each thread of each block touches.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pipeline.errors import ModelError
from pipeline.simt import banks, banks_fast, coalescing_fast, hazards, hazards_fast
from pipeline.simt.memory import SharedArray

MAX_REPORTS = 20
"""Hazards that are kept with all details; every one is counted."""


@dataclass(frozen=True, slots=True)
class Access:
    """The elements that one instruction touches, for all threads of a batch of blocks.

    Element index of thread ``t`` in block ``b``: ``const + block[b] + thread[b, t]``. Threads are in
    ``tid`` order, so that 32 consecutive ones are a warp.

    Attributes
    ----------
    const, block : (blocks, 1), thread : (1 or blocks, threads)
        The parts of the index; one row of ``thread`` stands for all blocks.
    active : (1 or blocks, threads)
        Threads that take part.
    width
        Consecutive elements per thread: 1, 2 or 4.
    same
        Whether every block touches the same elements of its own array.
    """

    const: int
    block: NDArray[np.int64]
    thread: NDArray[np.int64]
    active: NDArray[np.bool_]
    width: int
    same: bool

    @property
    def blocks(self) -> int:
        """Blocks of the batch."""
        return len(self.block)


@njit(cache=True, nogil=True)
def _shared_access(
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    scale: int,
    width: int,
    hardware_rule: bool,
    history: NDArray[np.int32],
    epoch: NDArray[np.int32],
    stamp: int,
    store: bool,
    report: NDArray[np.int64],
) -> tuple[int, int, int, int, int]:
    """Count wavefronts and check hazards of one access; one row of history stands for all blocks.

    Returns warps, lanes, wavefronts, ideal wavefronts, and how many rows of the report say something.
    """
    seen = np.empty(hazards_fast.REPORT_ROWS, np.bool_)
    rows = history.shape[0]
    warps = lanes = taken = ideal = 0
    for b in range(rows):
        offset = thread[b if thread.shape[0] > 1 else 0]
        lit = active[b if active.shape[0] > 1 else 0]
        base = const + block[b, 0]
        w, n, k, i = banks_fast.block_wavefronts(base, offset, lit, scale, width, hardware_rule)
        warps += w
        lanes += n
        taken += k
        ideal += i
        hazards_fast.block_hazards(
            history[b], epoch[b], stamp, base, offset, lit, width, store, b, report, seen
        )
    return warps, lanes, taken, ideal, np.count_nonzero(report[:, 0])


@dataclass
class Accounting:
    """Counters and hazards of one launch.

    Attributes
    ----------
    rule
        How shared-memory wavefronts are counted, see :mod:`pipeline.simt.banks`.
    counters
        Every counter of ``pipeline.vocab.counters`` that accesses change; missing ones are 0.
    hazard_counts
        Offending instructions per kind, one per block and instruction.
    reports
        The first ``MAX_REPORTS`` hazards with their details.
    """

    rule: str = "lecture"
    counters: Counter[str] = field(default_factory=Counter)
    hazard_counts: Counter[str] = field(default_factory=Counter)
    reports: list[hazards.Hazard] = field(default_factory=list)
    _stamp: int = 0

    def __post_init__(self) -> None:
        """Refuse a rule that does not exist."""
        if self.rule not in banks.RULES:
            raise ModelError(
                f"wavefront rule {self.rule!r} is unknown; allowed: {', '.join(banks.RULES)}"
            )

    def issue(self, warps: int, lanes: int, times: int = 1) -> None:
        """Count ``times`` instructions issued by ``warps`` warps with ``lanes`` active lanes."""
        self.counters["warp_instr"] += warps * times
        self.counters["thread_instr"] += lanes * times

    def ffma(self, warps: int, lanes: int, times: int) -> None:
        """Count ``times`` multiply-adds per active lane."""
        self.issue(warps, lanes, times)
        self.counters["ffma_instr"] += warps * times
        self.counters["fma"] += lanes * times

    def barrier(self, blocks: int, warps: int, lanes: int) -> None:
        """Count one barrier of ``blocks`` blocks."""
        self.issue(warps, lanes)
        self.counters["barriers"] += blocks

    def global_access(self, access: Access, itemsize: int, store: bool) -> None:
        """Count one global load or store of elements of ``itemsize`` bytes."""
        warps, lanes, sectors, lines = coalescing_fast.transactions(
            access.const, access.block, access.thread, access.active, itemsize
        )
        prefix = "gst" if store else "gld"
        self.issue(warps, lanes)
        self.counters[f"{prefix}_instr"] += warps
        self.counters[f"{prefix}_sectors"] += sectors
        self.counters[f"{prefix}_lines"] += lines
        self.counters["g_bytes_requested"] += lanes * access.width * itemsize

    def shared_access(
        self,
        access: Access,
        array: SharedArray,
        epoch: NDArray[np.int32],
        store: bool,
        locate: Callable[[], tuple[NDArray[np.int64], str]],
    ) -> None:
        """Count one shared load or store, and check it against what other warps did.

        Parameters
        ----------
        access
            What is touched.
        array
            The array; its history is updated.
        epoch : (blocks,)
            Barriers that each block has passed.
        store
            Whether the access writes.
        locate
            Called if there is something to report: gives the (blocks, 3) block indices of the batch
            and the source line.
        """
        if not access.same:
            array.split_history()
        times = access.blocks // len(array.history)
        report = np.zeros((hazards_fast.REPORT_ROWS, hazards_fast.REPORT_FIELDS), np.int64)
        self._stamp += store
        *counted, reported = _shared_access(
            access.const,
            access.block,
            access.thread,
            access.active,
            array.itemsize,
            access.width,
            self.rule == "hardware",
            array.history,
            epoch,
            self._stamp,
            store,
            report,
        )
        warps, lanes, taken, ideal = (count * times for count in counted)
        prefix = "sts" if store else "lds"
        self.issue(warps, lanes)
        for name, value in (("instr", warps), ("wavefronts", taken)):
            self.counters[f"{prefix}_{name}"] += value
            self.counters[f"smem_{name}"] += value
        self.counters["ideal_smem_wavefronts"] += ideal
        if reported:
            report[:, 0] *= times
            self._note_shared(report, array.name, epoch, locate)

    def _note_shared(
        self,
        report: NDArray[np.int64],
        name: str,
        epoch: NDArray[np.int32],
        locate: Callable[[], tuple[NDArray[np.int64], str]],
    ) -> None:
        """Turn the report of one instruction into counts and hazards."""
        block_index, source = locate()
        for kind, (count, row, warp, other, element) in zip(
            hazards.ACCESS_KINDS, report.tolist(), strict=False
        ):
            if count:
                block = tuple(block_index[row].tolist())
                interval = int(epoch[row])
                self.note(
                    hazards.Hazard(kind, block, warp, other, name, element, interval, source), count
                )
        self.counters["race_count"] += int(report[-1, 0])

    def note(self, hazard: hazards.Hazard, blocks: int) -> None:
        """Count a hazard that ``blocks`` blocks show, and keep its details."""
        self.hazard_counts[hazard.kind] += blocks
        if len(self.reports) < MAX_REPORTS:
            self.reports.append(hazard)

