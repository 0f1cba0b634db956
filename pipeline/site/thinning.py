"""Fewer points of a sweep, so that a page that explores it stays small."""

from collections.abc import Sequence
from math import prod

import numpy as np
import xarray as xr

FEWEST = 2


def thinned(dataset: xr.Dataset, axes: Sequence[str], most: int) -> xr.Dataset:
    """Take fewer values of the longest axes, first and last among them.

    Parameters
    ----------
    dataset
        Over ``axes`` and maybe others.
    axes
        Dimensions that may lose values.
    most
        Product of their lengths that is allowed, as long as each has two values left.
    """
    lengths = {axis: dataset.sizes[axis] for axis in axes}
    while prod(lengths.values()) > most and max(lengths.values()) > FEWEST:
        longest = max(lengths, key=lambda axis: lengths[axis])
        lengths[longest] -= 1
    return dataset.isel({axis: _spread(dataset.sizes[axis], n) for axis, n in lengths.items()})


def _spread(length: int, count: int) -> list[int]:
    """Places of ``count`` values out of ``length``, as evenly as whole numbers allow."""
    if count >= length:
        return list(range(length))
    return [round(place) for place in np.linspace(0, length - 1, count).tolist()]
