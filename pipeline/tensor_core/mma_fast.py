"""Compiled sums of :mod:`pipeline.tensor_core.mma` over many warps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled


@compiled
def _add_product(
    left: NDArray[Any], right: NDArray[Any], sums: NDArray[Any], extent: tuple[int, int, int]
) -> None:
    """Add the product of two matrices to a third, all row by row."""
    rows, columns, depth = extent
    for row in range(rows):
        line = sums[row * columns : (row + 1) * columns]
        for k in range(depth):
            factor = left[row * depth + k]
            other = right[k * columns : (k + 1) * columns]
            for column in range(columns):
                line[column] += factor * other[column]


@compiled
def multiply_add(
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any],
    place_a: NDArray[np.int64],
    place_b: NDArray[np.int64],
    place_c: NDArray[np.int64],
    extent: tuple[int, int, int],
    room: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Fill ``out`` with the fragments of D = A B + C; products are added in the order of K.

    Parameters
    ----------
    a, b, c, out : (warps, lanes * elements)
        Fragments.
    place_a, place_b, place_c : (lanes * elements,)
        Element of the matrix that each element of a fragment is, row by row.
    extent
        M, N and K.
    room : (M K + K N + M N,)
        For one product, of a type in which sums do not overflow.
    """
    rows, columns, depth = extent
    left, right = room[: rows * depth], room[rows * depth : (rows + columns) * depth]
    sums = room[(rows + columns) * depth :]
    for warp in range(a.shape[0]):
        for i in range(place_a.size):
            left[place_a[i]] = a[warp, i]
        for i in range(place_b.size):
            right[place_b[i]] = b[warp, i]
        for i in range(place_c.size):
            sums[place_c[i]] = c[warp, i]
        _add_product(left, right, sums, extent)
        for i in range(place_c.size):
            out[warp, i] = sums[place_c[i]]
