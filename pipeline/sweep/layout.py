"""A sweep as data: coordinates, regions, and what the store of its results will hold."""

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import dask.array
import numpy as np
import xarray as xr

Region = Mapping[str, slice]
"""A part of every swept dimension that is cut; whole chunks of the store."""


@dataclass(frozen=True)
class Sweep:
    """A function over a grid of coordinates, cut into regions that are computed one by one.

    Attributes
    ----------
    name
        As shown to readers.
    unit
        What its points are.
    coordinates
        All coordinates, no variables.
    chunks
        Length of a region along each dimension that is cut; every variable has these dimensions.
    compute
        Takes the coordinates of one region and gives all variables there, in memory. Its result
        depends on nothing else. It can be pickled.
    census
        Takes the coordinates of one region and counts its points by the rule that excludes them,
        those that are computed under ``pipeline.vocab.sweeps.NO_RULE``.
    given
        What ``compute`` takes besides coordinates: variables over them, which may be lazy. Each
        region gets its part of them.
    """

    name: str
    unit: str
    coordinates: xr.Dataset
    chunks: Mapping[str, int]
    compute: Callable[[xr.Dataset], xr.Dataset]
    census: Callable[[xr.Dataset], Mapping[str, int]]
    given: xr.Dataset = field(default_factory=xr.Dataset)

    def regions(self) -> list[Region]:
        """Cut the grid; the last dimension varies fastest."""
        cuts = [
            [slice(i, min(i + step, self.coordinates.sizes[dim])) for i in self._starts(dim, step)]
            for dim, step in self.chunks.items()
        ]
        return [dict(zip(self.chunks, cut, strict=True)) for cut in itertools.product(*cuts)]

    def part(self, region: Region) -> xr.Dataset:
        """Coordinates of a region, and what is given there."""
        given = self.given.isel(dict(region), missing_dims="ignore")
        return self.coordinates.isel(dict(region)).assign(given.data_vars)

    def _starts(self, dim: str, step: int) -> range:
        return range(0, self.coordinates.sizes[dim], step)


def template(sweep: Sweep, sample: xr.Dataset) -> xr.Dataset:
    """Lay out the whole result, without values.

    Parameters
    ----------
    sweep
        The sweep.
    sample
        What its ``compute`` gives for any one region.

    Returns
    -------
    xarray.Dataset
        All coordinates in memory, and lazy variables in chunks of one region each.
    """
    variables = {
        name: (value.dims, _empty(sweep, value), value.attrs)
        for name, value in sample.data_vars.items()
    }
    labelled = {name: sweep.coordinates[name] for name in sweep.coordinates.coords}
    return xr.Dataset(variables, labelled, sample.attrs)


def _empty(sweep: Sweep, value: xr.DataArray) -> dask.array.Array:
    shape = tuple(sweep.coordinates.sizes[str(dim)] for dim in value.dims)
    chunks = tuple(
        sweep.chunks.get(str(dim), size) for dim, size in zip(value.dims, shape, strict=True)
    )
    kind = "U1" if value.dtype.kind in "OUT" else value.dtype
    return dask.array.zeros(shape, dtype=kind, chunks=chunks)


def balanced_chunks(sizes: Mapping[str, int], most: int) -> dict[str, int]:
    """Halve the longest dimensions until a chunk has at most ``most`` points.

    Few chunks then stand side by side along any one dimension, so that a reduction along it holds
    few of them at a time.

    Parameters
    ----------
    sizes
        Length of each dimension.
    most
        Points per chunk.

    >>> balanced_chunks({"a": 8, "b": 3}, 7)
    {'a': 2, 'b': 3}
    """
    chunks = dict(sizes)
    while math.prod(chunks.values()) > max(1, most):
        longest = max(chunks, key=lambda dim: chunks[dim])
        chunks[longest] = -(-chunks[longest] // 2)
    return chunks


def digest(*parts: Any) -> str:
    """Digest of what a sweep's result depends on, datasets and plain values."""
    total = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            total.update(piece)
    return total.hexdigest()


def _pieces(part: Any) -> Iterator[bytes]:
    if isinstance(part, xr.Dataset):
        for name in sorted(part.variables, key=str):
            yield from _array(name, part[name].variable)
    else:
        yield json.dumps(part, sort_keys=True).encode()


def _array(name: Hashable, variable: xr.Variable) -> Iterator[bytes]:
    values = variable.to_numpy()
    yield f"{name} {variable.dims} {values.shape} {values.dtype.kind}".encode()
    is_number = values.dtype.kind in "biuf"
    yield (
        np.ascontiguousarray(values).tobytes()
        if is_number
        else json.dumps(values.astype(object).tolist()).encode()
    )
