"""How values move between memory, registers and lanes: what is behind the instructions."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError, ModelError
from pipeline.simt import arithmetic, atomics, exchange, transfer
from pipeline.simt.access import Access
from pipeline.simt.batch import Batch
from pipeline.simt.given import numbers
from pipeline.simt.masks import WARP, truth_values
from pipeline.simt.memory import GlobalArray, SharedArray, bits_of
from pipeline.simt.source import source
from pipeline.simt.unknown import Unknown
from pipeline.simt.wide import declared
from pipeline.tensor_core.ldmatrix import sources
from pipeline.tensor_core.mma import mma
from pipeline.tensor_core.shapes import MMA_SHAPES

Memory = GlobalArray | SharedArray

MMA = MMA_SHAPES["m16n8k16"]
"""The shape that the simulated tensor core multiplies, in halves with sums in single precision."""


class Values(Batch):
    """A :class:`Batch` that holds values; nothing here is counted.

    Counting without values replaces these methods and no others.
    """

    # ---------- registers ----------

    def _registers(self, value: Any, dtype: Any) -> NDArray[Any]:
        """Bring a value to one number, or one row of numbers, per thread."""
        given = numbers("a factor", value, dtype)
        shape = (self.n_blocks, self.n_threads, *given.shape[2:])
        if given.shape != shape:
            try:
                given = np.broadcast_to(given, shape)
            except ValueError:
                raise LaunchError(
                    f"{source()}: a factor of shape {given.shape}, expected (blocks, threads) = "
                    f"{shape[:2]}, or 1 along either axis"
                ) from None
        return np.ascontiguousarray(given)

    def _multiply_add(self, left: NDArray[Any], right: NDArray[Any], total: NDArray[Any]) -> None:
        """Add the products of ``left`` and ``right`` to ``total``."""
        threads = (self.n_blocks, self.n_threads)
        p, q = per_thread(left), per_thread(right)
        arithmetic.add_products(
            left.reshape(*threads, p),
            right.reshape(*threads, q),
            self._mask.active,
            self._mask.is_full,
            np.asarray(total).reshape(*threads, p, q),
        )

    def _is_per_thread(self, value: Any) -> bool:
        """Say whether a value has a row of its own for every thread."""
        return bool(np.shape(value)[:2] == (self.n_blocks, self.n_threads))

    def _multiply_matrices(
        self, left: NDArray[Any], right: NDArray[Any], total: NDArray[Any]
    ) -> None:
        """Add the products of fragments of A and B to fragments of C."""
        warps = (self.n_blocks, self.n_threads // WARP, WARP)
        p, q = math.prod(left.shape[2:-1]), math.prod(right.shape[2:-1])
        sums = np.asarray(total).reshape(*warps, p, q, -1)
        product = mma(
            MMA,
            np.moveaxis(left.reshape(*warps, p, 1, -1), 2, -2),
            np.moveaxis(right.reshape(*warps, 1, q, -1), 2, -2),
            np.moveaxis(sums, 2, -2),
        )
        lit = self._mask.active[:, ::WARP, None, None, None, None]
        np.copyto(sums, np.moveaxis(product, -2, 2), where=lit)

    # ---------- memory ----------

    def _read_matrices(
        self, array: SharedArray, access: Access, count: int, transposed: bool
    ) -> NDArray[Any]:
        """Move rows of 8 x 8 matrices to the lanes that hold their elements."""
        rows = self._read(array, access).reshape(self.n_blocks, -1, WARP, access.width)
        lane, element = sources(count, transposed)
        return np.ascontiguousarray(rows[:, :, lane, element]).reshape(
            self.n_blocks, self.n_threads, -1
        )

    def _read(self, array: Memory, access: Access) -> Any:
        """Move values to registers."""
        values = access.repeat * access.width
        out = np.empty((self.n_blocks, self.n_threads, values), array.bits.dtype)
        fault = transfer.gather(
            array.bits,
            array.stride,
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
        moved = declared(out.view(array.flat.dtype))
        return moved[:, :, 0] if values == 1 else moved

    def _write(self, array: Memory, access: Access, value: Any) -> None:
        """Move values to memory."""
        given = self._given(array, value, access.width)
        array.prepare_store()
        fault = transfer.scatter(
            array.bits,
            array.stride,
            access.const,
            access.block,
            access.thread,
            access.active,
            array.size,
            given.view(array.bits.dtype),
        )
        if fault != transfer.FINE:
            raise self._fault(array, access, fault)

    def _modify(self, array: Memory, access: Access, operation: int, value: Any) -> Any:
        """Change values in memory; return the old ones."""
        given = self._given(array, value, 1)[:, :, 0]
        array.prepare_store()
        old = np.zeros(given.shape, given.dtype)
        fault = atomics.modify(
            array.flat,
            array.stride,
            access.const,
            access.block,
            access.thread,
            access.active,
            array.size,
            operation,
            given,
            old,
        )
        if fault != transfer.FINE:
            raise self._fault(array, access, fault)
        return declared(old)

    def _given(self, array: Memory, value: Any, width: int) -> NDArray[Any]:
        """Bring what goes to memory to (blocks, threads, width)."""
        shape = (self.n_blocks, self.n_threads, width)
        given = numbers(f"what goes to {array.name}", value, array.flat.dtype)
        if width == 1 and given.ndim < 3:
            given = given[..., None]
        try:
            if width > 1 and given.ndim in (1, 2):
                raise ValueError  # an axis of threads must not pass for that of a vector
            return np.ascontiguousarray(np.broadcast_to(given, shape))
        except ValueError:
            raise LaunchError(wrong_shape(array, given.shape, shape)) from None

    def _check(self, array: Memory, access: Access) -> None:
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

    # ---------- lanes of a warp ----------

    def _offer(self, value: Any) -> NDArray[Any]:
        """Bring what lanes offer each other to (1 or blocks, threads, *values per thread)."""
        given = np.asanyarray(value)
        if given.ndim < 2:
            given = given.reshape(1, -1)
        rows, columns = given.shape[:2]
        if rows not in (1, self.n_blocks) or columns not in (1, self.n_threads):
            raise LaunchError(
                f"{source()}: a shuffle of a value of shape {np.shape(value)}, expected (blocks, "
                f"threads) = {(self.n_blocks, self.n_threads)}, or 1 along either axis"
            )
        bits_of("the value of a shuffle", given)
        return np.broadcast_to(given, (rows, self.n_threads, *given.shape[2:]), subok=True)

    def _exchange(self, offer: NDArray[Any], lane: NDArray[np.int64]) -> Any:
        """Give every thread what the lane it names offers."""
        active = self._mask.active
        rows = max(len(offer), len(lane), len(active))
        bits = bits_of("the value of a shuffle", np.ascontiguousarray(offer))
        out = np.empty((rows, self.n_threads, per_thread(offer)), bits.dtype)
        exchange.shuffle(bits.reshape(len(offer), *out.shape[1:]), lane, active, out)
        got = self._spread(out.view(offer.dtype).reshape(rows, *offer.shape[1:]))
        return declared(got) if getattr(offer, "wide", False) else got

    def _ballot(self, condition: Any) -> NDArray[Any]:
        """Collect a truth value of each lane in the bits of a number per warp."""
        holds = truth_values(condition, "the condition of a vote", self.n_blocks, self.n_threads)
        holds = np.ascontiguousarray(np.broadcast_to(holds, (len(holds), self.n_threads)))
        active = self._mask.active
        out = np.empty((max(len(holds), len(active)), self.n_threads), np.uint32)
        exchange.ballot(holds, active, out)
        return self._spread(out)

    def _spread(self, value: NDArray[Any]) -> NDArray[Any]:
        """Give every block its own row."""
        return np.ascontiguousarray(np.broadcast_to(value, (self.n_blocks, *value.shape[1:])))

    def _lanes(self, lane: Any) -> NDArray[np.int64]:
        """Bring a lane, or a distance between lanes, to (1 or blocks, threads)."""
        if isinstance(lane, Unknown):
            raise ModelError(
                f"{source()}: the lane of a shuffle depends on data, which counting without values "
                f"does not know; simulate this kernel in full"
            )
        if isinstance(lane, (int, np.integer)):
            # Beyond 62 bits no distance is allowed, and a lane counts modulo 32.
            number = int(lane)
            near = (
                number
                if abs(number) < 2**62
                else number % WARP + (2**62 if number > 0 else -(2**62))
            )
            return np.full((1, self.n_threads), near, np.int64)
        const, block, thread = self._parts(lane)
        return np.ascontiguousarray(const + thread if block is None else const + block + thread)


def per_thread(values: NDArray[Any]) -> int:
    """How many values each thread holds."""
    return math.prod(values.shape[2:])


def wrong_shape(array: Memory, shape: tuple[int, ...], expected: tuple[int, ...]) -> str:
    """Say that a value does not have one number, or vector, per thread."""
    return (
        f"{source()}: store to {array.name} of a value of shape {shape}, expected "
        f"(blocks, threads, width) = {expected}, or one number for all"
    )
