"""Exact counts of many tilings at large sizes, each from one or two small counts.

Blocks of a product whose tiles are whole all do the same, up to where their rows start within a
128-byte line, and so do the steps along k. Both repeat: along n after the least common multiple of
the tile and a line, along k after that of a step and a line. So a counter is the number of such
periods across C times a number that is linear in the periods along k.

At k = 0 that number is what happens outside of the steps, the stores of C: a kernel is run without
any step to count it. It does not depend on the depth of a step, so tilings that differ in nothing
else share it, and each of them takes a single further count.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelError
from pipeline.kernels.kernel import Kernel, Launch
from pipeline.kernels.matmul import counts, counts_without_steps
from pipeline.simt.launch import Launched
from pipeline.vocab.counters import COUNTERS

LINE_ELEMENTS = 32
"""Elements of float32 in a line of 128 bytes."""


def period(launch: Launch) -> tuple[int, int, int]:
    """Return the sizes m, n and k after which what blocks and steps do repeats."""
    rows, columns = launch.tile
    return rows, math.lcm(columns, LINE_ELEMENTS), math.lcm(launch.multiple[2], LINE_ELEMENTS)


class WholeTiles:
    """Counts tilings, and remembers what several of them share.

    Parameters
    ----------
    rule
        How shared-memory wavefronts are counted.
    """

    def __init__(self, rule: str = "lecture") -> None:
        self._rule = rule
        self._outside: dict[tuple[str, Any], NDArray[np.int64]] = {}

    def square(self, kernel: Kernel, options: Any, sizes: Sequence[int]) -> NDArray[np.int64]:
        """Count exactly what a kernel does on square products of several sizes.

        Parameters
        ----------
        kernel, options
            What to count; a kernel whose ``bk`` changes only the depth of steps, and that reads
            nothing ahead of them.
        sizes
            Values of n: multiples of every part of :func:`period`.

        Returns
        -------
        (size, counter)
            In the order of ``pipeline.vocab.counters.COUNTERS``, equal to those of
            :func:`pipeline.kernels.matmul.counts`.

        Raises
        ------
        ModelError
            If tiles are cut at a size, or rows of the matrices start within a line.
        """
        m, n, k = across = period(kernel.launch(options))
        wrong = [size for size in sizes if size < 1 or any(size % step for step in across)]
        if wrong:
            raise ModelError(
                f"{kernel.id} with {options}: cannot be counted at n = {wrong[0]} from whole "
                f"tiles; n must be a multiple of {math.lcm(*across)}"
            )
        one_period = _counters(counts(kernel, m, n, k, options, self._rule))
        outside = self._outside_of_steps(kernel, options)
        periods = np.array(sizes, np.int64)[:, None]
        along_k = outside + (one_period - outside) * (periods // k)
        return along_k * (periods * periods // (m * n))

    def _outside_of_steps(self, kernel: Kernel, options: Any) -> NDArray[np.int64]:
        """Count what happens outside of the steps, in one period across C."""
        shared = (kernel.id, replace(options, bk=0))
        if shared not in self._outside:
            m, n, _ = period(kernel.launch(options))
            self._outside[shared] = _counters(
                counts_without_steps(kernel, m, n, options, self._rule)
            )
        return self._outside[shared]


def _counters(launched: Launched) -> NDArray[np.int64]:
    return np.array([launched.counters[name] for name in COUNTERS], np.int64)
