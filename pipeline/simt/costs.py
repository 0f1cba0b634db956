"""What accesses cost, remembered by pattern.

A loop body repeats few access patterns, and most blocks of a grid differ by a shift only. So a
pattern is counted once per alignment that occurs.
"""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from pipeline.banks import WORD_BYTES
from pipeline.errors import ModelError
from pipeline.simt import banks, banks_fast, coalescing_fast
from pipeline.simt.access import Access

_MOST_REMEMBERED = 512
Kind = tuple[str | int, ...]


class Costs:
    """Costs of accesses by one rule; all sums are over the blocks of a batch and over repeats.

    Parameters
    ----------
    rule
        How shared-memory wavefronts are counted, see :mod:`pipeline.simt.banks`.
    """

    def __init__(self, rule: str) -> None:
        if rule not in banks.RULES:
            raise ModelError(
                f"wavefront rule {rule!r} is unknown; allowed: {', '.join(banks.RULES)}"
            )
        self._hardware = rule == "hardware"
        self._known: dict[Kind, tuple[Any, ...]] = {}

    def transactions(self, access: Access, itemsize: int) -> tuple[int, int, int, int]:
        """Return warps, lanes, sectors and lines of a global access."""
        known = self._pattern(access, ("global", itemsize), coalescing_fast.nothing_known)
        block, weight = self._shifts(access, itemsize)

        def count(const: int) -> tuple[int, int, int, int]:
            counted: tuple[int, int, int, int] = coalescing_fast.transactions(
                const, block, weight, access.thread, access.active, itemsize, known
            )
            return counted

        if access.repeat == 1:
            return count(access.const)
        each = [count(access.const + number * access.step) for number in range(access.repeat)]
        warps, lanes, sectors, lines = (sum(counts) for counts in zip(*each, strict=True))
        return warps, lanes, sectors, lines

    def repeats(self, access: Access) -> int:
        """Return how many lanes of a global access repeat the address of another of their warp."""
        rows = max(len(access.thread), len(access.active))
        count: int = self._pattern(
            access, ("repeats",), lambda: coalescing_fast.repeats(access.thread, access.active)
        )
        return count * (len(access.block) // rows)

    def wavefronts(
        self, access: Access, itemsize: int, store: bool, matrix: bool = False
    ) -> list[int]:
        """Return warps, lanes, wavefronts and ideal wavefronts of a shared access.

        Of a ``matrix`` load every 8 x 8 matrix is a phase of its own, by either rule.
        """
        hardware = self._hardware and not matrix

        def count(const: int, rows: int) -> tuple[int, ...]:
            counted: tuple[int, ...] = banks_fast.wavefronts(
                const,
                access.block,
                access.thread,
                access.active,
                itemsize,
                access.width,
                hardware,
                store,
                rows,
            )
            return counted

        return self._shared(
            access, itemsize, ("shared", itemsize, access.width, store, hardware), count
        )

    def atomic_wavefronts(self, access: Access, itemsize: int) -> list[int]:
        """Return warps, lanes and wavefronts of a shared atomic."""

        def count(const: int, rows: int) -> tuple[int, ...]:
            counted: tuple[int, ...] = banks_fast.atomic_wavefronts(
                const, access.block, access.thread, access.active, itemsize, rows
            )
            return counted

        return self._shared(access, itemsize, ("atomic", itemsize), count)

    def _shared(
        self,
        access: Access,
        itemsize: int,
        kind: Kind,
        count: Callable[[int, int], tuple[int, ...]],
    ) -> list[int]:
        """Sum what ``count(const, rows)`` gives for the first ``rows`` blocks."""
        if itemsize >= WORD_BYTES and access.same:
            # A shift by whole words turns the banks round and changes no count.
            once = self._pattern(access, kind, lambda: count(access.const, 1))
            times = len(access.block) * access.repeat
            return [value * times for value in once]
        rows = 1 if access.same else len(access.block)
        every = [count(access.const + i * access.step, rows) for i in range(access.repeat)]
        return [sum(values) * (len(access.block) // rows) for values in zip(*every, strict=True)]

    def _pattern(self, access: Access, kind: Kind, make: Callable[[], Any]) -> Any:
        """Recall what is known of an access pattern, up to shifts of all threads."""
        if not access.one_pattern:
            return make()
        return self._recall((access.thread, access.active), kind, make)

    def _shifts(self, access: Access, itemsize: int) -> coalescing_fast.Shifts:
        """Recall how the blocks of a batch are aligned."""
        if not access.one_pattern:
            return coalescing_fast.every_block(access.block)
        shifts: coalescing_fast.Shifts = self._recall(
            (access.block,), (itemsize,), lambda: coalescing_fast.shifts(access.block, itemsize)
        )
        return shifts

    def _recall(self, arrays: tuple[NDArray[Any], ...], kind: Kind, make: Callable[[], Any]) -> Any:
        """Recall what was made for these very arrays, or make it.

        Arrays are recognised by identity; they are kept with the result, so that no other array can
        take their place.
        """
        key = (*map(id, arrays), *kind)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            found = self._known[key] = (arrays, make())
        return found[1]
