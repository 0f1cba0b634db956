"""Which threads of a batch take part."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError, ModelError
from pipeline.simt.source import source
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
                f"{source()}: a branch depends on data, which counting without values does not "
                f"know; simulate this kernel in full"
            )
        threads = self.active.shape[1]
        holds = truth_values(condition, "a branch condition", self.blocks, threads)
        if holds.all():
            return self
        both = self.active & holds
        active = np.ascontiguousarray(np.broadcast_to(both, (len(both), threads)))
        if len(active) > 1 and (active == active[0]).all():
            active = active[:1].copy()
        return Mask(active, self.blocks)

    def divided_by(self, inner: "Mask") -> int:
        """Count the warps that have active lanes on both sides of the branch into ``inner``."""
        if inner is self:
            return 0
        taken, all_lanes = _lanes_per_warp(inner.active), _lanes_per_warp(self.active)
        divided = (taken > 0) & (taken < all_lanes)
        return int(np.count_nonzero(divided)) * (self.blocks // len(divided))


def truth_values(condition: Any, what: str, blocks: int, threads: int) -> NDArray[np.bool_]:
    """Bring a condition to (1 or blocks, 1 or threads).

    Raises
    ------
    LaunchError
        If it is not a truth value per thread; ``what`` names it.
    """
    holds = np.atleast_2d(np.asarray(condition))
    allowed = {(a, b) for a in (1, blocks) for b in (1, threads)}
    if holds.dtype != np.bool_ or holds.shape not in allowed:
        raise LaunchError(
            f"{source()}: {what} must be bool with shape (blocks, threads) = {(blocks, threads)}, "
            f"or 1 along either axis; got {holds.dtype} {holds.shape}"
        )
    return holds


def _lanes_per_warp(active: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count active lanes, (rows, warps); the last warp may be short."""
    return np.add.reduceat(active, np.arange(0, active.shape[1], WARP), axis=1, dtype=np.int64)
