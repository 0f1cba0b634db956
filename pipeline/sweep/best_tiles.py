"""The best tiles of a sweep, the front of time against shared memory, and published choices."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.kernels.registry import KERNELS
from pipeline.vocab.sweeps import BEST_TILES, TILE_AXES
from pipeline.vocab.variable import annotate

TUNED = ("k09_autotuned", "k10_warptiled")
"""Kernels whose tiles publications chose anew for each GPU."""

NONE = "none"

_PLACE = ["gpu", "n"]


def best_tiles(tiles: xr.Dataset, published: xr.Dataset) -> xr.Dataset:
    """Find the best tile of every GPU at every size, and what a published choice is worth.

    Parameters
    ----------
    tiles
        Store of a sweep, as :func:`pipeline.sweep.tiles.compute_tiles` describes it.
    published : (measurement)
        Published rates with their tiles, as :func:`pipeline.measured.kernels.sgemm_rates` reads
        them.

    Returns
    -------
    xarray.Dataset
        Over (gpu, n): the fastest tile, of equally fast ones that with the least shared memory, and
        of these the first; ``best_kernel``, ``best_<option>``, ``best_gflops``, ``best_bound``,
        ``best_smem_bytes``, and how many are as fast: ``tied``. ``published_kernel``,
        ``published_<option>`` and ``published_gflops``: what the sweep predicts for the tile that a
        publication chose for a tuned kernel on this GPU; ``none``, 0 and NaN without one.
        ``published_share``: of the best rate. Over (gpu): ``valid_tiles``, which any kernel takes.
        Over the tile and the GPU, at the size of the sweep: ``on_front``, whether no other tile is
        as fast with less shared memory, or faster with no more.
    """
    axes = [name for name in TILE_AXES if name in tiles.dims]
    result = _best(tiles, axes).merge(_published(tiles, published, axes))
    result["published_share"] = result["published_gflops"] / result["best_gflops"]
    result["on_front"] = _on_front(tiles, axes)
    result["valid_tiles"] = tiles["valid"].sum(axes)
    labels = {name: tiles[name] for name in ("gpu_name", *axes)}
    return annotate(result.assign_coords(labels).assign_attrs(tiles.attrs), BEST_TILES)


def _best(tiles: xr.Dataset, axes: Sequence[str]) -> xr.Dataset:
    """Pick the best tile over (gpu, n)."""
    columns = {
        "kernel": "best_kernel",
        "kernel_gflops": "best_gflops",
        "kernel_bound": "best_bound",
    }
    rates = tiles[["kernel_gflops", "kernel_bound"]].drop_vars("gpu_name").to_dataframe()
    frame = rates.dropna(subset="kernel_gflops").reset_index()
    # Kernels differ in what they do with shared memory, not in how much a tile takes.
    smem = tiles["smem_bytes"].drop_vars("gpu_name").to_series()
    frame = frame.join(smem.rename("best_smem_bytes"), on=[*axes, "gpu"])
    fastest = frame.groupby(_PLACE)["kernel_gflops"].transform("max")
    frame["tied"] = (
        (frame["kernel_gflops"] == fastest).groupby([frame[p] for p in _PLACE]).transform("sum")
    )
    frame = frame[frame["kernel_gflops"] == fastest]
    first = frame.sort_values("best_smem_bytes", kind="stable").drop_duplicates(_PLACE)
    named = first.rename(columns=columns | {axis: f"best_{axis}" for axis in axes})
    return _over_gpus_and_sizes(named, tiles)


def _published(tiles: xr.Dataset, published: xr.Dataset, axes: Sequence[str]) -> xr.Dataset:
    """Look published choices up in the sweep, over (gpu, n)."""
    swept = [kernel for kernel in TUNED if kernel in tiles["kernel"]]
    rows = published.to_dataframe()
    rows = rows[rows["kernel"].isin(swept) & rows["gpu"].isin(tiles["gpu"].to_numpy())]
    found = []
    for _, row in rows.drop_duplicates(["gpu"], keep="last").iterrows():
        default = KERNELS[row["kernel"]].options()
        tile = {
            axis: int(row[axis]) if np.isfinite(row[axis]) else int(getattr(default, axis))
            for axis in axes
        }
        if all(value in tiles[axis] for axis, value in tile.items()):
            rates = tiles["kernel_gflops"].sel({**tile, "gpu": row["gpu"], "kernel": row["kernel"]})
            found += [
                {
                    "gpu": row["gpu"],
                    "n": n,
                    "published_kernel": row["kernel"],
                    "published_gflops": rate,
                    **{f"published_{axis}": value for axis, value in tile.items()},
                }
                for n, rate in zip(tiles["n"].to_numpy().tolist(), rates.to_numpy(), strict=True)
            ]
    names = ["published_kernel", "published_gflops", *(f"published_{axis}" for axis in axes)]
    return _over_gpus_and_sizes(pd.DataFrame(found, columns=[*_PLACE, *names]), tiles)


def _over_gpus_and_sizes(frame: pd.DataFrame, tiles: xr.Dataset) -> xr.Dataset:
    """Arrange rows over (gpu, n); where there is none, NaN, 0 or ``none``."""
    every = pd.MultiIndex.from_product([tiles[p].to_numpy() for p in _PLACE], names=_PLACE)
    rows = frame.set_index(_PLACE).reindex(every)
    shape = [tiles.sizes[p] for p in _PLACE]

    def filled(name: str) -> Any:
        column = rows[name]
        if name.endswith("_gflops"):
            return column.to_numpy(float)
        if name.endswith(("_kernel", "_bound")):
            return np.array([text if isinstance(text, str) else NONE for text in column], str)
        return column.fillna(0).to_numpy(np.int64)

    return xr.Dataset(
        {name: (_PLACE, filled(name).reshape(shape)) for name in map(str, rows)},
        {p: tiles[p] for p in _PLACE},
    )


def _on_front(tiles: xr.Dataset, axes: Sequence[str]) -> xr.DataArray:
    """Mark the tiles that nothing beats, over the tile and the GPU."""
    public = tiles[["gflops", "smem_bytes"]].drop_vars("gpu_name")
    frame = public.to_dataframe().dropna(subset="gflops")
    frame = frame.sort_values(["smem_bytes", "gflops"], ascending=[True, False], kind="stable")
    before = frame.groupby("gpu")["gflops"].transform(lambda rates: rates.cummax().shift())
    front = frame.index[before.isna() | (frame["gflops"] > before)]
    marked = xr.zeros_like(public["gflops"], bool)
    marked = marked.transpose(*axes, "gpu")
    where = [
        marked.get_index(dim).get_indexer(front.get_level_values(dim))
        for dim in map(str, marked.dims)
    ]
    marked.to_numpy()[tuple(where)] = True
    return marked
