"""What every tile does, counted exactly: the part of the sweep of tiles that no clock changes.

Of a GPU only what its SMs hold decides: tiles of which no GPU holds a block are not counted.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np
import xarray as xr

from pipeline.counting.whole_tiles import WholeTiles
from pipeline.kernels.registry import KERNELS
from pipeline.sweep.layout import Sweep
from pipeline.sweep.tile_points import CUT, Screened, TileSpace, coordinates, misfit, screen
from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.sweeps import NO_RULE, RULES, TILE_COUNTS
from pipeline.vocab.variable import annotate


def count_sweep(limits: xr.Dataset, space: TileSpace) -> Sweep:
    """Lay out the counts of a space of tiles.

    Parameters
    ----------
    limits : (gpu)
        The figures of the GPUs that occupancy reads.
    space
        What is swept.
    """
    labels = coordinates(space).assign_coords(counter=list(COUNTERS))
    figures = limits.drop_attrs()
    return Sweep(
        name=f"counts of {space.name}",
        unit="points",
        coordinates=annotate(labels, TILE_COUNTS),
        chunks=CUT,
        compute=partial(count_tiles, limits=figures, space=space),
        census=partial(counted_by_rule, limits=figures, space=space),
    )


def counted_by_rule(part: xr.Dataset, limits: xr.Dataset, space: TileSpace) -> Mapping[str, int]:
    """Count kernels at sizes and tiles of a region by the rule that excludes them.

    Where the GPUs differ, by that of the GPU on which a tile comes furthest; arguments as of
    :func:`pipeline.sweep.tile_points.screen`.
    """
    rule = screen(part, limits, space).rule
    names = [*RULES, NO_RULE]
    furthest = (rule[..., None] == np.array(names)).argmax(axis=-1).max(axis=-1)
    often = np.bincount(furthest.ravel(), minlength=len(names))
    return dict(zip(names, often.tolist(), strict=True))


def count_tiles(part: xr.Dataset, limits: xr.Dataset, space: TileSpace) -> xr.Dataset:
    """Count a region.

    Parameters
    ----------
    part
        Coordinates of the region.
    limits : (gpu)
        The figures of the GPUs that occupancy reads.
    space
        What is swept.

    Returns
    -------
    xarray.Dataset
        ``count`` over (counter, kernel, n, tile): every counter, 0 where nothing runs.
    """
    screened = screen(part, limits, space)
    lengths = [part.sizes[axis] for axis in space.axes]
    values = _counts(screened, space)
    shape = (*values.shape[:3], *lengths)
    result = xr.Dataset({"count": (("counter", "kernel", "n", *space.axes), values.reshape(shape))})
    return annotate(result.assign_attrs(wavefronts=space.wavefronts), TILE_COUNTS)


def _counts(screened: Screened, space: TileSpace) -> np.ndarray:
    """Every counter over (counter, kernel, n, tile)."""
    runs = (screened.rule == NO_RULE).any(axis=-1)
    values = np.zeros((len(COUNTERS), *runs.shape), np.int64)
    counter = WholeTiles(space.wavefronts)
    for one in screened.launched:
        if not runs[one.kernel, :, one.tile].any():
            continue
        assert one.launch is not None
        fits = [not misfit(one.launch, n) for n in space.sizes]
        sizes = [n for n, fit in zip(space.sizes, fits, strict=True) if fit]
        kernel = KERNELS[space.kernels[one.kernel]]
        values[:, one.kernel, fits, one.tile] = counter.square(kernel, one.options, sizes).T
    return values
