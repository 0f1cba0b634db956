"""A batch of blocks: who the threads are, which of them are active, what they touch."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError, MisalignedError, ModelError, OutOfRangeError
from pipeline.simt.access import Access
from pipeline.simt.accounting import Accounting
from pipeline.simt.blocks import Blocks, Triple
from pipeline.simt.given import whole_number
from pipeline.simt.hazards import barriers
from pipeline.simt.lanes import MAX_INDEX, Lanes, Part
from pipeline.simt.masks import Mask
from pipeline.simt.memory import GlobalArray, SharedArray
from pipeline.simt.source import source
from pipeline.simt.unknown import Unknown

WIDTHS = (1, 2, 4, 8, 16)
MAX_BYTES = 16
Index = Any


class Batch:
    """Coordinates and branches of the blocks that run together.

    Attributes
    ----------
    tid, tx, ty, tz
        Thread number in the block and thread index along x, y and z; x varies fastest.
    bx, by, bz
        Block index along x, y and z.
    bdx, bdy, bdz, gdx, gdy, gdz
        Threads per block, and blocks per grid, along x, y and z.
    warp, lane
        ``tid // 32`` and ``tid % 32``.
    n_threads
        Threads per block.
    """

    def __init__(
        self, accounting: Accounting, grid: Triple, block: Triple, numbers: NDArray[np.int64]
    ) -> None:
        """Make the blocks with these ``numbers``, counted through the grid with x fastest."""
        self.gdx, self.gdy, self.gdz = grid
        self.bdx, self.bdy, self.bdz = block
        self.n_threads = self.bdx * self.bdy * self.bdz
        self.n_blocks = len(numbers)
        self.tid = Lanes(0, None, Part(np.arange(self.n_threads, dtype=np.int64)[None, :]))
        self.tx = self.tid % self.bdx
        self.ty = self.tid // self.bdx % self.bdy
        self.tz = self.tid // (self.bdx * self.bdy)
        self.warp, self.lane = self.tid // 32, self.tid % 32
        number = Lanes(0, Part(numbers[:, None]), None)
        self.bx = number % self.gdx
        self.by = number // self.gdx % self.gdy
        self.bz = number // (self.gdx * self.gdy)
        self._accounting = accounting
        self._blocks = Blocks.starting(grid, numbers)
        self._no_block = np.zeros((self.n_blocks, 1), np.int64)
        self._no_thread = np.zeros((1, self.n_threads), np.int64)
        self._mask = Mask.full(self.n_blocks, self.n_threads)
        self._announced: list[int] = []

    def where(self, condition: Any) -> AbstractContextManager[None]:
        """Let only the threads for which ``condition`` holds run what follows."""
        self._announced.append(sys._getframe(1).f_lineno)
        return self._branch(condition)

    @contextmanager
    def _branch(self, condition: Any) -> Iterator[None]:
        """Narrow the mask within a ``with``."""
        self._announced.pop()
        outer = self._mask
        self._mask = self._narrowed(condition)
        self._accounting.counters["divergent_branches"] += outer.divided_by(self._mask)
        try:
            yield
        finally:
            self._mask = outer

    def _narrowed(self, condition: Any) -> Mask:
        """Keep the active threads for which ``condition`` holds."""
        return self._mask.narrowed(condition)

    def finish(self) -> None:
        """End the kernel.

        Raises
        ------
        LaunchError
            If a ``where`` was not entered by a ``with``: what follows it ran in all threads.
        """
        if self._announced:
            lines = ", ".join(map(str, self._announced))
            raise LaunchError(
                f"blk.where in line {lines} of the kernel is no branch by itself; write "
                f"'with blk.where(condition):'"
            )

    # ---------- behind the instructions ----------

    def _access(
        self,
        index: Index,
        array: GlobalArray | SharedArray,
        width: int,
        repeat: int = 1,
        step: int = 1,
    ) -> Access:
        """Bring an index to the parts that accounting works on."""
        if type(width) is not int or type(repeat) is not int or type(step) is not int:
            width = whole_number("width", width)
            repeat, step = whole_number("repeat", repeat), whole_number("step", step)
        if width not in WIDTHS or width * array.flat.itemsize > MAX_BYTES:
            raise LaunchError(
                f"{source()}: width {width} of {array.flat.itemsize}-byte elements of "
                f"{array.name}; allowed are widths 1, 2, 4, 8 and 16 with at most {MAX_BYTES} bytes"
            )
        if repeat < 1 or step < 1:
            raise LaunchError(f"{source()}: repeat {repeat}, step {step} must be at least 1")
        if repeat * step > MAX_INDEX:
            raise LaunchError(
                f"{source()}: {repeat} repeats in steps of {step}, which span more than "
                f"{MAX_INDEX} elements"
            )
        const, block, thread = self._parts(index)
        active = self._mask.active
        same = block is None and len(thread) == 1 and len(active) == 1
        block = self._no_block if block is None else block
        return Access(const, block, thread, active, width, same, repeat, step if repeat > 1 else 0)

    def _parts(self, index: Index) -> tuple[int, NDArray[np.int64] | None, NDArray[np.int64]]:
        """Split an index into const, block and thread parts of the shapes that accounting takes.

        Raises
        ------
        ModelError
            If it depends on data that are not known.
        LaunchError
            If it is not an integer per thread.
        """
        if isinstance(index, int) and not isinstance(index, bool):
            index = Lanes(index)
        if isinstance(index, Lanes):
            _refuse_huge(index)
            return (
                index.const,
                None if index.block is None else index.block.array,
                self._no_thread if index.thread is None else index.thread.array,
            )
        if isinstance(index, Unknown):
            raise ModelError(
                f"{source()}: an index depends on data, which counting without values does not "
                f"know; simulate this kernel in full"
            )
        values = np.atleast_2d(np.asarray(index))
        if values.dtype.kind not in "iu":
            raise LaunchError(f"{source()}: an index is an integer, not {values.dtype}")
        allowed = {(a, b) for a in (1, self.n_blocks) for b in (1, self.n_threads)}
        if values.shape not in allowed:
            raise LaunchError(
                f"{source()}: an index has shape {values.shape}, expected (blocks, threads) = "
                f"{(self.n_blocks, self.n_threads)}, or 1 along either axis"
            )
        if values.shape[1] == 1:
            return 0, values.astype(np.int64) + self._no_block, self._no_thread
        return 0, None, np.ascontiguousarray(values, np.int64)

    def _fault(
        self, array: GlobalArray | SharedArray, access: Access, position: int
    ) -> OutOfRangeError | MisalignedError:
        """Describe the access of the thread at ``position``, which is not allowed."""
        row, thread = divmod(position, self.n_threads)
        offsets = access.thread[row if len(access.thread) > 1 else 0]
        first = int(access.const + access.block[row, 0] + offsets[thread])
        width = access.width
        tried = [first + number * access.step for number in range(access.repeat)]
        outside = [index for index in tried if index < 0 or index + width > array.size]
        where = (
            f"{source()}: block {self._blocks.index_at(row)}, thread {thread} "
            f"(warp {thread // 32}, lane {thread % 32}), after "
            f"{barriers(int(self._blocks.epoch[row]))}"
        )
        if outside:
            what = f"index {outside[0]}" if width == 1 else f"{width} elements at {outside[0]}"
            return OutOfRangeError(f"{where}: {what} of {array.name}, which holds {array.size}")
        wrong = next(index for index in tried if index % width)
        return MisalignedError(
            f"{where}: vector access of width {width} to {array.name} at index {wrong}; the index "
            f"must be a multiple of {width}"
        )


def _refuse_huge(index: Lanes) -> None:
    """Refuse an index of which a part is too large to be added to another."""
    fits = -MAX_INDEX <= index.const <= MAX_INDEX
    fits = fits and (index.block is None or index.block.is_index)
    if not fits or not (index.thread is None or index.thread.is_index):
        raise LaunchError(
            f"{source()}: an index of {index.bounds()[0]} to {index.bounds()[1]}; its parts must "
            f"lie between {-MAX_INDEX} and {MAX_INDEX}"
        )
