"""What warps' accesses cost: addresses and masks in, counters and hazards out.

Nothing here knows who executes the threads. The Python block model feeds it, and so can any other
front end that knows, for every instruction, which element each thread of each block touches.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelError
from pipeline.simt import banks, banks_fast, coalescing_fast, hazards
from pipeline.simt.access import Access
from pipeline.simt.hazards_fast import COPY_ISSUED, COPY_LANDED, LOAD
from pipeline.simt.memory import GlobalArray, SharedArray
from pipeline.simt.watch import Report

MAX_REPORTS = 20
"""Hazards that are kept with all details; every one is counted."""

_MOST_REMEMBERED = 512
Locate = Callable[[], tuple[NDArray[np.int64], str]]


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
    smem_bytes
        Most shared memory that a block declared.
    moved
        Names of arrays in global memory and how they were reached: ``gld`` or ``gst``.
    """

    rule: str = "lecture"
    counters: Counter[str] = field(default_factory=Counter)
    hazard_counts: Counter[str] = field(default_factory=Counter)
    reports: list[hazards.Hazard] = field(default_factory=list)
    smem_bytes: int = 0
    moved: set[tuple[str, str]] = field(default_factory=set)
    _known: dict[tuple[str | int, ...], tuple[Any, ...]] = field(default_factory=dict)

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

    def shared_memory(self, declared: Iterable[SharedArray], blocks: int) -> None:
        """Note the shared memory that each of ``blocks`` blocks has declared so far."""
        total = sum(array.flat.nbytes for array in declared) // blocks
        self.smem_bytes = max(self.smem_bytes, total)

    def global_access(self, access: Access, array: GlobalArray, store: bool) -> None:
        """Count loads or stores of elements of a global array."""
        prefix = "gst" if store else "gld"
        warps, lanes = self._transactions(access, array, prefix)
        self.issue(warps, lanes)
        self.counters[f"{prefix}_instr"] += warps

    def shared_access(
        self,
        access: Access,
        array: SharedArray,
        epoch: NDArray[np.int32],
        kind: int,
        locate: Locate,
    ) -> None:
        """Count shared loads or stores, and check them against what other warps did.

        Parameters
        ----------
        access
            What is touched.
        array
            Where; its watch is updated.
        epoch : (blocks,)
            Barriers that each block has passed.
        kind
            ``LOAD`` or ``STORE`` of :mod:`pipeline.simt.hazards_fast`.
        locate
            Called if there is something to report: gives the (blocks, 3) block indices of the batch
            and the source line.
        """
        prefix = "lds" if kind == LOAD else "sts"
        warps, lanes = self._shared_wavefronts(access, array, prefix)
        self.issue(warps, lanes)
        self.counters[f"{prefix}_instr"] += warps
        self.counters["smem_instr"] += warps
        self._watch(access, array, epoch, kind, locate)

    def async_copy(
        self,
        reads: Access,
        origin: GlobalArray,
        writes: Access,
        array: SharedArray,
        epoch: NDArray[np.int32],
        locate: Locate,
    ) -> None:
        """Count an asynchronous copy from ``origin`` to ``array``; see :meth:`shared_access`."""
        warps, lanes = self._transactions(reads, origin, "gld")
        self._shared_wavefronts(writes, array, "sts")
        self.issue(warps, lanes)
        self.counters["ldgsts_instr"] += warps
        self._watch(writes, array, epoch, COPY_ISSUED, locate)

    def landed(
        self, access: Access, array: SharedArray, epoch: NDArray[np.int32], locate: Locate
    ) -> None:
        """Note that an asynchronous copy has arrived, for the threads that issued it."""
        self._watch(access, array, epoch, COPY_LANDED, locate)

    def note(self, hazard: hazards.Hazard, blocks: int) -> None:
        """Count a hazard that ``blocks`` blocks show, and keep its details."""
        self.hazard_counts[hazard.kind] += blocks
        if len(self.reports) < MAX_REPORTS:
            self.reports.append(hazard)

    def reached(self, way: str) -> frozenset[str]:
        """Names of the arrays that were read (``gld``) or written (``gst``)."""
        return frozenset(name for name, how in self.moved if how == way)

    def _transactions(self, access: Access, array: GlobalArray, prefix: str) -> tuple[int, int]:
        """Count sectors, lines and bytes; return warps and lanes of all repeats."""
        itemsize = array.flat.itemsize
        known = self._pattern(access, ("global", itemsize), coalescing_fast.nothing_known)
        block, weight = self._shifts(access, itemsize)
        each = [
            coalescing_fast.transactions(
                access.const + number * access.step,
                block,
                weight,
                access.thread,
                access.active,
                itemsize,
                known,
            )
            for number in range(access.repeat)
        ]
        warps, lanes, sectors, lines = (
            each[0] if len(each) == 1 else map(sum, zip(*each, strict=True))
        )
        self.counters[f"{prefix}_sectors"] += sectors
        self.counters[f"{prefix}_lines"] += lines
        self.counters["g_bytes_requested"] += lanes * access.width * itemsize
        if warps:
            self.moved.add((array.name, prefix))
        return warps, lanes

    def _shared_wavefronts(
        self, access: Access, array: SharedArray, prefix: str
    ) -> tuple[int, int]:
        """Count wavefronts; return warps and lanes of all repeats."""
        warps, lanes, taken, ideal = self._wavefronts(access, array.flat.itemsize, prefix == "sts")
        self.counters[f"{prefix}_wavefronts"] += taken
        self.counters["smem_wavefronts"] += taken
        self.counters["ideal_smem_wavefronts"] += ideal
        return warps, lanes

    def _watch(
        self,
        access: Access,
        array: SharedArray,
        epoch: NDArray[np.int32],
        kind: int,
        locate: Locate,
    ) -> None:
        """Enter an access in the history of its array, and report what it shows."""
        for report in array.watch.access(access, epoch, kind):
            self._note_report(report, array.name, epoch, locate)

    def _wavefronts(self, access: Access, itemsize: int, store: bool) -> list[int]:
        """Return warps, lanes, wavefronts and ideal wavefronts of an access with its repeats."""

        def count(number: int = 0) -> tuple[int, ...]:
            counted: tuple[int, ...] = banks_fast.wavefronts(
                access.const + number * access.step,
                access.block,
                access.thread,
                access.active,
                itemsize,
                access.width,
                self.rule == "hardware",
                store,
                1 if access.same else len(access.block),
            )
            return counted

        blocks = len(access.block) if access.same else 1
        if itemsize >= banks.WORD_BYTES and access.same:
            # A shift by whole words turns the banks round and changes no count.
            once = self._pattern(access, ("shared", itemsize, access.width, store), count)
            return [value * blocks * access.repeat for value in once]
        every = [count(number) for number in range(access.repeat)]
        return [sum(values) * blocks for values in zip(*every, strict=True)]

    def _pattern(self, access: Access, kind: tuple[str | int, ...], make: Callable[[], Any]) -> Any:
        """Recall what is known of an access pattern, up to shifts of all threads."""
        if not access.one_pattern:
            return make()
        return self._recall((access.thread, access.active), kind, make)

    def _shifts(self, access: Access, itemsize: int) -> coalescing_fast.Shifts:
        """Recall how the blocks of a batch are aligned."""
        if not access.one_pattern:
            return coalescing_fast.every_block(access.block)
        shifts: coalescing_fast.Shifts = self._recall(
            (access.block,), (itemsize,), lambda: coalescing_fast.shifts(access.block, itemsize)
        )
        return shifts

    def _recall(
        self,
        arrays: tuple[NDArray[Any], ...],
        kind: tuple[str | int, ...],
        make: Callable[[], Any],
    ) -> Any:
        """Recall what was made for these very arrays, or make it.

        Arrays are recognised by identity; they are kept with the result, so that no other array can
        take their place.
        """
        key = (*map(id, arrays), *kind)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            found = self._known[key] = (arrays, make())
        return found[1]

    def _note_report(
        self, report: Report, name: str, epoch: NDArray[np.int32], locate: Locate
    ) -> None:
        """Turn the report of one instruction into counts and hazards."""
        block_index, source = locate()
        for kind, (count, row, warp, other, element) in zip(
            hazards.ACCESS_KINDS, report[:-1].tolist(), strict=True
        ):
            if count:
                x, y, z = block_index[row].tolist()
                interval = int(epoch[row])
                self.note(
                    hazards.Hazard(kind, (x, y, z), warp, other, name, element, interval, source),
                    count,
                )
        self.counters["race_count"] += int(report[-1, 0])
