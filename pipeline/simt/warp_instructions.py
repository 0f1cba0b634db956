"""The instructions by which the lanes of a warp talk to each other: shuffles and votes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError
from pipeline.simt import findings
from pipeline.simt.masks import WARP
from pipeline.simt.source import source
from pipeline.simt.values import Values, per_thread
from pipeline.simt.wide import registers


class WarpInstructions(Values):
    """:class:`Values` with shuffles and votes among the active lanes of each warp."""

    def shfl_idx(self, value: Any, lane: Any) -> NDArray[Any]:
        """Read ``value`` of the thread in ``lane`` (``__shfl_sync`` of all active lanes).

        Parameters
        ----------
        value : (block, thread), or with more axes
            What every thread offers. One instruction moves 32 bits: each value per thread takes
            one, 64-bit values two. Indices, and whole numbers computed from them, count as CUDA's
            ``int``; as ``long long`` count those from an int64 array or int64 registers of
            ``zeros``, what is computed from them, and numpy's unsigned 64-bit numbers.
        lane
            Lane of the same warp, for all or per thread; taken modulo 32.

        Returns
        -------
        (block, thread), or with the axes of ``value``
            0 for inactive threads. To read a lane that does not take part is undefined in CUDA:
            here it gives 0 and is reported as a hazard.
        """
        return self._shuffle(value, self._lanes(lane) % WARP)

    def shfl_up(self, value: Any, delta: Any) -> NDArray[Any]:
        """Read from the thread ``delta`` lanes below; the first ``delta`` lanes keep their own.

        See :meth:`shfl_idx`; ``delta`` is 0 to 31.
        """
        source_lane = self._own_lane - self._distance("shfl_up", delta)
        return self._shuffle(value, np.where(source_lane < 0, self._own_lane, source_lane))

    def shfl_down(self, value: Any, delta: Any) -> NDArray[Any]:
        """Read from the thread ``delta`` lanes above; the last ``delta`` lanes keep their own.

        See :meth:`shfl_idx`; ``delta`` is 0 to 31.
        """
        source_lane = self._own_lane + self._distance("shfl_down", delta)
        return self._shuffle(value, np.where(source_lane >= WARP, self._own_lane, source_lane))

    def shfl_xor(self, value: Any, mask: Any) -> NDArray[Any]:
        """Read from the thread whose lane differs in the bits of ``mask``.

        See :meth:`shfl_idx`; ``mask`` is 0 to 31.
        """
        return self._shuffle(value, self._own_lane ^ self._distance("shfl_xor", mask))

    def ballot(self, condition: Any) -> NDArray[Any]:
        """Collect a truth value of every lane (``__ballot_sync`` of all active lanes).

        Returns
        -------
        (block, thread), uint32
            Bit i is set if lane i of the thread's warp is active and ``condition`` holds there; 0
            for inactive threads.
        """
        self._accounting.vote(self._mask.warps, self._mask.lanes)
        return self._ballot(condition)

    def vote_any(self, condition: Any) -> NDArray[Any]:
        """Say whether ``condition`` holds for an active lane of the warp (``__any_sync``).

        Returns
        -------
        (block, thread), bool
            False for inactive threads.
        """
        return self.ballot(condition) != 0

    def vote_all(self, condition: Any) -> NDArray[Any]:
        """Say whether ``condition`` holds for all active lanes of the warp (``__all_sync``).

        Returns
        -------
        (block, thread), bool
            False for inactive threads.
        """
        present = self._ballot(np.ones((1, 1), np.bool_))
        return (self.ballot(condition) == present) & self._mask.active

    @property
    def _own_lane(self) -> NDArray[np.int64]:
        return np.asarray(self.lane)

    def _distance(self, name: str, distance: Any) -> NDArray[np.int64]:
        """Check how far a shuffle reads: the instruction has five bits for it."""
        lanes = self._lanes(distance)
        if lanes.min() < 0 or lanes.max() >= WARP:
            raise LaunchError(
                f"{source()}: {name} by {lanes.min()} to {lanes.max()} lanes, allowed is 0 to "
                f"{WARP - 1}"
            )
        return lanes

    def _shuffle(self, value: Any, lane: NDArray[np.int64]) -> NDArray[Any]:
        """Exchange values within warps, and count it."""
        offer = self._offer(value)
        times = per_thread(offer) * registers(offer)
        self._accounting.shuffle(self._mask.warps, self._mask.lanes, times)
        findings.note_silent_lanes(self._accounting, self._blocks, lane, self._mask)
        return self._exchange(offer, lane)
