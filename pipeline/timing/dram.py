"""DRAM traffic of a tiled matrix product, wave of blocks by wave of blocks.

Blocks that run at the same time walk along K together, so what several of them need comes from DRAM
once and from L2 after that. Nothing is kept from one wave to the next. C is written once.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.errors import ModelError
from pipeline.timing.waves import Waves, grouped_waves

FP32_BYTES = 4

LARGEST_BYTES = 2.0**62
"""Above this a number of bytes no longer fits into whole numbers of 64 bits."""


def dram_bytes(
    m: ArrayLike,
    n: ArrayLike,
    k: ArrayLike,
    *,
    tile_m: ArrayLike,
    tile_n: ArrayLike,
    wave: ArrayLike,
    group: ArrayLike = 0,
    element_bytes: ArrayLike = FP32_BYTES,
) -> NDArray[np.int64]:
    """Count the bytes that C[m, n] = A[m, k] B[k, n] moves between DRAM and the chip.

    Each wave reads the rows of A and the columns of B that its tiles touch, whole along k. Tiles at
    the lower and the right edge are as small as the matrix leaves them.

    Parameters
    ----------
    m, n, k
        Rows of C, columns of C, length of the sums.
    tile_m, tile_n, wave, group
        As in :func:`pipeline.timing.waves.grouped_waves`.
    element_bytes
        Size of one element of A or B (B); C has single precision.

    All are whole numbers or arrays of such that broadcast.

    Raises
    ------
    ModelError
        If any of the sizes is not positive, or the traffic exceeds 2^62 bytes.
    """
    waves = grouped_waves(m, n, tile_m=tile_m, tile_n=tile_n, wave=wave, group=group)
    return bytes_of(waves, m, n, k, element_bytes)


def bytes_of(
    waves: Waves, m: ArrayLike, n: ArrayLike, k: ArrayLike, element_bytes: ArrayLike = FP32_BYTES
) -> NDArray[np.int64]:
    """Count the bytes of waves whose rows and columns are known; see :func:`dram_bytes`."""
    m, n, k, each = (np.asarray(size, np.int64) for size in (m, n, k, element_bytes))
    if (k < 1).any():
        raise ModelError(f"DRAM traffic: k = {k.min()}; sizes must be positive")
    about = 1.0 * each * (waves.rows + waves.columns) * k + 1.0 * FP32_BYTES * m * n
    if (about > LARGEST_BYTES).any():
        raise ModelError(
            f"DRAM traffic: about {about.max():.3g} bytes, allowed are at most "
            f"{LARGEST_BYTES:.3g}; choose smaller matrices"
        )
    traffic: NDArray[np.int64] = each * (waves.rows + waves.columns) * k + FP32_BYTES * m * n
    return traffic


def dram_bytes_square(
    n: NDArray[np.int64],
    tile_m: NDArray[np.int64],
    tile_n: NDArray[np.int64],
    wave: NDArray[np.int64],
    element_bytes: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Apply ``dram_bytes`` to square matrices in row-major order; arrays that broadcast.

    Where ``wave`` is 0 no block can run and the traffic is NaN.
    """
    runs = np.asarray(wave) > 0
    traffic = dram_bytes(
        n,
        n,
        n,
        tile_m=tile_m,
        tile_n=tile_n,
        wave=np.where(runs, wave, 1),
        element_bytes=element_bytes,
    )
    return np.where(runs, traffic, np.nan)
