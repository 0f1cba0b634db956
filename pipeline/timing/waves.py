"""Which rows of A and columns of B the waves of a launch touch.

Blocks start in the order of :mod:`pipeline.timing.tile_order`; ``wave`` consecutive ones run at the
same time.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.errors import ModelError
from pipeline.timing import waves_fast
from pipeline.timing.tile_order import named_order

LARGEST_LAUNCH = 2.0**62
"""Above this a number of blocks no longer fits into whole numbers of 64 bits."""


class Waves(NamedTuple):
    """What the waves of launches touch, summed over the waves of each launch.

    All fields are integers of one shape.

    Attributes
    ----------
    number
        Waves; the last one may be smaller than the others.
    tile_rows, tile_columns
        Rows and columns of tiles of C that each wave touches.
    rows, columns
        Rows of A and columns of B that belong to them. A tile at the lower or right edge has as
        many as the matrix leaves it.
    """

    number: NDArray[np.int64]
    tile_rows: NDArray[np.int64]
    tile_columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


def grouped_waves(
    m: ArrayLike,
    n: ArrayLike,
    *,
    tile_m: ArrayLike,
    tile_n: ArrayLike,
    wave: ArrayLike,
    group: ArrayLike = 0,
) -> Waves:
    """Sum up what waves touch in row-major or grouped order.

    Takes a step per band of tiles that the waves pass, not per block.

    Parameters
    ----------
    m, n
        Rows and columns of C.
    tile_m, tile_n
        Rows and columns of C per block.
    wave
        Blocks that run at the same time: SMs times resident blocks per SM.
    group
        0: row by row; else tile rows per band, as in ``tile_order``.

    All of them are whole numbers or arrays of such that broadcast.

    Raises
    ------
    ModelError
        If any of the sizes is not positive, or a launch has more than 2^62 blocks.
    """
    # Row by row is a band per row.
    named = {"m": m, "n": n, "tile_m": tile_m, "tile_n": tile_n, "wave": wave}
    together = _checked(named | {"group": np.asarray(group) + (np.asarray(group) == 0)})
    rows, columns, tall, wide, blocks, band = together
    tiles_m, tiles_n = -(-rows // tall), -(-columns // wide)
    result = np.zeros((rows.size, waves_fast.FIELDS), np.int64)
    waves_fast.grouped(
        tiles_m.flatten(),
        tiles_n.flatten(),
        blocks.flatten(),
        np.minimum(band, tiles_m).flatten(),
        result,
    )
    return _waves(result.reshape(*rows.shape, waves_fast.FIELDS), rows, columns, tall, wide)


def named_waves(m: int, n: int, *, tile_m: int, tile_n: int, wave: ArrayLike, order: str) -> Waves:
    """Sum up what waves touch in an order that has a name.

    Along a curve this takes a step per block.

    Parameters
    ----------
    m, n, tile_m, tile_n
        Whole numbers, as in :func:`grouped_waves`.
    wave
        The same; a whole number or an array of such.
    order
        As in :func:`pipeline.timing.tile_order.named_order`.

    Raises
    ------
    ModelError
        If any of the sizes is not positive, or there is no such order.
    """
    sizes = {"m": m, "n": n, "tile_m": tile_m, "tile_n": tile_n, "wave": wave}
    *_, blocks = _checked(sizes)
    tiles_m, tiles_n = -(-m // tile_m), -(-n // tile_n)
    bands = {"row_major": 0, "column_major": tiles_m}
    if order in bands:
        return grouped_waves(m, n, tile_m=tile_m, tile_n=tile_n, wave=wave, group=bands[order])
    row, column = named_order(tiles_m, tiles_n, order)
    result = np.zeros((blocks.size, waves_fast.FIELDS), np.int64)
    waves_fast.listed(row, column, blocks.flatten(), result)
    return _waves(result.reshape(*blocks.shape, waves_fast.FIELDS), m, n, tile_m, tile_n)


def _checked(named: dict[str, Any]) -> list[NDArray[np.int64]]:
    """Broadcast whole numbers, and refuse those that are not positive or too large together."""
    arrays = {name: np.asarray(value, np.int64) for name, value in named.items()}
    wrong = [f"{name} = {value.min()}" for name, value in arrays.items() if (value < 1).any()]
    if wrong:
        raise ModelError(
            f"waves of blocks: {', '.join(wrong)}; sizes, tiles and waves must be positive, and a "
            f"group 0 (row by row) or positive"
        )
    blocks = (1.0 * arrays["m"] / arrays["tile_m"] + 1) * (arrays["n"] / arrays["tile_n"] + 1)
    if (blocks > LARGEST_LAUNCH).any():
        raise ModelError(
            f"waves of blocks: about {blocks.max():.3g} blocks, allowed are at most "
            f"{LARGEST_LAUNCH:.3g}; choose a smaller matrix or a larger tile"
        )
    return list(np.broadcast_arrays(*arrays.values()))


def _waves(result: NDArray[np.int64], m: Any, n: Any, tile_m: Any, tile_n: Any) -> Waves:
    """Give rows of tiles their lengths: all are whole but the last."""
    number, tile_rows, tile_columns, bottom, right = np.moveaxis(result, -1, 0)
    return Waves(
        number,
        tile_rows,
        tile_columns,
        tile_rows * tile_m - bottom * (-m % tile_m),
        tile_columns * tile_n - right * (-n % tile_n),
    )
