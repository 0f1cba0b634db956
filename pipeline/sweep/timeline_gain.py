"""By how much one way to launch a step beats another, all over a sweep of timelines.

The sweep may be larger than memory: everything here is reduced chunk by chunk. What is reduced are
extremes and counts, which come out the same in any order.
"""

import numpy as np
import xarray as xr

from pipeline.vocab.sweeps import GAIN_PAIRS, TIMELINE_AXES, TIMELINE_GAIN
from pipeline.vocab.variable import Variable, annotate


def timeline_gain(times: xr.Dataset, reference: str, compared: str) -> xr.Dataset:
    """Reduce a sweep of timelines to the gain of one execution over another.

    Parameters
    ----------
    times
        Store of the sweep, opened lazily.
    reference, compared
        Ids of the executions.

    Returns
    -------
    xarray.Dataset
        Over (gpu): ``gain`` in the middle of the space, ``least_gain``, ``most_gain``, ``points``,
        and ``losing``, how many of them have a gain of at most 1. For each pair of parameters,
        over (gpu, the two): ``gain_<a>_<b>`` with the others in the middle, and
        ``least_gain_<a>_<b>`` over all of the others. Coordinates name the middle of each
        parameter, as ``middle_<name>``.
    """
    t = times["t"]
    gain = t.sel(execution=reference, drop=True) / t.sel(execution=compared, drop=True)
    axes = [name for name in TIMELINE_AXES if name in gain.dims]
    middle = {axis: (gain.sizes[axis] - 1) // 2 for axis in axes}
    reduced = {
        "gain": gain.isel(middle, drop=True),
        "least_gain": gain.min(axes),
        "most_gain": gain.max(axes),
        "losing": (gain <= 1).sum(axes),
    }
    for pair in GAIN_PAIRS:
        others = {axis: place for axis, place in middle.items() if axis not in pair}
        name = "_".join(pair)
        reduced[f"gain_{name}"] = gain.isel(others, drop=True).transpose("gpu", *pair)
        reduced[f"least_gain_{name}"] = gain.min(list(others)).transpose("gpu", *pair)
    result = xr.Dataset(reduced).compute()
    points = np.prod([gain.sizes[axis] for axis in axes])
    middles = {f"middle_{axis}": gain[axis][place].item() for axis, place in middle.items()}
    named = result.assign(points=("gpu", np.full(gain.sizes["gpu"], points))).assign_coords(
        reference=reference,
        compared=compared,
        reference_label=_label(times, reference),
        compared_label=_label(times, compared),
        **middles,
    )
    return annotate(named, _vocabulary())


def _label(times: xr.Dataset, execution: str) -> str:
    return str(times["execution_label"].sel(execution=execution).item())


def _vocabulary() -> dict[str, Variable]:
    pairs = {
        f"{kind}_{a}_{b}": Variable("1", f"{TIMELINE_GAIN[kind].long_name} but {a} and {b}")
        for a, b in GAIN_PAIRS
        for kind in ("gain", "least_gain")
    }
    middles = {
        f"middle_{name}": Variable(axis.units, f"middle value: {axis.long_name}")
        for name, axis in TIMELINE_AXES.items()
    }
    ways = {
        "reference": Variable("1", "execution that is compared with"),
        "compared": Variable("1", "execution whose gain this is"),
        "reference_label": Variable("1", "name of the reference as shown to readers"),
        "compared_label": Variable("1", "name of the execution compared as shown to readers"),
    }
    return TIMELINE_GAIN | pairs | middles | ways
