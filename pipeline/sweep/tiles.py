"""Sweep of tiles: predicted on every GPU from exact counts, the best kernel for every tile."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.sweep.layout import Sweep
from pipeline.sweep.tile_points import (
    CUT,
    Candidate,
    Screened,
    TileSpace,
    coordinates,
    explain,
    screen,
)
from pipeline.timing.predict import NO_BOUND, predict
from pipeline.vocab.sweeps import NO_RULE, RULES, TILES
from pipeline.vocab.variable import annotate

NO_KERNEL = "none"

_METHOD = "exact"
_PREDICTED = {"kernel_t": "t", "kernel_gflops": "gflops"}


def tile_sweep(gpus: xr.Dataset, counts: xr.Dataset, space: TileSpace) -> Sweep:
    """Lay out the sweep of a space of tiles.

    Parameters
    ----------
    gpus : (gpu)
        Every figure of the GPUs.
    counts : (counter, kernel, n, tile)
        What :func:`pipeline.sweep.tile_counts.count_tiles` gives for the space; may be lazy.
    space
        What is swept.
    """
    labels = coordinates(space).assign_coords(
        gpu=gpus["gpu"].to_numpy(), gpu_name=("gpu", gpus["gpu_name"].to_numpy())
    )
    figures = gpus.drop_attrs()
    return Sweep(
        name=space.name,
        unit="points",
        coordinates=annotate(labels, TILES),
        chunks=CUT,
        compute=partial(compute_tiles, gpus=figures, space=space),
        census=partial(count_by_rule, gpus=figures, space=space),
        given=counts,
    )


def count_by_rule(part: xr.Dataset, gpus: xr.Dataset, space: TileSpace) -> dict[str, int]:
    """Count the points of a region by the rule that excludes them; arguments as of ``screen``."""
    rule = screen(part, gpus, space).rule
    return {name: int(np.count_nonzero(rule == name)) for name in (*RULES, NO_RULE)}


def compute_tiles(part: xr.Dataset, gpus: xr.Dataset, space: TileSpace) -> xr.Dataset:
    """Compute all variables of a region.

    Parameters
    ----------
    part
        Coordinates of the region, and its counts.
    gpus : (gpu)
        Figures of the GPUs.
    space
        What is swept.

    Returns
    -------
    xarray.Dataset
        As ``pipeline.vocab.sweeps.TILES`` says. Variables without a matrix size hold that of
        ``space.n``, of the kernel that is fastest there, the first one on a tie.
    """
    screened = screen(part, gpus, space)
    each = _each_kernel(screened, part, gpus)
    best = _best(screened, each, gpus, space)
    lengths = [part.sizes[axis] for axis in space.axes]
    tile, per_kernel = (*space.axes, "gpu"), ("kernel", "n", *space.axes, "gpu")
    variables = {
        name: (tile, values.reshape(*lengths, gpus.sizes["gpu"])) for name, values in best.items()
    } | {
        name: (per_kernel, values.reshape(*values.shape[:2], *lengths, gpus.sizes["gpu"]))
        for name, values in each.items()
    }
    result = xr.Dataset(variables, attrs={"n": space.n, "wavefronts": space.wavefronts})
    return annotate(result, TILES)


def _each_kernel(screened: Screened, part: xr.Dataset, gpus: xr.Dataset) -> dict[str, NDArray[Any]]:
    """Predict every kernel with every tile that it takes: (kernel, n, tile, gpu)."""
    rule = screened.rule
    valid = rule == NO_RULE
    values: dict[str, NDArray[Any]] = {name: np.full(rule.shape, np.nan) for name in _PREDICTED} | {
        "kernel_bound": np.full(rule.shape, NO_BOUND, object),
        "excluded_by": rule,
    }
    counted = [one for one in screened.launched if valid[one.kernel, :, one.tile].any()]
    if counted:
        assert screened.resident is not None
        predicted = predict(_counts(counted, part), screened.resident, gpus).isel(method=0)
        predicted = predicted.transpose("kernel", "n", "gpu")
        kernels, tiles = ([one.kernel for one in counted], [one.tile for one in counted])
        for name, source in (_PREDICTED | {"kernel_bound": "bound"}).items():
            values[name][kernels, :, tiles] = predicted[source].to_numpy()
    for name in _PREDICTED:
        values[name][~valid] = np.nan
    values["kernel_bound"][~valid] = NO_BOUND
    return values


def _counts(counted: Sequence[Candidate], part: xr.Dataset) -> xr.Dataset:
    """Counters over (kernel, n, method), one entry of ``kernel`` per candidate."""
    held = part["count"].to_numpy()
    kernels, tiles = ([one.kernel for one in counted], [one.tile for one in counted])
    by_tile = held.reshape(*held.shape[:3], -1)[:, kernels, :, tiles]
    # Where a tile does not fit a size there are no counts, not counts of zero.
    values = np.where(by_tile.any(axis=1, keepdims=True), by_tile, np.nan)
    names = part["counter"].to_numpy().tolist()
    return xr.Dataset(
        {
            name: (("kernel", "n", "method"), values[:, number, :, None])
            for number, name in enumerate(names)
        },
        {"kernel": [one.name for one in counted], "n": part["n"].to_numpy(), "method": [_METHOD]},
    )


def _best(
    screened: Screened, each: dict[str, NDArray[Any]], gpus: xr.Dataset, space: TileSpace
) -> dict[str, NDArray[Any]]:
    """Pick the fastest kernel for every tile at the size of the sweep: (tile, gpu)."""
    size = space.sizes.index(space.n)
    rule, gflops = screened.rule[:, size], each["kernel_gflops"][:, size]
    valid = (rule == NO_RULE).any(axis=0)
    order = np.array([*RULES, NO_RULE])
    reached = np.argmax(rule[..., None] == order, axis=-1)
    # Where nothing runs, the kernel that gets furthest along the rules stands for all.
    chosen = np.argmax(np.where(valid, np.nan_to_num(gflops), reached), axis=0)

    def pick(values: NDArray[Any]) -> NDArray[Any]:
        picked: NDArray[Any] = np.take_along_axis(values, chosen[None], axis=0)[0]
        return picked

    facts = {name: pick(values) for name, values in _facts(screened).items()}
    return {
        "gflops": pick(gflops),
        "bound": pick(each["kernel_bound"][:, size]),
        "valid": valid,
        "invalid_reason": _reasons(screened, chosen, valid, gpus, space),
        "filled_by": np.where(valid, np.array(space.kernels, object)[chosen], NO_KERNEL),
        **facts,
        "blocks_per_sm": np.where(valid, facts["blocks_per_sm"], 0),
    }


def _facts(screened: Screened) -> dict[str, NDArray[np.int64]]:
    """Arrange launch facts and resident blocks, 0 where there is no launch: (kernel, tile, gpu)."""
    kernels, _, tiles, gpus = screened.rule.shape
    names = ("blocks_per_sm", "smem_bytes", "registers_per_thread", "threads_per_block")
    values = {name: np.zeros((kernels, tiles, gpus), np.int64) for name in names}
    if screened.resident is not None:
        where = ([one.kernel for one in screened.launched], [one.tile for one in screened.launched])
        resident = screened.resident.transpose("kernel", "gpu")
        for name in names:
            values[name][where] = resident[name].to_numpy().reshape(len(where[0]), -1)
    return values


def _reasons(
    screened: Screened,
    chosen: NDArray[np.intp],
    valid: NDArray[np.bool_],
    gpus: xr.Dataset,
    space: TileSpace,
) -> NDArray[np.object_]:
    """Say why nothing runs: (tile, gpu), empty where something does."""
    reasons = np.full(valid.shape, "", object)
    candidates = {(one.kernel, one.tile): one for one in screened.candidates}
    figures = [gpus.isel(gpu=i) for i in range(gpus.sizes["gpu"])]
    size = space.sizes.index(space.n)
    for tile, gpu in np.argwhere(~valid).tolist():
        kernel = int(chosen[tile, gpu])
        one, rule = candidates[kernel, tile], str(screened.rule[kernel, size, tile, gpu])
        reasons[tile, gpu] = f"{space.kernels[kernel]}: {explain(one, rule, space.n, figures[gpu])}"
    return reasons
