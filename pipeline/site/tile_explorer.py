"""The sweep of tiles as data of a page: every tile on every GPU, its rate or why it is excluded."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from pipeline.artifacts.ladder import tag
from pipeline.artifacts.style import resource_name
from pipeline.site.thinning import thinned
from pipeline.vocab.sweeps import TILE_AXES

RATE_DIGITS = 4
"""Significant digits of rates that are shipped."""

SHOWN = ("gflops", "bound", "filled_by", "invalid_reason")
"""Variables of a sweep that are looked at."""

MOST_POINTS = 200_000
"""Tiles times GPUs that are shipped; a finer sweep is thinned out."""


def tile_data(tiles: xr.Dataset) -> dict[str, Any]:
    """Arrange a sweep of tiles for the page that explores it.

    Parameters
    ----------
    tiles
        Store of a sweep, as :func:`pipeline.sweep.tiles.compute_tiles` describes it.

    Returns
    -------
    dict
        ``axes``: name and values (elements) of each axis, the last one fastest in the lists that
        follow. ``reasons``: (kernel, rule, words). ``common``: of each tile, 1 + the reason that
        excludes it on every GPU alike, or 0. Per GPU, of the tiles with 0 in turn: ``rates``, the
        rate in GFLOP/s, or minus (1 + reason); ``fills``, the place of (kernel, bound) in
        ``pairs``, or -1.
    """
    axes = [name for name in TILE_AXES if name in tiles.dims]
    part = thinned(tiles[list(SHOWN)], axes, MOST_POINTS // tiles.sizes["gpu"])
    flat = {name: _flat(part[name], axes) for name in SHOWN}
    gpus = part.sizes["gpu"]
    reasons, why = _numbered(flat["invalid_reason"])
    alike = (why == why[0]).all(axis=0) & (flat["invalid_reason"][0] != "")
    coded = np.where(flat["gflops"] > 0, 0, -1 - why)
    pairs, fills = _pairs(flat["filled_by"], flat["bound"], coded == 0)
    return {
        "n": int(tiles.attrs["n"]),
        "axes": [[name, part[name].to_numpy().tolist()] for name in axes],
        "reasons": [_taken_apart(reason) for reason in reasons],
        "pairs": pairs,
        "common": np.where(alike, 1 + why[0], 0).tolist(),
        "gpus": [
            {
                "id": str(part["gpu"].to_numpy()[place]),
                "name": str(part["gpu_name"].to_numpy()[place]),
                "rates": [
                    _rounded(rate) if code == 0 else int(code)
                    for rate, code in zip(
                        flat["gflops"][place, ~alike], coded[place, ~alike], strict=True
                    )
                ],
                "fills": fills[place, ~alike].tolist(),
            }
            for place in range(gpus)
        ],
    }


def _flat(values: xr.DataArray, axes: Sequence[str]) -> NDArray[Any]:
    """Lay values out over (gpu, tile)."""
    table = values.transpose("gpu", *axes).to_numpy()
    table = table if table.dtype.kind == "f" else table.astype(object)
    return table.reshape(table.shape[0], -1)


def _numbered(texts: NDArray[Any]) -> tuple[list[str], NDArray[np.int64]]:
    """Give the texts there are, in order, and the place of each element among them."""
    places, names = pd.factorize(texts.ravel(), sort=True)
    return names.tolist(), places.reshape(texts.shape)


def _pairs(
    kernels: NDArray[Any], bounds: NDArray[Any], runs: NDArray[np.bool_]
) -> tuple[list[list[str]], NDArray[np.int64]]:
    names, place = _numbered(kernels[runs] + " " + bounds[runs])
    fills = np.full(runs.shape, -1, np.int64)
    fills[runs] = place
    pairs = [name.partition(" ") for name in names]
    return [[tag(kernel), resource_name(bound)] for kernel, _, bound in pairs], fills


def _taken_apart(reason: str) -> list[str]:
    """Take ``kernel: rule: words`` apart."""
    kernel, _, rest = reason.partition(": ")
    rule, _, words = rest.partition(": ")
    return [tag(kernel), rule, words]


def _rounded(rate: float) -> float:
    """Keep some significant digits, as a whole number where that says the same."""
    kept = float(f"{rate:.{RATE_DIGITS}g}")
    return int(kept) if kept.is_integer() else kept
