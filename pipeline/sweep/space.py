"""What is swept: values of each parameter, as a list or as a range."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

DIGITS = 6
"""Significant digits of the values of a range: they are selected by value, so they are short."""


@dataclass(frozen=True)
class Range:
    """Evenly spaced values, ends included.

    Attributes
    ----------
    spacing
        ``linear``: equal differences, ``log``: equal ratios.
    first, last
        Ends; positive where the spacing is ``log``.
    count
        How many values, at least two.
    whole
        Whether the values are rounded to whole numbers; those that coincide then stand once.
    """

    spacing: Literal["linear", "log"]
    first: float
    last: float
    count: int
    whole: bool = False

    def values(self) -> tuple[float, ...]:
        """List the values, each once, in order.

        >>> Range("log", 1, 100, 3).values()
        (1.0, 10.0, 100.0)
        """
        space = np.linspace if self.spacing == "linear" else np.geomspace
        exact = space(self.first, self.last, self.count).tolist()
        if self.whole:
            return tuple(dict.fromkeys(round(value) for value in exact))
        return tuple(dict.fromkeys(float(f"{value:.{DIGITS}g}") for value in exact))

    @property
    def is_full(self) -> bool:
        """Whether there is no further value: every whole number in the range stands already."""
        return self.whole and len(self.values()) > self.last - self.first


Axis = tuple[float, ...] | Range
"""Values of one parameter."""


def axis_values(axis: Axis) -> tuple[float, ...]:
    """List the values of a parameter."""
    return axis.values() if isinstance(axis, Range) else axis


def scaled(axes: Mapping[str, Axis], scale: float) -> dict[str, Axis]:
    """Refine the ranges until there are at least ``scale`` times as many points.

    The range that was refined least, compared with how it was given, gets the next value; the first
    one on a tie. Lists stay as they are.

    Parameters
    ----------
    axes
        Values by parameter.
    scale
        Factor of the number of points, at least 1.
    """
    given = {name: axis for name, axis in axes.items() if isinstance(axis, Range)}
    ranges, wanted = dict(given), points(axes) * scale
    while points({**axes, **ranges}) < wanted:
        open_ended = [name for name, axis in ranges.items() if not axis.is_full]
        if not open_ended:
            break
        name = min(open_ended, key=lambda one: ranges[one].count / given[one].count)
        ranges[name] = replace(ranges[name], count=ranges[name].count + 1)
    return {**axes, **ranges}


def points(axes: Mapping[str, Axis]) -> int:
    """Count the points of a space."""
    return math.prod(len(axis_values(axis)) for axis in axes.values())
