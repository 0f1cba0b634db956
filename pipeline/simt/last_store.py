"""Which thread wrote an element last: where to look when a result is wrong."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.simt.access import Access
from pipeline.simt.accounting import Accounting
from pipeline.simt.block import Block
from pipeline.simt.blocks import Triple
from pipeline.simt.launch import launch
from pipeline.simt.memory import GlobalArray
from pipeline.simt.source import source
from pipeline.simt.values import Memory


@dataclass(frozen=True)
class Store:
    """A store of one thread.

    Attributes
    ----------
    source
        File name and line in the kernel.
    block
        Block index along x, y and z.
    thread
        Thread number in the block.
    """

    source: str
    block: Triple
    thread: int

    def __str__(self) -> str:
        """Say in one line who stored where."""
        warp, lane = divmod(self.thread, 32)
        return f"{self.source}: block {self.block}, thread {self.thread} (warp {warp}, lane {lane})"


@dataclass
class _Sought:
    """The element that is watched, and the stores that hit it."""

    array: str
    element: int
    found: list[Store] = field(default_factory=list)


class _WatchedBlock(Block):
    """A block model that notes who writes one element."""

    def __init__(
        self,
        accounting: Accounting,
        grid: Triple,
        block: Triple,
        numbers: NDArray[np.int64],
        sought: _Sought,
    ) -> None:
        super().__init__(accounting, grid, block, numbers)
        self._sought = sought

    def _write(self, array: Memory, access: Access, value: Any) -> None:
        """Move values to memory, and note who hits the element."""
        super()._write(array, access, value)
        self._note_hits(array, access)

    def _modify(self, array: Memory, access: Access, operation: int, value: Any) -> NDArray[Any]:
        """Change values in memory, and note who hits the element."""
        old = super()._modify(array, access, operation, value)
        self._note_hits(array, access)
        return old

    def _note_hits(self, array: Memory, access: Access) -> None:
        if not isinstance(array, GlobalArray) or array.name != self._sought.array:
            return
        first = access.const + access.block + access.thread
        ahead = self._sought.element - first
        for row, thread in np.argwhere((ahead >= 0) & (ahead < access.width) & access.active):
            self._sought.found.append(Store(source(), self._blocks.index_at(row), int(thread)))


def last_store(
    kernel: Callable[..., None],
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    *args: Any,
    array: str,
    element: int,
) -> Store | None:
    """Run a kernel again, and name the thread that wrote an element last.

    Parameters
    ----------
    kernel, grid, block, *args
        As in :func:`pipeline.simt.launch.launch`.
    array
        The kernel's name for an array in global memory.
    element
        Index in it, counted in row-major order.

    Returns
    -------
    The last store in the order of this simulation; None if no thread wrote the element.
    """
    sought = _Sought(array, element)
    launch(kernel, grid, block, *args, front=partial(_WatchedBlock, sought=sought))
    return sought.found[-1] if sought.found else None
