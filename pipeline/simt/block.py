"""The SIMT block model: a kernel sees a batch of blocks, all threads of which run in lock-step.

A kernel is a Python function ``kernel(blk, *arrays)``. A value that differs from thread to thread
is an array over (block, thread); registers that hold several values per thread carry further axes.
A Python loop stands for the loop that every thread runs, and ``with blk.where(condition):`` stands
for a branch.
"""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pipeline.errors import LaunchError
from pipeline.simt import atomics, findings
from pipeline.simt.access import Access
from pipeline.simt.accounting import Accounting
from pipeline.simt.batch import Index
from pipeline.simt.blocks import Triple
from pipeline.simt.given import whole_number
from pipeline.simt.hazards_fast import ATOMIC, LOAD, STORE
from pipeline.simt.matrix_instructions import MatrixInstructions
from pipeline.simt.memory import GlobalArray, SharedArray, element_type
from pipeline.simt.source import source
from pipeline.simt.values import Memory, per_thread
from pipeline.simt.whole import whole
from pipeline.simt.wide import declared

MAX_SHARED_BYTES = 232_448
"""Shared memory that a block can have where it can have most: 227 KiB, compute capability 9.0 (CUDA
C++ guide, technical specifications). What one GPU allows is a matter of its occupancy."""

FFMA_TYPES = ("float32", "float64")
"""Types of the accumulators of a multiply-add."""

COPY_BYTES = (4, 8, 16)
"""Bytes per thread that ``cp.async`` copies (PTX ISA, cp.async)."""


