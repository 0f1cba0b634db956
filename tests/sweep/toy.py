"""A sweep whose result anybody can check, for the tests of everything around it."""

import os
import signal
import time
from functools import partial

import numpy as np
import xarray as xr

from pipeline.sweep.execute import SAMPLES
from pipeline.sweep.layout import Sweep
from pipeline.vocab.sweeps import NO_RULE

LABELS = {"units": "1", "long_name": "a number"}


def coordinates(x=6, y=4, label=2):
    """Three dimensions, one of them text."""
    dataset = xr.Dataset(
        coords={"x": np.arange(x) * 0.5, "y": np.arange(y), "label": list("abcdefgh")[:label]}
    )
    for name in dataset.variables:
        dataset[name].attrs.update(LABELS)
    return dataset


def sweep(chunks=None, compute=None, **sizes):
    """Lay out the sweep of :func:`computed`, or of another function of the same shape."""
    return Sweep(
        name="toy",
        unit="points",
        coordinates=coordinates(**sizes),
        chunks=chunks or {"x": 2, "y": 3},
        compute=compute or computed,
        census=census,
    )


def census(part):
    return {NO_RULE: part.sizes["x"] * part.sizes["y"] * part.sizes["label"]}


def computed(part):
    """Numbers, flags and text over all dimensions."""
    value = (
        part.x * 10
        + part.y
        + xr.DataArray([len(text) for text in part.label.to_numpy()], {"label": part.label})
    )
    variables = {
        "value": value.transpose("x", "y", "label"),
        "small": (value > 20).transpose("x", "y", "label"),
        "text": value.transpose("x", "y", "label").astype(str).astype(object),
    }
    result = xr.Dataset(
        {name: one.drop_vars(one.coords).variable for name, one in variables.items()}
    )
    for name in result.variables:
        result[name].attrs.update(LABELS)
    return result


def slow(part, seconds):
    """The same, later."""
    time.sleep(seconds)
    return computed(part)


def slowly(seconds=0.2):
    return partial(slow, seconds=seconds)


def odd(part):
    """Lack a variable in the regions far down."""
    result = computed(part)
    return result if float(part.x[0]) < 1 else result.drop_vars("text")


def failing_late():
    """Fail at the first region that is computed after the samples."""
    return _FailingLate()


class _FailingLate:
    """Counts its calls; only for threads of one process."""

    def __init__(self):
        self.calls = 0

    def __call__(self, part):
        self.calls += 1
        if self.calls > SAMPLES:
            raise RuntimeError("enough")
        return computed(part)


def kill(part, main):
    """Kill every process that computes it, but for the one that asked."""
    if os.getpid() != main:
        os.kill(os.getpid(), signal.SIGKILL)
    return computed(part)


def killing(main):
    return partial(kill, main=main)


def noise(part):
    """Numbers that no compressor makes smaller."""
    seed = [int(2 * part.x[0]), int(part.y[0])]
    value = np.random.default_rng(seed).random([part.sizes[d] for d in ("x", "y", "label")])
    result = computed(part)
    result["value"].values[:] = value
    return result


def whole():
    """What every store of the sweep must hold."""
    grid = coordinates()
    return computed(grid).assign_coords(grid.coords)
