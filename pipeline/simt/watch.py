"""Watch a shared array for hazards, doing the work only where a hazard is possible."""

import numpy as np
from numpy.typing import NDArray

from pipeline.simt import hazards_fast
from pipeline.simt.access import Access

_MOST_PENDING = 1024
Report = NDArray[np.int64]


class Watch:
    """The history of a shared array in every block of a batch.

    A read of an array that is fully written, and that nobody has written since the last barrier, is
    no hazard; it matters only if a write follows before the next barrier. Such reads are put aside,
    and entered in the history when a write comes. Between the barriers of a correct kernel none
    does.

    As long as all blocks do the same, one history stands for all of them.
    """

    def __init__(self, blocks: int, elements: int) -> None:
        self._blocks = blocks
        self._history = hazards_fast.new_state(elements)
        self._pending: list[Access] = []
        self._written = False
        self._initialised = False
        self._stores = 0

    def access(self, access: Access, epoch: NDArray[np.int32], store: bool) -> list[Report]:
        """Enter an access; return a report for each of its instructions that shows a hazard.

        Parameters
        ----------
        access
            One or several instructions.
        epoch : (blocks,)
            Barriers that each block has passed.
        store
            Whether it writes.

        Returns
        -------
        list of (row, field)
            See :mod:`pipeline.simt.hazards_fast`; the count is over the blocks of the batch.
        """
        if not store and self._initialised and not self._written:
            self._pending.append(access)
            if len(self._pending) > _MOST_PENDING:
                self.settle(epoch)
            return []
        if store:
            self.settle(epoch)
            self._written = True
        reports = self._enter(access, epoch, store)
        if store and not self._initialised:
            self._initialised = hazards_fast.all_written(self._history)
        return reports

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
            self._enter(access, epoch, store=False)
        self._pending.clear()

    def _split(self) -> None:
        """Give every block a history of its own, once blocks begin to differ."""
        if len(self._history) != self._blocks:
            self._history = np.repeat(self._history, self._blocks, axis=0)

    def _enter(self, access: Access, epoch: NDArray[np.int32], store: bool) -> list[Report]:
        if not access.same:
            self._split()
        reports = []
        for number in range(access.repeat):
            self._stores += store
            report = np.zeros((hazards_fast.REPORT_ROWS, hazards_fast.REPORT_FIELDS), np.int64)
            reported = hazards_fast.check_access(
                access.const + number * access.step,
                access.block,
                access.thread,
                access.active,
                access.width,
                store,
                self._history,
                epoch,
                self._stores,
                report,
            )
            if reported:
                report[:, 0] *= self._blocks // len(self._history)
                reports.append(report)
        return reports