class Block(MatrixInstructions):
    """What a kernel sees: the coordinates and branches of a :class:`Batch`, and the instructions.

    Shuffles and votes are those of :class:`WarpInstructions`, ``ldmatrix`` and ``mma`` those of
    :class:`MatrixInstructions`.
    """

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
        return declared(np.zeros((self.n_blocks, self.n_threads, *shape), dtype))

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
        if getattr(total, "dtype", None) not in FFMA_TYPES:
            raise LaunchError(
                f"{source()}: ffma into accumulators of type "
                f"{getattr(total, 'dtype', type(total).__name__)}; allowed are "
                f"{', '.join(FFMA_TYPES)} from zeros()"
            )
        left, right = self._registers(a, total.dtype), self._registers(b, total.dtype)
        expected = left.shape + right.shape[2:]
        if total.shape != expected or not total.flags.c_contiguous:
            raise LaunchError(
                f"{source()}: ffma of values {left.shape} and {right.shape} needs accumulators of "
                f"shape {expected} made by zeros(); got {total.shape}"
            )
        times = per_thread(left) * per_thread(right)
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
            findings.note_torn_barrier(self._accounting, self._blocks, torn, mask)
        for array in self._shared:
            if there.all():
                array.watch.barrier()
            else:
                array.watch.torn_barrier(self._blocks.epoch)
        self._blocks.epoch[there] += 1

    # ---------- memory ----------

    def shared(self, name: str, size: int, dtype: DTypeLike = np.float32) -> SharedArray:
        """Declare a shared array of ``size`` elements (``__shared__``), one per block.

        Raises
        ------
        LaunchError
            If the arrays of a block take more than ``MAX_SHARED_BYTES``, or the size is no positive
            whole number.
        """
        try:
            elements = whole(size)
        except TypeError:
            elements = 0
        if elements < 1:
            raise LaunchError(
                f"{source()}: shared array {name} has size {size!r}, allowed are whole numbers "
                f"from 1 on"
            )
        kind = element_type(f"shared array {name}", dtype)
        taken = sum(array.size * array.flat.itemsize for array in self._shared)
        if taken + elements * kind.itemsize > MAX_SHARED_BYTES:
            raise LaunchError(
                f"{source()}: shared array {name} of {elements} elements brings the shared memory "
                f"of a block to {taken + elements * kind.itemsize} bytes, allowed are at most "
                f"{MAX_SHARED_BYTES}"
            )
        array = self._allocate(name, elements, kind)
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
            1, 2, 4, 8 or 16 consecutive elements per instruction, at most 16 bytes.
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
        access = self._access(index, _expect(array, GlobalArray), width, repeat, step)
        values = self._read(array, access)
        self._accounting.global_access(access, array, self._blocks, LOAD)
        return values

    def store(self, array: GlobalArray, index: Index, value: Any, width: int = 1) -> None:
        """Write ``width`` consecutive elements to global memory (STG); see :meth:`load`."""
        access = self._access(index, _expect(array, GlobalArray), width)
        self._write(array, access, value)
        racing = self._accounting.global_access(access, array, self._blocks, STORE)
        findings.note_collision(self._accounting, self._blocks, array.name, access, racing)

    def sload(
        self, array: SharedArray, index: Index, width: int = 1, repeat: int = 1, step: int = 1
    ) -> NDArray[Any]:
        """Read from shared memory (LDS); see :meth:`load`."""
        access = self._access(index, _expect(array, SharedArray), width, repeat, step)
        values = self._read(array, access)
        self._accounting.shared_access(access, array, self._blocks, LOAD)
        return values

    def sstore(self, array: SharedArray, index: Index, value: Any, width: int = 1) -> None:
        """Write ``width`` consecutive elements to shared memory (STS); see :meth:`load`."""
        access = self._access(index, _expect(array, SharedArray), width)
        self._write(array, access, value)
        self._accounting.shared_access(access, array, self._blocks, STORE)

    # ---------- atomics ----------

    def atomic_add(self, array: Memory, index: Index, value: Any) -> NDArray[Any]:
        """Add ``value`` to an element of global or shared memory (``atomicAdd``).

        Every active thread's update happens. CUDA leaves their order open; here they happen in the
        order of blocks and threads, which decides the old values and how floats are rounded.

        Parameters
        ----------
        array
            32- or 64-bit integers, or floats of 16, 32 or 64 bits.
        index
            Element per thread.
        value
            Summand per thread, or one for all.

        Returns
        -------
        (block, thread)
            What each thread found before its own update; 0 for inactive threads.

        Raises
        ------
        LaunchError
            If CUDA has no such atomic for the type of the array.
        OutOfRangeError
            If an active thread's element lies outside the array.
        """
        return self._atomic("atomic_add", atomics.ADD, array, index, value)

    def atomic_max(self, array: Memory, index: Index, value: Any) -> NDArray[Any]:
        """Raise an element to ``value`` (``atomicMax``); integers only, see :meth:`atomic_add`."""
        return self._atomic("atomic_max", atomics.MAX, array, index, value)

    def atomic_min(self, array: Memory, index: Index, value: Any) -> NDArray[Any]:
        """Lower an element to ``value`` (``atomicMin``); integers only, see :meth:`atomic_add`."""
        return self._atomic("atomic_min", atomics.MIN, array, index, value)

    def _atomic(
        self, name: str, operation: int, array: Memory, index: Index, value: Any
    ) -> NDArray[Any]:
        """Apply an atomic, and count it."""
        if not isinstance(array, (GlobalArray, SharedArray)):
            raise LaunchError(
                f"{source()}: {name} on an object of type {type(array).__name__}; allowed are "
                f"arrays in global or shared memory"
            )
        if array.flat.dtype not in atomics.TYPES[operation]:
            raise LaunchError(
                f"{source()}: {name} on {array.name} of {array.flat.dtype}; CUDA has it for "
                f"{', '.join(atomics.TYPES[operation])}"
            )
        access = self._access(index, array, 1)
        old = self._modify(array, access, operation, value)
        if isinstance(array, SharedArray):
            self._accounting.shared_atomic(access, array, self._blocks)
        else:
            self._accounting.global_access(access, array, self._blocks, ATOMIC)
        return old

    # ---------- asynchronous copies ----------

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
        reads = self._access(origin_index, _expect(origin, GlobalArray), width)
        writes = self._access(target_index, _expect(target, SharedArray), width)
        moved = width * origin.flat.itemsize
        if moved not in COPY_BYTES or origin.flat.dtype != target.flat.dtype:
            raise LaunchError(
                f"{source()}: an asynchronous copy of {moved} bytes per thread from "
                f"{origin.flat.dtype} to {target.flat.dtype}; allowed are 4, 8 or 16 bytes of one "
                f"type"
            )
        values = self._read(origin, reads)
        self._check(target, writes)
        self._accounting.async_copy(reads, origin, writes, target, self._blocks)
        self._copies.append((self._groups, writes, target, values))

    def commit(self) -> None:
        """Close a group of asynchronous copies (``cp.async.commit_group``).

        Raises
        ------
        LaunchError
            In a branch that not all threads take, where groups would differ between threads.
        """
        self._require_all("commit")
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
        self._require_all("wait")
        pending = whole_number("the number of pending groups", pending)
        if pending < 0:
            raise LaunchError(f"{source()}: wait for {pending} pending groups, allowed is 0 up")
        self._accounting.issue(self._mask.warps, self._mask.lanes)
        landed = [copy for copy in self._copies if copy[0] < self._groups - pending]
        self._copies = [copy for copy in self._copies if copy[0] >= self._groups - pending]
        for _, access, array, values in landed:
            self._write(array, access, values)
            self._accounting.landed(access, array, self._blocks)

    # ---------- behind the instructions ----------

    def _allocate(self, name: str, size: int, dtype: np.dtype[Any]) -> SharedArray:
        """Make a shared array."""
        return SharedArray.allocate(name, self.n_blocks, size, dtype)

    def _require_all(self, name: str) -> None:
        """Refuse an instruction in a branch that not all threads take."""
        if not self._mask.is_full:
            raise LaunchError(
                f"{source()}: {name} in a divergent branch is not modelled; move it out"
            )


def _expect(array: Any, kind: type[Any]) -> Any:
    """Refuse an array of the other memory."""
    if not isinstance(array, kind):
        wanted = {GlobalArray: "global", SharedArray: "shared"}[kind]
        given = getattr(array, "name", f"an object of type {type(array).__name__}")
        raise LaunchError(
            f"{source()}: {given} is not in {wanted} memory; load and store take global arrays, "
            f"sload and sstore shared ones"
        )
    return array
