"""Integers that differ from thread to thread, kept as the sum of three parts.

A CUDA index is almost always a constant plus something of the block plus something of the thread.
``Lanes`` keeps the three apart, so that the cost of an access is counted once per distinct
alignment instead of once per block, and an index costs a few adds instead of an array of all
threads. Wherever a sum of parts cannot stay one, it turns into a plain integer array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError
from pipeline.simt.source import source

IntArray = NDArray[np.int64]
Operator = Callable[[Any, Any], Any]
_MOST_REMEMBERED = 64
MAX_INDEX = 2**61
"""Largest part of an index, and largest span of its repeats: no sum of them wraps around."""
_INT64 = np.iinfo(np.int64)


def branch_refused(where: str) -> LaunchError:
    """Say that ``if`` cannot branch on a value per thread."""
    return LaunchError(
        f"{where}: a branch on a value per thread; write 'with blk.where(condition):', so that "
        f"every thread takes its own side"
    )


def _refuse_beyond(low: int, high: int) -> None:
    """Refuse arithmetic that would wrap around."""
    if low < _INT64.min or high > _INT64.max:
        raise LaunchError(
            f"{source()}: arithmetic on a thread's numbers gives {low} to {high}, beyond 64-bit "
            f"integers; where it should wrap around, use numpy.asarray(value).astype('u8')"
        )


class Truth(np.ndarray[Any, np.dtype[np.bool_]]):
    """A truth value that stands for all threads of a batch.

    A branch on it would depend on how many blocks run together, so there is none.
    """

    def __bool__(self) -> bool:
        """Refuse to choose a side for all threads."""
        if self.ndim:
            raise branch_refused(source())
        return bool(np.asarray(self))


class Part:
    """One part of a ``Lanes``, which remembers its multiples and sums.

    A loop body computes the same sums in every pass. Handing out the same array each time saves the
    arithmetic, and lets accounting recognise an access pattern that it has counted before.
    """

    __slots__ = ("_known", "array", "high", "is_index", "low")

    def __init__(self, array: IntArray) -> None:
        self.array = array
        self.low, self.high = int(array.min()), int(array.max())
        self.is_index = self.low >= -MAX_INDEX and self.high <= MAX_INDEX
        self._known: dict[tuple[int, int], tuple[Part | None, Part]] = {}

    def scaled(self, factor: int) -> Part:
        """Return the part times ``factor``."""
        return self._recall((0, factor), None, lambda: self._times(factor))

    def _times(self, factor: int) -> IntArray:
        ends = self.low * factor, self.high * factor
        _refuse_beyond(min(ends), max(ends))
        if self.low == self.high:
            return np.full_like(self.array, ends[0])
        return self.array * factor

    def plus(self, other: Part, sign: int) -> Part:
        """Return the part plus or minus ``other``."""
        return self._recall((id(other), sign), other, lambda: self._plus(other, sign))

    def _plus(self, other: Part, sign: int) -> IntArray:
        ends = other.low, other.high
        least, most = ends if sign > 0 else (-ends[1], -ends[0])
        _refuse_beyond(self.low + least, self.high + most)
        return self.array + other.array if sign > 0 else self.array - other.array

    def _recall(
        self, key: tuple[int, int], other: Part | None, make: Callable[[], IntArray]
    ) -> Part:
        # The other operand is kept with the result: its id cannot be given to another part.
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            found = self._known[key] = (other, Part(make()))
        return found[1]


class Lanes:
    """One integer per (block, thread) of a batch: ``const + block + thread``.

    Parameters
    ----------
    const
        The part that all threads share.
    block, optional
        The part that differs from block to block, (blocks, 1).
    thread, optional
        The part that differs from thread to thread, the same in every block, (1, threads).

    Notes
    -----
    Arithmetic follows numpy: ``//`` and ``%`` round towards minus infinity, where C truncates.
    """

    __slots__ = ("block", "const", "thread")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, const: int = 0, block: Part | None = None, thread: Part | None = None
    ) -> None:
        self.const = const
        self.block = block
        self.thread = thread

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Add the parts up: (blocks, threads), or 1 along an axis on which nothing differs."""
        _refuse_beyond(*self.bounds())
        total: Any = np.full((1, 1), self.const, np.int64)
        for part in (self.block, self.thread):
            total = total if part is None else total + part.array
        return np.asarray(total, dtype=dtype)

    def __bool__(self) -> bool:
        """Refuse to choose a side for all threads."""
        raise branch_refused(source())

    def bounds(self) -> tuple[int, int]:
        """Return numbers that no thread's value is below or above."""
        parts = self._parts()
        low = self.const + sum(part.low for part in parts)
        return low, self.const + sum(part.high for part in parts)

    def __repr__(self) -> str:
        """Show the parts."""
        parts = (None if part is None else part.array for part in (self.block, self.thread))
        return "Lanes(const={}, block={}, thread={})".format(self.const, *parts)

    def _add(self, other: Any, sign: int) -> Any:
        if isinstance(other, (int, np.integer)) and not isinstance(other, bool):
            return Lanes(self.const + sign * int(other), self.block, self.thread)
        if isinstance(other, Lanes):
            return Lanes(
                self.const + sign * other.const,
                _sum(self.block, other.block, sign),
                _sum(self.thread, other.thread, sign),
            )
        return np.asarray(self) + other if sign > 0 else np.asarray(self) - other

    def __add__(self, other: Any) -> Any:
        """Add part by part."""
        return self._add(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """Subtract part by part."""
        return self._add(other, -1)

    def __rsub__(self, other: Any) -> Any:
        """Subtract from ``other``."""
        return (-self) + other

    def __neg__(self) -> Lanes:
        """Negate every part."""
        return self._scaled(-1)

    def _scaled(self, factor: int) -> Lanes:
        return Lanes(
            self.const * factor,
            None if self.block is None else self.block.scaled(factor),
            None if self.thread is None else self.thread.scaled(factor),
        )

    def __mul__(self, other: Any) -> Any:
        """Scale by an integer, part by part; any other product is taken thread by thread."""
        if isinstance(other, (int, np.integer)) and not isinstance(other, bool):
            return self._scaled(int(other))
        return self._elementwise(other, operator.mul)

    __rmul__ = __mul__

    def _elementwise(self, other: Any, op: Operator, swap: bool = False) -> Any:
        """Apply ``op`` where it cannot be split over the parts.

        Operands that differ only along the block axis, or only along the thread axis, give a result
        that does too, and so stay ``Lanes`` (truth values are plain arrays).
        """
        left, right = np.asarray(self), np.asanyarray(other)
        value = op(right, left) if swap else op(left, right)
        if type(value) is np.ndarray and value.dtype == np.bool_ and value.shape == (1, 1):
            return value.view(Truth)
        if type(value) is not np.ndarray or value.dtype.kind != "i" or value.ndim != 2:
            return value
        if value.shape == (1, 1):
            return Lanes(int(value[0, 0]))
        if value.shape[0] == 1:
            return Lanes(0, None, Part(value))
        return Lanes(0, Part(value), None) if value.shape[1] == 1 else value

    def _divided(self, other: Any, op: Operator, swap: bool = False) -> Any:
        """Divide whole numbers, of which none by zero."""
        with np.errstate(divide="raise", invalid="raise"):
            try:
                return self._elementwise(other, op, swap)
            except FloatingPointError:
                raise LaunchError(
                    f"{source()}: a thread divides by zero, which no GPU defines"
                ) from None

    def __floordiv__(self, other: Any) -> Any:
        """Divide, rounding towards minus infinity."""
        return self._divided(other, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Any:
        """Divide ``other``, rounding towards minus infinity."""
        return self._divided(other, operator.floordiv, swap=True)

    def __mod__(self, other: Any) -> Any:
        """Remainder with the sign of the divisor."""
        return self._divided(other, operator.mod)

    def __rmod__(self, other: Any) -> Any:
        """Remainder of ``other``."""
        return self._divided(other, operator.mod, swap=True)

    def __truediv__(self, other: Any) -> Any:
        """Divide as float64."""
        return np.asarray(self) / np.asanyarray(other)

    def __rtruediv__(self, other: Any) -> Any:
        """Divide ``other`` as float64."""
        return np.asanyarray(other) / np.asarray(self)

    def __lshift__(self, other: Any) -> Any:
        """Shift left."""
        return self._elementwise(other, operator.lshift)

    def __rlshift__(self, other: Any) -> Any:
        """Shift ``other`` left."""
        return self._elementwise(other, operator.lshift, swap=True)

    def __rshift__(self, other: Any) -> Any:
        """Shift right."""
        return self._elementwise(other, operator.rshift)

    def __rrshift__(self, other: Any) -> Any:
        """Shift ``other`` right."""
        return self._elementwise(other, operator.rshift, swap=True)

    def __and__(self, other: Any) -> Any:
        """Combine bits."""
        return self._elementwise(other, operator.and_)

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        """Combine bits."""
        return self._elementwise(other, operator.or_)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Any:
        """Combine bits."""
        return self._elementwise(other, operator.xor)

    __rxor__ = __xor__

    def __eq__(self, other: object) -> Any:
        """Compare thread by thread."""
        return self._elementwise(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        """Compare thread by thread."""
        return self._elementwise(other, operator.ne)

    def _ordered(self, other: Any, op: Operator) -> Any:
        """Compare thread by thread, or once if all threads are on the same side of a number."""
        if isinstance(other, (int, np.integer)):
            low, high = (op(end, other) for end in self.bounds())
            if low == high:
                return np.full((1, 1), low).view(Truth)
            if self.block is not None and self.thread is not None:
                # Few values of the block part stand for many blocks.
                values, place = np.unique(self.block.array[:, 0], return_inverse=True)
                return op(self.const + values[:, None] + self.thread.array, other)[place]
        return self._elementwise(other, op)

    def _parts(self) -> list[Part]:
        """Return the parts that are there."""
        return [part for part in (self.block, self.thread) if part is not None]

    def __lt__(self, other: Any) -> Any:
        """Compare thread by thread."""
        return self._ordered(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        """Compare thread by thread."""
        return self._ordered(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        """Compare thread by thread."""
        return self._ordered(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        """Compare thread by thread."""
        return self._ordered(other, operator.ge)


def _sum(left: Part | None, right: Part | None, sign: int) -> Part | None:
    """Add two parts, of which either may be missing."""
    if right is None:
        return left
    if left is None:
        return right if sign > 0 else right.scaled(-1)
    return left.plus(right, sign)
