"""The sweep of decode timelines as data of a page: every execution, its time and its parameters."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import xarray as xr

from pipeline.site import digits
from pipeline.site.thinning import thinned
from pipeline.vocab.sweeps import TIMELINE_AXES

MOST_POINTS = 60_000
"""Times that are shipped, of all executions and GPUs together; a finer sweep is thinned out."""

SAME = 1e-9
"""Relative difference below which times count as equal."""


def timeline_data(times: xr.Dataset) -> dict[str, Any]:
    """Arrange a sweep of timelines for the page that explores it.

    Parameters
    ----------
    times
        Store of the sweep, as :func:`pipeline.sweep.timelines.compute_timelines` describes it.

    Returns
    -------
    dict
        ``axes``: name, units and values of each parameter. ``executions``: label, ``axes`` that its
        time depends on, and per GPU the times (s) over these, the last one fastest; ``ideal``: the
        same of the time to read everything once at the full bandwidth. Times are written as
        :mod:`pipeline.site.digits` says, with ``low`` and ``step``.
    """
    axes = [name for name in TIMELINE_AXES if name in times.dims]
    executions = [str(one) for one in times["execution"].to_numpy()]
    needed = {one: _needed(times["t"].sel(execution=one), axes) for one in executions}
    kept = _thinned(times, needed)
    first = kept.sel(execution=executions[0])
    ideal = first["t"] * first["bandwidth_utilisation"]
    values = np.concatenate([kept["t"].to_numpy().ravel(), ideal.to_numpy().ravel()])
    grid = digits.scale(values)
    return {
        "model": str(times["model_name"].item()),
        "gpus": [
            [str(one), str(name)]
            for one, name in zip(times["gpu"].to_numpy(), times["gpu_name"].to_numpy(), strict=True)
        ],
        "axes": [
            [name, TIMELINE_AXES[name].units, kept[name].to_numpy().tolist()] for name in axes
        ],
        "signs": digits.SIGNS,
        "low": grid[0],
        "step": grid[1],
        "ideal": _written(ideal, _needed(ideal, axes), grid),
        "executions": [
            {"label": str(kept["execution_label"].sel(execution=one).item())}
            | _written(kept["t"].sel(execution=one), needed[one], grid)
            for one in executions
        ],
    }


def _needed(values: xr.DataArray, axes: Sequence[str]) -> list[str]:
    """List the axes along which ``values`` change."""
    table, same = values.to_numpy(), SAME * np.abs(values.to_numpy())
    places = ((axis, values.get_axis_num(axis)) for axis in axes)
    return [
        axis for axis, place in places if (np.abs(table - table.take([0], axis=place)) > same).any()
    ]


def _thinned(times: xr.Dataset, needed: dict[str, list[str]]) -> xr.Dataset:
    """Thin the axes until all executions together have few enough points."""

    def points() -> dict[str, int]:
        return {one: prod(kept.sizes[axis] for axis in needed[one]) for one in needed}

    kept, most = times, MOST_POINTS // times.sizes["gpu"]
    while sum(points().values()) > most:
        largest = max(needed, key=lambda one: points()[one])
        fewer = thinned(kept, needed[largest], points()[largest] - 1)
        if fewer.sizes == kept.sizes:
            break
        kept = fewer
    return kept


def _written(
    values: xr.DataArray, axes: Sequence[str], grid: tuple[float, float]
) -> dict[str, Any]:
    fixed = {str(dim): 0 for dim in values.dims if dim != "gpu" and dim not in axes}
    table = values.isel(fixed).transpose("gpu", *axes).to_numpy()
    return {"axes": list(axes), "times": [digits.encode(row.ravel(), *grid) for row in table]}
