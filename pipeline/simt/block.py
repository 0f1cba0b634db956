"""The SIMT block model: a kernel sees a batch of blocks, all threads of which run in lock-step.

A kernel is a Python function ``kernel(blk, *arrays)``. A value that differs from thread to thread
is an array over (block, thread); registers that hold several values per thread carry further axes.
A Python loop stands for the loop that every thread runs, and ``with blk.where(condition):`` stands
for a branch.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pipeline.errors import LaunchError
from pipeline.simt import arithmetic, hazards, hazards_fast, transfer
from pipeline.simt.access import Access
from pipeline.simt.accounting import Accounting
from pipeline.simt.batch import Batch, Index, Triple, source
from pipeline.simt.masks import Mask
from pipeline.simt.memory import GlobalArray, SharedArray

COPY_BYTES = (4, 8, 16)
"""Bytes per thread that ``cp.async`` copies (PTX ISA, cp.async)."""


class Block(Batch):
    """What a kernel sees: the coordinates of a :class:`Batch`, and the instructions."""

    def __init__(
        self, accounting: Accounting, grid: Triple, block: Triple, numbers: NDArray[np.int64]
    ) -> None:
        super().__init__(accounting, grid, block, numbers)
        self._shared: list[SharedArray] = []
        self._copies: list[tuple[int, Access, SharedArray, NDArray[Any]]] = []
        self._groups = 0

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
                f"{source()}: ffma of values {left.shape} and {right.shape} needs accumulators of "
                f"shape {expected} made by zeros(); got {total.shape}"
            )
        times = _per_thread(left) * _per_thread(right)
        self._accounting.ffma(self._mask.warps, self._mask.lanes, times)
        self._multiply_add(left, right, total)

    # ---------- barriers ----------

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
        self._accounting.shared_memory(self._shared, self.n_blocks)
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
        self._accounting.global_access(access, array, store=False)
        return values

    def store(self, array: GlobalArray, index: Index, value: Any, width: int = 1) -> None:
        """Write ``width`` consecutive elements to global memory (STG); see :meth:`load`."""
        access = self._access(index, array, width)
        self._write(array, 0, access, value)
        self._accounting.global_access(access, array, store=True)
        self._check_collision(array.name, access)

    def sload(
        self, array: SharedArray, index: Index, width: int = 1, repeat: int = 1, step: int = 1
    ) -> NDArray[Any]:
        """Read from shared memory (LDS); see :meth:`load`."""
        access = self._access(index, array, width, repeat, step)
        values = self._read(array, array.size, access)
        self._accounting.shared_access(access, array, self._epoch, hazards_fast.LOAD, self._locate)
        return values

    def sstore(self, array: SharedArray, index: Index, value: Any, width: int = 1) -> None:
        """Write ``width`` consecutive elements to shared memory (STS); see :meth:`load`."""
        access = self._access(index, array, width)
        self._write(array, array.size, access, value)
        self._accounting.shared_access(access, array, self._epoch, hazards_fast.STORE, self._locate)

    def copy_async(
        self,
        target: SharedArray,
        target_index: Index,
        origin: GlobalArray,
        origin_index: Index,
        width: int = 1,
    ) -> None:
        """Start to copy ``width`` elements from global to shared memory (``cp.async``, LDGSTS).

        The values arrive when a :meth:`wait` lets them; to touch them before is a hazard. They pass
        no register: one instruction reads sectors and writes shared memory.

        Raises
        ------
        LaunchError
            If a thread copies other than 4, 8 or 16 bytes.
        """
        moved = width * origin.flat.itemsize
        if moved not in COPY_BYTES or origin.flat.dtype != target.flat.dtype:
            raise LaunchError(
                f"{source()}: an asynchronous copy of {moved} bytes per thread from "
                f"{origin.flat.dtype} to {target.flat.dtype}; allowed are 4, 8 or 16 bytes of one "
                f"type"
            )
        reads = self._access(origin_index, origin, width)
        writes = self._access(target_index, target, width)
        values = self._read(origin, 0, reads)
        self._check(target, writes)
        self._accounting.async_copy(reads, origin, writes, target, self._epoch, self._locate)
        self._copies.append((self._groups, writes, target, values))

    def commit(self) -> None:
        """Close a group of asynchronous copies (``cp.async.commit_group``)."""
        self._accounting.issue(self._mask.warps, self._mask.lanes)
        self._groups += 1

    def wait(self, pending: int = 0) -> None:
        """Wait until at most ``pending`` groups of copies are under way (``cp.async.wait_group``).

        Each thread waits for its own copies: for those of other threads, a barrier must follow.

        Raises
        ------
        LaunchError
            In a branch that not all threads take, where groups would differ between threads.
        """
        if not self._mask.is_full:
            raise LaunchError(
                f"{source()}: wait in a divergent branch is not modelled; move it out"
            )
        self._accounting.issue(self._mask.warps, self._mask.lanes)
        landed = [copy for copy in self._copies if copy[0] < self._groups - pending]
        self._copies = [copy for copy in self._copies if copy[0] >= self._groups - pending]
        for _, access, array, values in landed:
            self._write(array, array.size, access, values)
            self._accounting.landed(access, array, self._epoch, self._locate)

    # ---------- behind the instructions ----------

    def _multiply_add(self, left: NDArray[Any], right: NDArray[Any], total: NDArray[Any]) -> None:
        """Add the products of ``left`` and ``right`` to ``total``."""
        threads = (self.n_blocks, self.n_threads)
        p, q = _per_thread(left), _per_thread(right)
        arithmetic.add_products(
            left.reshape(*threads, p),
            right.reshape(*threads, q),
            self._mask.active,
            self._mask.is_full,
            total.reshape(*threads, p, q),
        )

    def _registers(self, value: Any, dtype: Any) -> NDArray[Any]:
        """Bring a value to one number, or one row of numbers, per thread."""
        given = np.asarray(value, dtype)
        shape = (self.n_blocks, self.n_threads, *given.shape[2:])
        if given.shape != shape:
            given = np.broadcast_to(given, shape)
        return np.ascontiguousarray(given)

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
                f"{source()}: store to {array.name} of a value of shape {np.shape(value)}, "
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

    def _check(self, array: GlobalArray | SharedArray, access: Access) -> None:
        """Refuse an access that is out of range or misaligned."""
        fault = transfer.first_fault(
            access.const,
            access.block,
            access.thread,
            access.active,
            array.size,
            access.width,
            access.repeat,
            access.step,
        )
        if fault != transfer.FINE:
            raise self._fault(array, access, fault)

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
                source=source(),
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
                source=source(),
            ),
            int(np.count_nonzero(torn)),
        )


def _per_thread(values: NDArray[Any]) -> int:
    """How many values each thread holds."""
    return math.prod(values.shape[2:])
