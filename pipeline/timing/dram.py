"""DRAM traffic of a tiled matrix product, wave of blocks by wave of blocks.

Blocks that run at the same time walk along K together, so what several of them need comes from DRAM
once and from L2 after that. Nothing is kept from one wave to the next. C is written once.
"""

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelError
from pipeline.timing.tile_order import tile_order

FP32_BYTES = 4


def dram_bytes(
    m: int,
    n: int,
    k: int,
    *,
    tile_m: int,
    tile_n: int,
    wave: int,
    group: int = 0,
    element_bytes: int = FP32_BYTES,
) -> int:
    """Count the bytes that C[m, n] = A[m, k] B[k, n] moves between DRAM and the chip.

    Each wave reads the rows of A and the columns of B that its tiles touch, whole along k. Tiles at
    the lower and the right edge are as small as the matrix leaves them.

    Parameters
    ----------
    m, n, k
        Rows of C, columns of C, length of the sums.
    tile_m, tile_n
        Rows and columns of C per block.
    wave
        Blocks that run at the same time: SMs times resident blocks per SM.
    group
        Order of the tiles, as in ``tile_order``.
    element_bytes
        Size of one element (B).

    Raises
    ------
    ModelError
        If any of the sizes is not positive.
    """
    named = {"m": m, "n": n, "k": k, "tile_m": tile_m, "tile_n": tile_n, "wave": wave}
    wrong = [f"{name} = {value}" for name, value in named.items() if value < 1]
    if wrong:
        raise ModelError(
            f"DRAM traffic: {', '.join(wrong)}; sizes, tiles and wave must be positive"
        )
    heights, widths = _extents(m, tile_m), _extents(n, tile_n)
    row, column = tile_order(heights.size, widths.size, group)
    wave_of_block = np.arange(row.size) // wave
    rows = _touched(wave_of_block, row, heights)
    columns = _touched(wave_of_block, column, widths)
    return element_bytes * ((rows + columns) * k + m * n)


def dram_bytes_square(
    n: NDArray[np.int64],
    tile_m: NDArray[np.int64],
    tile_n: NDArray[np.int64],
    wave: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Apply ``dram_bytes`` to arrays that broadcast, for square matrices in row-major order.

    Each distinct combination is enumerated once. Where ``wave`` is 0 no block can run and the
    traffic is NaN.
    """
    together = np.broadcast_arrays(n, tile_m, tile_n, wave)
    flat = np.stack([array.astype(np.int64).ravel() for array in together])
    distinct, where = np.unique(flat, axis=1, return_inverse=True)
    traffic = [
        dram_bytes(size, size, size, tile_m=rows, tile_n=columns, wave=blocks) if blocks else np.nan
        for size, rows, columns, blocks in distinct.T.tolist()
    ]
    return np.array(traffic, dtype=np.float64)[where].reshape(together[0].shape)


def _extents(length: int, tile: int) -> NDArray[np.int64]:
    """Lengths of the tiles that cover ``length``; only the last can be shorter."""
    starts = np.arange(0, length, tile, dtype=np.int64)
    return np.minimum(length - starts, tile)


def _touched(
    wave_of_block: NDArray[np.int64], tile: NDArray[np.int64], extents: NDArray[np.int64]
) -> int:
    """Sum over the waves the extents of the distinct tiles that each of them touches."""
    pairs = np.unique(wave_of_block * extents.size + tile)
    return int(extents[pairs % extents.size].sum())
