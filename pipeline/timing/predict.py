"""Predicted times: the slowest of several resources, all kernels on all GPUs at once."""

from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np
import xarray as xr

from pipeline import units
from pipeline.errors import ModelError, VocabularyError
from pipeline.timing.dram import dram_bytes_square
from pipeline.timing.resources import RESOURCES, Resource
from pipeline.vocab.predictions import PREDICTIONS
from pipeline.vocab.traffic import TRAFFIC
from pipeline.vocab.variable import annotate

FLOP_PER_FMA = 2
NO_BOUND = "none"


def predict(
    counts: xr.Dataset,
    occupancy: xr.Dataset,
    gpus: xr.Dataset,
    resources: Sequence[Resource] = RESOURCES,
) -> xr.Dataset:
    """Predict the time of every kernel on every GPU at every size, and say what sets it.

    All resources overlap perfectly, so the time is the longest of theirs; latency, launch cost and
    the tail of the last wave are left out (docs/MODEL.md).

    Parameters
    ----------
    counts : (kernel, n, method)
        Counters at the sizes wanted. Where ``compulsory_bytes`` is among them, the kernels are no
        matrix products of the ladder, and it is their DRAM traffic.
    occupancy : (kernel, gpu)
        ``blocks_per_sm``, and over (kernel) ``tile_m``, ``tile_n`` and ``element_bytes`` (B; not
        needed with ``compulsory_bytes``). Kernels and GPUs that the other two datasets do not have
        are ignored.
    gpus : (gpu,)
        The rates that ``resources`` name, in SI units, and ``sm_count``.
    resources
        What can set the time. On a tie the first one is said to.

    Returns
    -------
    (kernel, gpu, n, method)
        ``t_<id>`` per resource and ``t`` (s), ``bound``, ``gflops`` (GFLOP/s), ``dram_bytes`` (B),
        ``arithmetic_intensity`` (FLOP/B). A kernel of which no block runs on an SM of a GPU has no
        time there: its numbers are NaN and its bound is ``none``.

    Raises
    ------
    VocabularyError
        If an input lacks a variable or a dimension.
    ModelError
        If ``occupancy`` lacks a kernel or a GPU that the other inputs have.
    """
    counts, occupancy, gpus = _needed(counts, occupancy, gpus, resources)
    labels = {
        name: source[name].drop_attrs().reset_coords(drop=True)
        for source, names in ((counts, ("kernel_number", "kernel_label")), (gpus, ("gpu_name",)))
        for name in names
        if name in source.coords
    }
    # Attributes and labels of the inputs do not describe what is computed from them.
    counts, occupancy, gpus = (
        data.drop_attrs().reset_coords(drop=True) for data in (counts, occupancy, gpus)
    )
    occupancy = occupancy.sel(kernel=counts["kernel"], gpu=gpus["gpu"])
    demands = counts.assign(dram_bytes=_dram_bytes(counts, occupancy, gpus["sm_count"]))
    runs = occupancy["blocks_per_sm"] > 0
    times = {one.id: one.time(demands, gpus).where(runs) for one in resources}
    slowest = reduce(xr.ufuncs.maximum, times.values())
    flop = FLOP_PER_FMA * demands["fma"]
    result = xr.Dataset(
        {f"t_{name}": time for name, time in times.items()}
        | {
            "t": slowest,
            "bound": _bound(times, slowest),
            "gflops": units.to_giga(flop / slowest),
            "dram_bytes": demands["dram_bytes"],
            "arithmetic_intensity": flop / demands["dram_bytes"],
        }
    )
    (full,) = xr.broadcast(result.assign_coords(labels))
    vocabulary = {f"t_{one.id}": one.variable for one in resources} | PREDICTIONS
    if "compulsory_bytes" in counts:
        vocabulary["dram_bytes"] = TRAFFIC["compulsory_bytes"]
    return annotate(full.transpose("kernel", "gpu", "n", "method", ...), vocabulary)


def _dram_bytes(counts: xr.Dataset, occupancy: xr.Dataset, sm_count: xr.DataArray) -> xr.DataArray:
    """DRAM traffic (B): as counted, or that of a product with all resident blocks at work."""
    if "compulsory_bytes" in counts:
        return counts["compulsory_bytes"]
    traffic: xr.DataArray = xr.apply_ufunc(
        dram_bytes_square,
        counts["n"],
        occupancy["tile_m"],
        occupancy["tile_n"],
        occupancy["blocks_per_sm"] * sm_count,
        occupancy["element_bytes"],
        dask="parallelized",
        output_dtypes=[np.float64],
    )
    return traffic


def _bound(times: dict[str, xr.DataArray], slowest: xr.DataArray) -> xr.DataArray:
    """Name the first resource that takes the whole time; NaN equals nothing and leaves none."""
    bound = xr.full_like(slowest, NO_BOUND, dtype=f"<U{max(map(len, [*times, NO_BOUND]))}")
    for name, time in reversed(times.items()):
        bound = bound.where(time != slowest, name)
    return bound


def _needed(
    counts: xr.Dataset, occupancy: xr.Dataset, gpus: xr.Dataset, resources: Sequence[Resource]
) -> tuple[xr.Dataset, xr.Dataset, xr.Dataset]:
    """Take of the inputs what is read; refuse those that lack any of it."""
    demands = {name for one in resources for name in one.demand} - {"dram_bytes"}
    figures = {name for one in resources for name in one.rate}
    measured = {"compulsory_bytes"} & set(counts)
    product = set() if measured else {"tile_m", "tile_n", "element_bytes"}
    needed = (
        _require("counts", counts, {"fma"} | demands | measured, ("kernel", "n", "method")),
        _require("occupancy", occupancy, {"blocks_per_sm"} | product, ("kernel", "gpu")),
        _require("gpus", gpus, {"sm_count"} | figures, ("gpu",)),
    )
    for dimension, wanted, source in (("kernel", counts, "counts"), ("gpu", gpus, "gpus")):
        absent = sorted(set(wanted[dimension].values) - set(occupancy[dimension].values))
        if absent:
            raise ModelError(
                f"predict: {source} has {dimension} {', '.join(map(str, absent))}, occupancy has "
                f"only {', '.join(map(str, occupancy[dimension].values))}; compute the occupancy "
                f"of every kernel on every GPU that is to be predicted"
            )
    return needed


def _require(
    name: str, data: xr.Dataset, variables: Iterable[str], dimensions: Sequence[str]
) -> xr.Dataset:
    """Take the variables; refuse a dataset that lacks any, or a dimension."""
    missing = sorted(set(variables) - set(data.data_vars))
    if missing:
        raise VocabularyError(
            f"predict: {name} lacks the variables {', '.join(missing)}; it has "
            f"{', '.join(sorted(map(str, data.data_vars))) or 'none'}"
        )
    unlabelled = [dimension for dimension in dimensions if dimension not in data.indexes]
    if unlabelled:
        raise VocabularyError(
            f"predict: {name} has no coordinate {', '.join(unlabelled)}; it must have the "
            f"dimensions ({', '.join(dimensions)}), also where they have one element"
        )
    return data[sorted(variables)]
