"""Many positive numbers in few characters: logarithms on a grid, three signs each.

A script reads them back: sign -> place in ``SIGNS``; three places make a whole number k; the number
is ``low * exp(k * step)``.
"""

import math

import numpy as np
from numpy.typing import NDArray

# Every printable sign of ASCII that neither JSON nor html writes in another way.
SIGNS = "".join(chr(code) for code in range(33, 127) if chr(code) not in "\"\\<>&'")
LENGTH = 3
STEPS = len(SIGNS) ** LENGTH - 1


def scale(values: NDArray[np.float64]) -> tuple[float, float]:
    """Give the least of positive values, and the step of logarithms that reaches the largest."""
    low, high = float(values.min()), float(values.max())
    return low, math.log(high / low) / STEPS


def encode(values: NDArray[np.float64], low: float, step: float) -> str:
    """Write positive values on the grid that :func:`scale` gives.

    >>> low, step = scale(np.array([1.0, 100.0]))
    >>> encode(np.array([1.0, 100.0]), low, step)
    '!!!~~~'
    """
    whole = np.round(np.log(values / low) / step).astype(int) if step else values.astype(int) * 0
    base = len(SIGNS)
    return "".join(SIGNS[k // base**2] + SIGNS[k // base % base] + SIGNS[k % base] for k in whole)
