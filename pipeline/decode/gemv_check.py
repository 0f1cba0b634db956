"""GEMV models against measurements: fitted, and tried on what they were not fitted to."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.decode.gemv import Line, calibrated_reach, fitted_line, gemv_time
from pipeline.decode.gpu_figures import decode_gpu_figures
from pipeline.decode.number_format import TYPE_BITS

SHAPES = {"all": 0.0, "large": 8e6}
"""Shapes that errors are taken over -> least weights (B); the published lines are of large ones."""

HELD_OUT = ("nothing", "shape", "gpu")
"""What a model does not see of what it is tried on."""

# A product that reads next to nothing says nothing about bandwidth.
_LEAST_TO_CALIBRATE = 1e5
_BITS_PER_BYTE = 8

Predictor = Callable[[pd.DataFrame], "pd.Series[float]"]


@dataclass(frozen=True)
class Gemvs:
    """Measured products on known GPUs, and all that is known of the GPUs.

    Attributes
    ----------
    frame
        A line per product: ``gpu``, ``rows``, ``row_bytes`` and ``bytes`` (B), ``measured`` (s).
    measured
        All measurements.
    gpus
        Sheets of the GPUs.
    """

    frame: pd.DataFrame
    measured: xr.Dataset
    gpus: xr.Dataset

    def without(self, gpu: str, rows: float, columns: float, whole_gpu: bool) -> xr.Dataset:
        """All measurements but those of one shape, or but all GEMVs of one GPU."""
        gemvs = self.measured["workload"].isin(["gemv", "gemv_fit"])
        same_shape = (self.measured["rows"] == rows) & (self.measured["columns"] == columns)
        hidden = gemvs & ((self.measured["gpu"] == gpu) if whole_gpu else same_shape)
        return self.measured.isel(measurement=np.flatnonzero(~hidden))


def gemvs(measured: xr.Dataset, gpus: xr.Dataset) -> Gemvs:
    """Pick the measured products on GPUs that are known.

    Parameters
    ----------
    measured : (measurement,)
        As ``decode_figures`` reads them.
    gpus : (gpu,)
        Sheets.
    """
    chosen = (measured["workload"] == "gemv") & measured["gpu"].isin(gpus["gpu"].values)
    rows = measured.isel(measurement=np.flatnonzero(chosen))
    frame = rows[["gpu", "rows", "columns", "dtype", "measured"]].to_dataframe()
    bits = frame["dtype"].map(lambda dtype: TYPE_BITS[str(dtype)])
    frame["row_bytes"] = np.ceil(frame["columns"] * bits / _BITS_PER_BYTE)
    frame["bytes"] = frame["rows"] * frame["row_bytes"]
    frame["gpu"] = frame["gpu"].astype(str)
    return Gemvs(frame, measured, gpus)


def physical(known: xr.Dataset, gpus: xr.Dataset, reach: float | None = None) -> Predictor:
    """Make a predictor from what is known, with the reach that fits it best or one that is given.

    Parameters
    ----------
    known : (measurement,)
        Measurements.
    gpus : (gpu,)
        Sheets.
    reach
        Share of the read bandwidth.
    """
    figures = decode_gpu_figures(known, gpus)
    share = calibrate(gemvs(known, gpus), figures) if reach is None else reach
    figures = figures.assign(gemv_reach=xr.full_like(figures["gemv_reach"], share))

    def predict(frame: pd.DataFrame) -> "pd.Series[float]":
        times = gemv_time(*_arrays(frame), _at(figures, frame))
        return pd.Series(times.values, frame.index)

    return predict


def lines(known: Gemvs, least_bytes: float) -> dict[str, Line]:
    """Fit a straight line per GPU through the products of at least so many bytes."""
    large = known.frame[known.frame["bytes"] >= least_bytes]
    return {
        str(gpu): fitted_line(rows["bytes"].to_list(), rows["measured"].to_list())
        for gpu, rows in large.groupby("gpu", sort=False)
        if len(set(rows["bytes"])) > 1
    }


def calibrate(known: Gemvs, figures: xr.Dataset) -> float:
    """Find the share of the read bandwidth that GEMV kernels reach on all GPUs together.

    Every shape counts once as it was measured, and once as the published straight lines of the same
    GPU have it: they are what is known of the shapes that are not published one by one.

    Parameters
    ----------
    known
        Products.
    figures : (gpu,)
        What else the time depends on.
    """
    frame = known.frame[known.frame["bytes"] >= _LEAST_TO_CALIBRATE]
    parts = [frame.assign(weight=1.0)]
    large = frame[frame["bytes"] >= SHAPES["large"]]
    for gpu, published in published_lines(known.measured).items():
        rows = large[large["gpu"] == gpu]
        parts += [
            rows.assign(
                measured=line.intercept + rows["bytes"] * line.per_byte, weight=1 / len(published)
            )
            for line in published
        ]
    every = pd.concat(parts)
    times, weights = (
        xr.DataArray(every[name].to_numpy(), dims="measurement") for name in ("measured", "weight")
    )
    return calibrated_reach(*_arrays(every), times, weights, _at(figures, every))


def published_lines(measured: xr.Dataset) -> dict[str, list[Line]]:
    """Take the published straight lines, one per GPU and engine; of bounds, the middle."""
    chosen = measured["workload"] == "gemv_fit"
    rows = measured.isel(measurement=np.flatnonzero(chosen))
    names = ("gpu", "engine", "metric", "measured")
    columns = [rows[name].to_numpy().tolist() for name in names]
    values: dict[tuple[str, str], dict[str, list[float]]] = {}
    for gpu, engine, metric, value in zip(*columns, strict=True):
        values.setdefault((gpu, engine), {}).setdefault(metric, []).append(value)
    found: dict[str, list[Line]] = {}
    for (gpu, _), terms in values.items():
        line = Line(fmean(terms["fit_intercept"]), 1 / fmean(terms["fit_bandwidth"]))
        found.setdefault(gpu, []).append(line)
    return found


def held_out_errors(known: Gemvs, reach: float) -> xr.Dataset:
    """Mean absolute relative errors of both models, with nothing held out and with something.

    Parameters
    ----------
    known
        Products.
    reach
        Share of the read bandwidth, for the physical model with nothing held out.

    Returns
    -------
    (shapes, held_out, gpu, gemv_model)
        ``gemv_mape``; NaN where a model cannot say anything: a line of its own per GPU does not
        carry over to another. With a shape held out, the smallest is not tried.
    """
    gpus = list(dict.fromkeys(known.frame["gpu"]))
    models = ("straight_line", "physical")
    values = np.full((len(SHAPES), len(HELD_OUT), len(gpus), len(models)), np.nan)
    for s, least in enumerate(SHAPES.values()):
        large = known.frame[known.frame["bytes"] >= least]
        for h, held_out in enumerate(HELD_OUT):
            predicted = _predictions(known, large, least, held_out, reach)
            for m, times in enumerate(predicted):
                error = (times / large["measured"] - 1).abs()
                values[s, h, :, m] = [error[large["gpu"] == gpu].mean() for gpu in gpus]
    return xr.Dataset(
        {"gemv_mape": (("shapes", "held_out", "gemv_gpu", "gemv_model"), values)},
        coords={
            "shapes": list(SHAPES),
            "held_out": list(HELD_OUT),
            "gemv_gpu": gpus,
            "gemv_model": list(models),
        },
    )


def _predictions(
    known: Gemvs, tried: pd.DataFrame, least: float, held_out: str, reach: float
) -> tuple["pd.Series[float]", "pd.Series[float]"]:
    """Give times by the straight line, and by the physical model."""
    if held_out == "nothing":
        by_line = _by_line(lines(known, least), tried)
        return by_line, physical(known.measured, known.gpus, reach)(tried)
    whole_gpu = held_out == "gpu"
    by_line, by_model = pd.Series(np.nan, tried.index), pd.Series(np.nan, tried.index)
    key = ["gpu"] if whole_gpu else ["rows", "columns"]
    for _, group in tried.groupby(key, sort=False):
        first = group.iloc[0]
        rest = known.without(first["gpu"], first["rows"], first["columns"], whole_gpu)
        seen = gemvs(rest, known.gpus)
        # The smallest product is not tried: it is what the start of a kernel is known from.
        if len(seen.frame) and (whole_gpu or first["bytes"] >= _LEAST_TO_CALIBRATE):
            by_line[group.index] = _by_line(lines(seen, least), group)
            by_model[group.index] = physical(rest, known.gpus)(group)
    return by_line, by_model


def _by_line(fitted: dict[str, Line], frame: pd.DataFrame) -> "pd.Series[float]":
    times = [
        fitted[gpu].time(read) if gpu in fitted else np.nan
        for gpu, read in zip(frame["gpu"], frame["bytes"], strict=True)
    ]
    return pd.Series(times, frame.index, dtype=float)


def _arrays(frame: pd.DataFrame) -> tuple[xr.DataArray, xr.DataArray]:
    rows, row_bytes = (
        xr.DataArray(frame[name].to_numpy(), dims="measurement") for name in ("rows", "row_bytes")
    )
    return rows, row_bytes


def _at(figures: xr.Dataset, frame: pd.DataFrame) -> xr.Dataset:
    """Figures of the GPU of each line."""
    of_gpus = figures[[name for name, held in figures.data_vars.items() if held.dims == ("gpu",)]]
    where = xr.DataArray(frame["gpu"].to_list(), dims="measurement")
    return of_gpus.sel(gpu=where).reset_coords(drop=True)
