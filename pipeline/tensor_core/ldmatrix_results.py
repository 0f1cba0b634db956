"""Bank conflicts of ``ldmatrix`` in all layouts, as labelled arrays."""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.tensor_core.conflicts import (
    TILE_BYTES,
    TILE_PIECES,
    TILE_ROWS,
    cheapest_layout,
    tile_loads,
    wavefronts,
)
from pipeline.tensor_core.fragments import PIECE_ROWS
from pipeline.tensor_core.layouts import CHUNK_BYTES, LAYOUTS, WAVEFRONT_BYTES
from pipeline.tensor_core.ldmatrix import HALF_BYTES
from pipeline.vocab.tensor_core import LDMATRIX
from pipeline.vocab.variable import annotate

# Rows must start on 16 bytes, that is at multiples of eight elements.
ROW_ELEMS = range(16, 257, 8)
# Everything repeats after 64 rows at the latest: they are a multiple of 1 KiB, over which the
# lecture's swizzle repeats.
TILE_HEIGHT = 128
PICTURED_ROW_ELEMS = 64


def ldmatrix() -> xr.Dataset:
    """Wavefronts of ``ldmatrix.x4`` for every row width, layout and place of 16 x 16 elements.

    Returns
    -------
    xr.Dataset
        ``wavefronts`` and ``ideal_wavefronts`` over (row_elems, layout, row0, col0), both 0 where
        16 columns do not fit the row; per width the cheapest layout without conflicts; and
        ``bank_group`` over (layout, row, chunk) for rows of 64 elements.
    """
    row0 = np.arange(0, TILE_HEIGHT - TILE_ROWS + 1, PIECE_ROWS)
    col0 = np.arange(0, max(ROW_ELEMS) - TILE_ROWS + 1, CHUNK_BYTES // HALF_BYTES)
    taken = np.zeros((len(ROW_ELEMS), len(LAYOUTS), row0.size, col0.size), np.int64)
    ideal = np.zeros_like(taken)
    extra = np.zeros(taken.shape[:2], np.int64)
    cheapest = []
    for i, elems in enumerate(ROW_ELEMS):
        fits = col0 * HALF_BYTES + TILE_BYTES <= elems * HALF_BYTES
        rows, columns = (axis.ravel() for axis in np.meshgrid(row0, col0[fits], indexing="ij"))
        pattern = tile_loads(rows, columns * HALF_BYTES)
        for j, layout in enumerate(make(elems * HALF_BYTES) for make in LAYOUTS.values()):
            taken[i, j][:, fits] = wavefronts(pattern, layout).reshape(row0.size, -1)
            extra[i, j] = layout.extra_bytes(TILE_HEIGHT)
        ideal[i][..., fits] = TILE_PIECES
        cheapest.append(cheapest_layout(pattern, elems * HALF_BYTES, TILE_HEIGHT))
    over = ("row_elems", "layout", "row0", "col0")
    dataset = xr.Dataset(
        {
            "wavefronts": (over, taken),
            "ideal_wavefronts": (over, ideal),
            "extra_bytes": (over[:2], extra),
            "cheapest": ("row_elems", [str(layout) for layout in cheapest]),
            "cheapest_extra_bytes": (
                "row_elems",
                [layout.extra_bytes(TILE_HEIGHT) for layout in cheapest],
            ),
            "bank_group": (("layout", "row", "chunk"), bank_groups(PICTURED_ROW_ELEMS)),
        },
        {
            "row_elems": np.array(ROW_ELEMS),
            "layout": list(LAYOUTS),
            "row0": row0,
            "col0": col0,
            "row": np.arange(PIECE_ROWS),
            "chunk": np.arange(PICTURED_ROW_ELEMS * HALF_BYTES // CHUNK_BYTES),
            "tile_rows": TILE_HEIGHT,
            "pictured_row_elems": PICTURED_ROW_ELEMS,
        },
    )
    return annotate(dataset, LDMATRIX)


def bank_groups(row_elems: int) -> NDArray[np.int64]:
    """Say in which four banks each 16-byte chunk of eight rows lies, in every layout.

    Parameters
    ----------
    row_elems
        16-bit elements in a row.

    Returns
    -------
    (layouts, 8, chunks) array
    """
    row_bytes = row_elems * HALF_BYTES
    row, byte = np.ogrid[:PIECE_ROWS, 0:row_bytes:CHUNK_BYTES]
    addresses = [make(row_bytes).address(row, byte, CHUNK_BYTES) for make in LAYOUTS.values()]
    return np.stack(addresses) % WAVEFRONT_BYTES // CHUNK_BYTES
