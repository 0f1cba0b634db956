"""Which threads of a batch take part."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError, ModelError
from pipeline.simt.unknown import Unknown

WARP = 32


@dataclass(frozen=True)
class Mask:
    """The active threads of a batch of blocks.

    Attributes
    ----------
    active : (1 or blocks, threads)
        One row stands for all blocks.
    blocks
        Blocks of the batch.
    """

    active: NDArray[np.bool_]
    blocks: int

    @classmethod
    def full(cls, blocks: int, threads: int) -> "Mask":
        """All threads."""
        return cls(np.ones((1, threads), np.bool_), blocks)

    @cached_property
    def is_full(self) -> bool:
        """Whether every thread is active."""
        return bool(self.active.all())

    @cached_property
    def _weight(self) -> int:
        """How many blocks one row stands for."""
        return self.blocks // len(self.active)

    @cached_property
    def lanes(self) -> int:
        """Active threads of all blocks."""
        return int(np.count_nonzero(self.active)) * self._weight

    @cached_property
    def warps(self) -> int:
        """Warps of all blocks with at least one active lane."""
        return int(np.count_nonzero(_lanes_per_warp(self.active))) * self._weight

    @cached_property
    def lanes_per_block(self) -> NDArray[np.int64]:
        """Active threads of each block, (blocks,)."""
        return np.broadcast_to(np.count_nonzero(self.active, axis=1), (self.blocks,))

    def narrowed(self, condition: Any) -> "Mask":
        """Keep the threads for which ``condition`` holds.

        Raises
        ------
        LaunchError
            If the condition is not a truth value per thread.
        """
        if isinstance(condition, Unknown):
            raise ModelError(
                "a branch depends on data, which counting without values does not know; simulate "
                "this kernel in full"
            )
        holds = np.atleast_2d(np.asarray(condition))
        threads = self.active.shape[1]
        if holds.dtype != np.bool_ or holds.shape not in {
            (a, b) for a in (1, self.blocks) for b in (1, threads)
        }:
            raise LaunchError(
                f"a branch condition must be bool with shape (blocks, threads) = "
                f"{(self.blocks, threads)}, or 1 along either axis; got {holds.dtype} {holds.shape}"
            )
        if holds.all():
            return self
        active = np.ascontiguousarray(np.broadcast_to(self.active & holds, (len(holds), threads)))
        if len(active) > 1 and (active == active[0]).all():
            active = active[:1].copy()
        return Mask(active, self.blocks)

    def divided_by(self, inner: "Mask") -> int:
        """Count the warps that have active lanes on both sides of the branch into ``inner``."""
        if inner is self:
            return 0
        taken, all_lanes = _lanes_per_warp(inner.active), _lanes_per_warp(self.active)
        return int(np.count_nonzero((taken > 0) & (taken < all_lanes))) * inner._weight


def _lanes_per_warp(active: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count active lanes, (rows, warps); the last warp may be short."""
    return np.add.reduceat(active, np.arange(0, active.shape[1], WARP), axis=1, dtype=np.int64)
