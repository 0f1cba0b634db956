"""The SIMT block model: a kernel sees a batch of blocks, all threads of which run in lock-step.

A kernel is a Python function ``kernel(blk, *arrays)``. A value that differs from thread to thread
is an array over (block, thread); registers that hold several values per thread carry further axes.
A Python loop stands for the loop that every thread runs, and ``with blk.where(condition):`` stands
for a branch.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pipeline.errors import LaunchError, MisalignedError, OutOfRangeError
from pipeline.simt import arithmetic, hazards, transfer
from pipeline.simt.access import Access
from pipeline.simt.accounting import Accounting
from pipeline.simt.lanes import Lanes, Part
from pipeline.simt.masks import Mask
from pipeline.simt.memory import GlobalArray, SharedArray

WIDTHS = (1, 2, 4)
MAX_BYTES = 16
Index = Any
Triple = tuple[int, int, int]


class Block:
    """What a kernel sees of its batch of blocks.

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
        self, accounting: Accounting, grid: Triple, block: Triple, first: int, count: int
    ) -> None:
        """Make blocks ``first`` to ``first + count`` of the grid, counted with x fastest."""
        self.gdx, self.gdy, self.gdz = grid
        self.bdx, self.bdy, self.bdz = block
        self.n_threads = self.bdx * self.bdy * self.bdz
        self.n_blocks = count
        self.tid = Lanes(0, None, Part(np.arange(self.n_threads, dtype=np.int64)[None, :]))
        self.tx = self.tid % self.bdx
        self.ty = self.tid // self.bdx % self.bdy
        self.tz = self.tid // (self.bdx * self.bdy)
        self.warp, self.lane = self.tid // 32, self.tid % 32
        number = Lanes(0, Part(np.arange(first, first + count, dtype=np.int64)[:, None]), None)
        self.bx = number % self.gdx
        self.by = number // self.gdx % self.gdy
        self.bz = number // (self.gdx * self.gdy)
        self._accounting = accounting
        self._epoch = np.zeros(count, np.int32)
        self._no_block = np.zeros((count, 1), np.int64)
        self._no_thread = np.zeros((1, self.n_threads), np.int64)
        self._mask = Mask.full(count, self.n_threads)
        self._shared: list[SharedArray] = []

    # ---------- registers and arithmetic ----------

    def zeros(self, *shape: int, dtype: DTypeLike = np.float32) -> NDArray[Any]:
        """Return zeroed registers, (block, thread, *shape)."""
        return np.zeros((self.n_blocks, self.n_threads, *shape), dtype)

    def ffma(self, a: Any, b: Any, total: NDArray[Any]) -> None:
        """Add every product of a thread's ``a`` and ``b`` to its accumulators, in place.

        Parameters
        ----------
        a : (block, thread) or (block, thread, p), b : (block, thread) or (block, thread, q)
            Values per thread.
        total : (block, thread), or with axes p and q where ``a`` and ``b`` have them
            Accumulators, from :meth:`zeros`. Each product is one FFMA instruction.

        Raises
        ------
        LaunchError
            If the accumulators do not have the shape of the products.
        """
        left, right = self._registers(a, total.dtype), self._registers(b, total.dtype)
        expected = left.shape + right.shape[2:]
        if total.shape != expected or not total.flags.c_contiguous:
            raise LaunchError(
                f"{_source()}: ffma of values {left.shape} and {right.shape} needs accumulators of "
                f"shape {expected} made by zeros(); got {total.shape}"
            )
        p, q = (int(np.prod(side.shape[2:], dtype=np.int64)) for side in (left, right))
        threads = (self.n_blocks, self.n_threads)
        mask = self._mask
        self._accounting.ffma(mask.warps, mask.lanes, p * q)
        arithmetic.add_products(
            left.reshape(*threads, p),
            right.reshape(*threads, q),
            mask.active,
            mask.is_full,
            total.reshape(*threads, p, q),
        )

    # ---------- branches and barriers ----------

    @contextmanager
    def where(self, condition: Any) -> Iterator[None]:
        """Let only the threads for which ``condition`` holds run what follows."""
        outer = self._mask
        self._mask = outer.narrowed(condition)
        self._accounting.counters["divergent_branches"] += outer.divided_by(self._mask)
        try:
            yield
        finally:
            self._mask = outer

    def sync(self) -> None:
        """Wait for the whole block (``__syncthreads``).

        A block of which only some threads arrive is reported as a hazard; the model lets it go on.
        """
        mask = self._mask
        arrived = mask.lanes_per_block
        there = arrived > 0
        blocks = int(np.count_nonzero(there))
        self._accounting.barrier(blocks, mask.warps, mask.lanes)
        torn = there & (arrived < self.n_threads)
        if torn.any():
            self._note_torn_barrier(torn, mask)
        for array in self._shared:
            if there.all():
                array.watch.barrier()
            else:
                array.watch.torn_barrier(self._epoch)
        self._epoch += there

    # ---------- memory ----------

    def shared(self, name: str, size: int, dtype: DTypeLike = np.float32) -> SharedArray:
        """Declare a shared array of ``size`` elements (``__shared__``), one per block."""
        if size < 1:
            raise LaunchError(f"shared array {name}: size is {size}, must be at least 1")
        array = SharedArray.allocate(name, self.n_blocks, size, dtype)
        self._shared.append(array)
        return array

    def load(
        self, array: GlobalArray, index: Index, width: int = 1, repeat: int = 1, step: int = 1
    ) -> NDArray[Any]:
        """Read from global memory (LDG).

        Parameters
        ----------
        array
            Where from.
        index
            First element per thread; a multiple of ``width``.
        width
            1, 2 or 4 consecutive elements per instruction, at most 16 bytes.
        repeat, step
            Issue ``repeat`` instructions, each ``step`` elements after the one before: an unrolled
            loop.

        Returns
        -------
        (block, thread) or (block, thread, repeat * width)
            The second form if there is more than one value per thread. Inactive threads read 0.

        Raises
        ------
        OutOfRangeError, MisalignedError
            If an active thread's access is not allowed.
        """
        access = self._access(index, array, width, repeat, step)
        values = self._read(array, 0, access)
        self._accounting.global_access(access, array.flat.itemsize, store=False)
        return values

    def store(self, array: GlobalArray, index: Index, value: Any, width: int = 1) -> None:
        """Write ``width`` consecutive elements to global memory (STG); see :meth:`load`."""
        access = self._access(index, array, width)
        self._write(array, 0, access, value)
        self._accounting.global_access(access, array.flat.itemsize, store=True)
        self._check_collision(array.name, access)

    def sload(
        self, array: SharedArray, index: Index, width: int = 1, repeat: int = 1, step: int = 1
    ) -> NDArray[Any]:
        """Read from shared memory (LDS); see :meth:`load`."""
        access = self._access(index, array, width, repeat, step)
        values = self._read(array, array.size, access)
        self._accounting.shared_access(access, array, self._epoch, False, self._locate)
        return values

    def sstore(self, array: SharedArray, index: Index, value: Any, width: int = 1) -> None:
        """Write ``width`` consecutive elements to shared memory (STS); see :meth:`load`."""
        access = self._access(index, array, width)
        self._write(array, array.size, access, value)
        self._accounting.shared_access(access, array, self._epoch, True, self._locate)

    # ---------- behind the instructions ----------

    def _registers(self, value: Any, dtype: Any) -> NDArray[Any]:
        """Bring a value to one number, or one row of numbers, per thread."""
        given = np.asarray(value, dtype)
        shape = (self.n_blocks, self.n_threads, *given.shape[2:])
        if given.shape != shape:
            given = np.broadcast_to(given, shape)
        return np.ascontiguousarray(given)

    def _access(
        self,
        index: Index,
        array: GlobalArray | SharedArray,
        width: int,
        repeat: int = 1,
        step: int = 1,
    ) -> Access:
        """Bring an index to the parts that accounting works on."""
        if width not in WIDTHS or width * array.flat.itemsize > MAX_BYTES:
            raise LaunchError(
                f"{_source()}: width {width} of {array.flat.itemsize}-byte elements of "
                f"{array.name}; allowed are widths 1, 2 and 4 with at most {MAX_BYTES} bytes"
            )
        if repeat < 1 or step < 1:
            raise LaunchError(f"{_source()}: repeat {repeat}, step {step} must be at least 1")
        const, block, thread = self._parts(index)
        active = self._mask.active
        same = block is None and len(thread) == 1 and len(active) == 1
        block = self._no_block if block is None else block
        return Access(const, block, thread, active, width, same, repeat, step if repeat > 1 else 0)

    def _parts(self, index: Index) -> tuple[int, NDArray[np.int64] | None, NDArray[np.int64]]:
        """Split an index into const, block and thread parts of the shapes that accounting takes."""
        if isinstance(index, Lanes):
            return (
                index.const,
                None if index.block is None else index.block.array,
                self._no_thread if index.thread is None else index.thread.array,
            )
        values = np.atleast_2d(np.asarray(index))
        if values.dtype.kind not in "iu":
            raise LaunchError(f"{_source()}: an index is an integer, not {values.dtype}")
        allowed = {(a, b) for a in (1, self.n_blocks) for b in (1, self.n_threads)}
        if values.shape not in allowed:
            raise LaunchError(
                f"{_source()}: an index has shape {values.shape}, expected (blocks, threads) = "
                f"{(self.n_blocks, self.n_threads)}, or 1 along either axis"
            )
        if values.shape[1] == 1:
            return 0, values.astype(np.int64) + self._no_block, self._no_thread
        return 0, None, np.ascontiguousarray(values, np.int64)

    def _read(self, array: GlobalArray | SharedArray, stride: int, access: Access) -> NDArray[Any]:
        """Move values to registers."""
        values = access.repeat * access.width
        out = np.empty((self.n_blocks, self.n_threads, values), array.bits.dtype)
        fault = transfer.gather(
            array.bits,
            stride,
            access.const,
            access.block,
            access.thread,
            access.active,
            self._mask.is_full,
            array.size,
            access.width,
            access.step,
            out,
        )
        if fault != transfer.FINE:
            raise self._fault(array, access, fault)
        moved = out.view(array.flat.dtype)
        return moved[:, :, 0] if values == 1 else moved

    def _write(
        self, array: GlobalArray | SharedArray, stride: int, access: Access, value: Any
    ) -> None:
        """Move values to memory."""
        shape = (self.n_blocks, self.n_threads, access.width)
        given = np.asarray(value, array.flat.dtype)
        if access.width == 1 and given.ndim < 3:
            given = given[..., None]
        try:
            given = np.ascontiguousarray(np.broadcast_to(given, shape))
        except ValueError:
            raise LaunchError(
                f"{_source()}: store to {array.name} of a value of shape {np.shape(value)}, "
                f"expected (blocks, threads, width) = {shape}"
            ) from None
        fault = transfer.scatter(
            array.bits,
            stride,
            access.const,
            access.block,
            access.thread,
            access.active,
            array.size,
            given.view(array.bits.dtype),
        )
        if fault != transfer.FINE:
            raise self._fault(array, access, fault)

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
            f"{_source()}: block {self._block_index(row)}, thread {thread} (warp {thread // 32}, "
            f"lane {thread % 32})"
        )
        if outside:
            what = f"index {outside[0]}" if width == 1 else f"{width} elements at {outside[0]}"
            return OutOfRangeError(f"{where}: {what} of {array.name}, which holds {array.size}")
        wrong = next(index for index in tried if index % width)
        return MisalignedError(
            f"{where}: vector access of width {width} to {array.name} at index {wrong}; the index "
            f"must be a multiple of {width}"
        )

    def _check_collision(self, name: str, access: Access) -> None:
        """Report a store in which two threads of a block write one element."""
        first = np.zeros(3, np.int64)
        rows = transfer.colliding_blocks(access.thread, access.active, first)
        if not rows:
            return
        single = max(len(access.thread), len(access.active)) == 1
        row, thread, offset = first.tolist()
        blocks = self.n_blocks if single else rows
        self._accounting.counters["race_count"] += blocks
        self._accounting.note(
            hazards.Hazard(
                kind=hazards.COLLISION,
                block=self._block_index(row),
                warp=thread // 32,
                other_warp=-1,
                array=name,
                index=int(access.const + access.block[row, 0]) + offset,
                interval=int(self._epoch[row]),
                source=_source(),
            ),
            blocks,
        )

    def _note_torn_barrier(self, torn: NDArray[np.bool_], mask: Mask) -> None:
        """Report the blocks of which only some threads reach a barrier."""
        row = int(np.flatnonzero(torn)[0])
        active = np.broadcast_to(mask.active, (self.n_blocks, self.n_threads))[row]
        self._accounting.note(
            hazards.Hazard(
                kind=hazards.DIVERGENT_BARRIER,
                block=self._block_index(row),
                warp=int(np.flatnonzero(active)[0]) // 32,
                other_warp=int(np.flatnonzero(~active)[0]) // 32,
                array="",
                index=-1,
                interval=int(self._epoch[row]),
                source=_source(),
            ),
            int(np.count_nonzero(torn)),
        )

    def _block_index(self, row: int) -> Triple:
        """Index along x, y and z of a block of the batch."""
        x, y, z = (
            np.broadcast_to(np.asarray(b), (self.n_blocks, 1)) for b in (self.bx, self.by, self.bz)
        )
        return int(x[row, 0]), int(y[row, 0]), int(z[row, 0])

    def _locate(self) -> tuple[NDArray[np.int64], str]:
        """Give all block indices of the batch and the kernel's line that runs now."""
        index = [self._block_index(row) for row in range(self.n_blocks)]
        return np.array(index, np.int64), _source()


def _source() -> str:
    """Return file name and line of the innermost frame outside this package."""
    here = PurePath(__file__).parent
    frame = sys._getframe(1)
    while frame.f_back and PurePath(frame.f_code.co_filename).parent == here:
        frame = frame.f_back
    return f"{PurePath(frame.f_code.co_filename).name}:{frame.f_lineno}"
