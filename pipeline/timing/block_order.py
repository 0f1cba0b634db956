"""What the order of the blocks does to DRAM traffic, for all GPUs, sizes and orders."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.errors import ModelError
from pipeline.timing.dram import bytes_of
from pipeline.timing.tile_order import ORDERS
from pipeline.timing.waves import Waves, grouped_waves, named_waves
from pipeline.vocab.tile_order import ORDER, TILE_ORDER
from pipeline.vocab.variable import annotate


def block_orders(
    gpus: xr.Dataset,
    sizes: Sequence[int],
    tile_m: int,
    tile_n: int,
    blocks_per_sm: int,
    largest_group: int,
) -> xr.Dataset:
    """Find the DRAM traffic of a product in FP32 for every order of its blocks.

    Parameters
    ----------
    gpus : (gpu,)
        ``sm_count`` and ``dram_bandwidth`` (B/s).
    sizes
        Sizes n of the square matrices.
    tile_m, tile_n
        Rows and columns of C per block.
    blocks_per_sm
        Resident blocks per SM.
    largest_group
        Grouped orders have bands of 1 to this many tile rows.

    Returns
    -------
    (gpu, n, group)
        ``dram_bytes`` (B), ``t_dram`` (s), ``rows_per_wave`` and ``cols_per_wave`` (tiles, means
        over the waves). Group 0 is row by row. A band of more rows than there are is one band. The
        same over (gpu, n, order), with ``order_`` in front, for orders that have a name. ``wave``
        over (gpu) and ``waves`` over (gpu, n) are blocks per wave and waves.

    Raises
    ------
    ModelError
        If a size or a tile is not positive, or ``largest_group`` is negative.
    """
    if largest_group < 0:
        raise ModelError(f"largest_group = {largest_group}; it must be at least 0")
    bandwidth = gpus["dram_bandwidth"].drop_attrs().reset_coords(drop=True)
    wave = blocks_per_sm * gpus["sm_count"].drop_attrs().reset_coords(drop=True)
    tile = {"tile_m": tile_m, "tile_n": tile_n}
    n, group = np.array(sizes, np.int64), np.arange(largest_group + 1, dtype=np.int64)
    blocks = wave.to_numpy()
    grouped = grouped_waves(n[:, None], n[:, None], **tile, wave=blocks[:, None, None], group=group)
    # (n, order) of (gpu,)
    named = [
        [named_waves(size, size, **tile, wave=blocks, order=order) for order in ORDERS]
        for size in n.tolist()
    ]
    stacked = Waves(*(np.moveaxis(np.array(field), -1, 0) for field in _transposed(named)))
    square = n[:, None]
    result = xr.Dataset(
        _variables(grouped, square, ("gpu", "n", "group"))
        | _variables(stacked, square, ("gpu", "n", "order"), ORDER)
        | {"waves": (("gpu", "n"), grouped.number[..., 0]), "wave": wave}
        | {"blocks_per_sm": blocks_per_sm, **tile},
        {"gpu": gpus["gpu"].to_numpy(), "n": n, "group": group, "order": list(ORDERS)},
    )
    for prefix in ("", ORDER):
        result[f"{prefix}t_dram"] = (result[f"{prefix}dram_bytes"] / bandwidth).transpose(
            *result[f"{prefix}dram_bytes"].dims
        )
    named_gpus = gpus["gpu_name"].drop_attrs().reset_coords(drop=True)
    return annotate(result.assign_coords(gpu_name=named_gpus), TILE_ORDER)


def _transposed(named: Sequence[Sequence[Waves]]) -> list[list[list[NDArray[np.int64]]]]:
    """Turn waves over (n, order) into the fields of waves, each over (n, order)."""
    return [
        [[getattr(waves, field) for waves in orders] for orders in named] for field in Waves._fields
    ]


def _variables(
    waves: Waves, n: NDArray[np.int64], over: tuple[str, ...], prefix: str = ""
) -> dict[str, tuple[tuple[str, ...], NDArray[Any]]]:
    """Name what is stored of waves."""
    values = {
        "dram_bytes": bytes_of(waves, n, n, n),
        "rows_per_wave": waves.tile_rows / waves.number,
        "cols_per_wave": waves.tile_columns / waves.number,
    }
    return {prefix + name: (over, value) for name, value in values.items()}
