"""Watch a shared array for hazards, doing the work only where a hazard is possible."""

import numpy as np
from numpy.typing import NDArray

from pipeline.simt import hazards_fast
from pipeline.simt.access import Access
from pipeline.simt.hazards_fast import COPY_ISSUED, COPY_LANDED, LOAD, STORE

_MOST_PENDING = 1024
Report = NDArray[np.int64]


class Watch:
    """The history of a shared array in every block of a batch.

    A read of elements that are written, in an array that nobody has written since the last barrier,
    is no hazard; it matters only if a write follows before the next barrier. Such reads are put
    aside, and entered in the history when a write comes. Between the barriers of a correct kernel
    none does.

    As long as all blocks do the same, one history stands for all of them.
    """

    def __init__(self, blocks: int, elements: int) -> None:
        self._blocks = blocks
        self._history = hazards_fast.new_state(elements)
        self._pending: list[Access] = []
        self._written = False
        self._initialised = False
        self._flying = 0
        self._rare = False
        self._instructions = 0

    def access(self, access: Access, epoch: NDArray[np.int32], kind: int) -> list[Report]:
        """Enter an access; return a report for each of its instructions that shows a hazard.

        Parameters
        ----------
        access
            One or several instructions.
        epoch : (blocks,)
            Barriers that each block has passed.
        kind
            What it does to the elements, see :mod:`pipeline.simt.hazards_fast`.

        Returns
        -------
        list of (row, field)
            See :mod:`pipeline.simt.hazards_fast`; the count is over the blocks of the batch.
        """
        if kind == LOAD and self._is_harmless(access):
            self._pending.append(access)
            if len(self._pending) > _MOST_PENDING:
                self.settle(epoch)
            return []
        if kind != LOAD:
            self.settle(epoch)
            self._written = True
        self._flying += (kind == COPY_ISSUED) - (kind == COPY_LANDED)
        self._rare = self._rare or kind not in (LOAD, STORE)
        reports = self._enter(access, epoch, kind)
        if kind != LOAD and not self._initialised:
            self._initialised = hazards_fast.all_written(self._history)
        return reports

    def _is_harmless(self, access: Access) -> bool:
        """Say whether a load can be no hazard by itself."""
        if self._written or self._flying:
            return False
        if self._initialised:
            return True
        if not access.same:
            self._split()
        return all(
            hazards_fast.reads_written(
                access.const + number * access.step,
                access.block,
                access.thread,
                access.active,
                access.width,
                self._history,
            )
            for number in range(access.repeat)
        )

    def barrier(self) -> None:
        """Order everything before against everything after, in all blocks."""
        self._pending.clear()
        self._written = False

    def torn_barrier(self, epoch: NDArray[np.int32]) -> None:
        """Prepare for a barrier that only some blocks pass; ``epoch`` is from before it."""
        self.settle(epoch)
        self._split()

    def settle(self, epoch: NDArray[np.int32]) -> None:
        """Enter the reads that were put aside."""
        for access in self._pending:
            self._enter(access, epoch, LOAD)
        self._pending.clear()

    def _split(self) -> None:
        """Give every block a history of its own, once blocks begin to differ."""
        if len(self._history) != self._blocks:
            self._history = np.repeat(self._history, self._blocks, axis=0)

    def _enter(self, access: Access, epoch: NDArray[np.int32], kind: int) -> list[Report]:
        if not access.same:
            self._split()
        reports = []
        for number in range(access.repeat):
            self._instructions += 1
            report = np.zeros((hazards_fast.REPORT_ROWS, hazards_fast.REPORT_FIELDS), np.int64)
            reported = hazards_fast.check_access(
                access.const + number * access.step,
                access.block,
                access.thread,
                access.active,
                access.width,
                kind,
                self._rare,
                self._history,
                epoch,
                self._instructions,
                report,
            )
            if reported:
                report[:, 0] *= self._blocks // len(self._history)
                reports.append(report)
        return reports
