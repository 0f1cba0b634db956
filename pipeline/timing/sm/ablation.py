"""What each mechanism is worth: predictions without it, against measurements."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import xarray as xr

from pipeline.timing.sm.mechanisms import ALL, NAMES, Mechanisms
from pipeline.timing.sm.predict import predict_each
from pipeline.timing.sm.traced import Traced

_ONE_START = (0,)
"""What a mechanism is worth shows without the mean over starts, in half the time."""

NOTHING = "none"
"""What is left out where all is modelled."""


@dataclass(frozen=True)
class MeasuredLaunch:
    """A launch whose rate was measured.

    Attributes
    ----------
    kernel, gpu
        Names of the kernel and the GPU.
    traced
        The launch, as it is compiled for that GPU.
    seconds
        How long it takes (s).
    """

    kernel: str
    gpu: str
    traced: Traced
    seconds: float


def ablation(
    launches: Sequence[MeasuredLaunch], gpus: xr.Dataset, without: Sequence[str] = NAMES
) -> xr.Dataset:
    """Predict measured launches with one mechanism left out at a time.

    Parameters
    ----------
    launches
        What was measured.
    gpus : (gpu)
        As :func:`pipeline.hardware.sm_figures.sm_gpus` makes them.
    without
        Mechanisms to leave out.

    Returns
    -------
    (mechanism, launch)
        ``error``, predicted rate over measured - 1 (a share), first with all mechanisms
        (``none``). Over (mechanism): ``mape``, the mean of its size, NaN without
        launches; over (launch): ``kernel`` and ``gpu``.
    """
    settings = {NOTHING: ALL} | {name: ALL.without(name) for name in without}
    rows = [_errors(one, gpus, settings.values()) for one in launches]
    errors = np.array(rows).reshape(len(launches), len(settings)).T
    return xr.Dataset(
        {
            "error": (("mechanism", "launch"), errors),
            "mape": ("mechanism", [_mean(row) for row in np.abs(errors).tolist()]),
        },
        {
            "mechanism": list(settings),
            "kernel": ("launch", np.array([one.kernel for one in launches], str)),
            "gpu": ("launch", np.array([one.gpu for one in launches], str)),
        },
    )


def _mean(sizes: Sequence[float]) -> float:
    return fmean(sizes) if sizes else math.nan


def _errors(one: MeasuredLaunch, gpus: xr.Dataset, every: Iterable[Mechanisms]) -> list[float]:
    found = predict_each(one.traced, gpus.sel(gpu=one.gpu), every, starts=_ONE_START)
    return [one.seconds / prediction.seconds - 1 for prediction in found]
