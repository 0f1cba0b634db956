"""In which order the tiles of C are started."""

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelError


def tile_order(
    tiles_m: int, tiles_n: int, group: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
