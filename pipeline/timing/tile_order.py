"""In which order the tiles of C are started."""

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelError

Tiles = tuple[NDArray[np.int64], NDArray[np.int64]]

ORDERS = ("row_major", "column_major", "morton", "hilbert")
"""Orders that have a name; grouped ones have the height of their bands instead."""


def tile_order(tiles_m: int, tiles_n: int, group: int = 0) -> Tiles:
    """List the tiles of C in the order in which their blocks start.

    Parameters
    ----------
    tiles_m, tiles_n
        Tiles of C along its rows and its columns.
    group
        0: row by row. G: bands of G tile rows (the last may be lower), each walked column by
        column, top to bottom; blocks that run together then share rows of A and columns of B.

    Returns
    -------
    row, column : (block,)
        Where block i of the launch works. Every tile comes once.

    Raises
    ------
    ModelError
        If there is no tile or ``group`` is negative.

    Examples
    --------
    >>> row, column = tile_order(3, 2, group=2)
    >>> list(zip(row.tolist(), column.tolist()))
    [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]
    """
    if tiles_m < 1 or tiles_n < 1 or group < 0:
        raise ModelError(
            f"tile order of {tiles_m} by {tiles_n} tiles in groups of {group}: there must be at "
            f"least one tile each way, and a group is 0 (row by row) or a number of tile rows"
        )
    row, column = np.divmod(np.arange(tiles_m * tiles_n, dtype=np.int64), tiles_n)
    if group == 0:
        return row, column
    order = np.lexsort((row, column, row // group))
    return row[order], column[order]


def named_order(tiles_m: int, tiles_n: int, name: str) -> Tiles:
    """List the tiles of C in an order that has a name.

    Parameters
    ----------
    tiles_m, tiles_n
        Tiles of C along its rows and its columns.
    name
        ``row_major`` or ``column_major``; ``morton`` or ``hilbert``: along the curve of that name
        through the smallest square of 2^k by 2^k tiles that covers C, without the tiles outside C.
        Both curves start at (0, 0); Morton's goes right first, and Hilbert's ends at the right of
        the first row.

    Returns
    -------
    row, column : (block,)
        Where block i of the launch works. Every tile comes once.

    Raises
    ------
    ModelError
        If there is no tile or no order of this name.

    Examples
    --------
    >>> row, column = named_order(2, 3, "morton")
    >>> list(zip(row.tolist(), column.tolist()))
    [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (1, 2)]
    """
    if name not in ORDERS:
        raise ModelError(f"tile order {name!r} is unknown; allowed: {', '.join(ORDERS)}")
    row, column = tile_order(tiles_m, tiles_n)
    if name == "row_major":
        return row, column
    bits = max(tiles_m - 1, tiles_n - 1).bit_length()
    order = np.argsort(_PLACES[name](row, column, bits))
    return row[order], column[order]


def _column_place(
    row: NDArray[np.int64], column: NDArray[np.int64], bits: int
) -> NDArray[np.int64]:
    """Return how far along the columns of a square of 2^bits by 2^bits tiles they stand."""
    return (column << bits) + row


def _morton_place(
    row: NDArray[np.int64], column: NDArray[np.int64], bits: int
) -> NDArray[np.int64]:
    """Return how far along Morton's curve tiles stand: their bits, row and column in turn."""
    place = np.zeros_like(row)
    for bit in range(bits):
        place |= ((column >> bit & 1) << 2 * bit) | ((row >> bit & 1) << 2 * bit + 1)
    return place


def _hilbert_place(
    row: NDArray[np.int64], column: NDArray[np.int64], bits: int
) -> NDArray[np.int64]:
    """Return how far along Hilbert's curve tiles stand.

    A square is passed quarter by quarter: the quarter where the path starts, the two on the far
    side, the quarter where it ends. The first and the last one are walked as the square mirrored at
    a diagonal.
    """
    place = np.zeros_like(row)
    along, across = column, row  # the path ends at the far end of ``along``
    for bit in reversed(range(bits)):
        half = 1 << bit
        right, up = along >> bit & 1, across >> bit & 1
        place += ((3 * right) ^ up) * half * half
        inner, outer = along & half - 1, across & half - 1
        mirrored = np.where(right == 1, half - 1 - outer, outer)
        turned = np.where(right == 1, half - 1 - inner, inner)
        along, across = np.where(up == 0, mirrored, inner), np.where(up == 0, turned, outer)
    return place


_PLACES = {"column_major": _column_place, "morton": _morton_place, "hilbert": _hilbert_place}
