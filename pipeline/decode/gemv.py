"""Time of one matrix-vector product (GEMV) as a kernel of its own.

An SM has eight rows under way, one per warp, and of each row at most 2 KiB: four loads of 16 B in
each of 32 lanes, more of which no longer helps. Rows are worked off in waves over all SMs, and the
last wave takes as long as a whole one, because an SM gets no more than its share of the bandwidth.
By Little's law a row takes no less than a latency per load, and until as much is under way as can
be, a latency goes by.

    ramp = dram_latency * min(1, bytes / (sm_count * 8 * 2 KiB))
    t = start + ramp + max(waves * 8 * row_bytes * sm_count / bandwidth,
                           (waves * loads - 1) * dram_latency)

``start`` is the time of a product that reads next to nothing, launch included. ``bandwidth`` is
what a plain read reaches, times the share of it that such kernels reach.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.decode.operations import Amount

ROWS_IN_FLIGHT = 8
ROW_BYTES_IN_FLIGHT = 32 * 16 * 4


def gemv_time(rows: Amount, row_bytes: Amount, figures: xr.Dataset) -> xr.DataArray:
    """Predict the time of GEMV kernels in a CUDA graph.

    Parameters
    ----------
    rows : (...)
        Outputs.
    row_bytes : (...)
        Weights of one output (B), scales included.
    figures : (...)
        Those of :func:`pipeline.decode.gpu_figures.decode_gpu_figures`.

    Returns
    -------
    Time (s) from the end of the kernel before to the end of this one.
    """
    fixed, reading = _fixed_and_reading(rows, row_bytes, figures)
    return fixed + xr.ufuncs.maximum(
        reading / figures["gemv_reach"], _latency_bound(rows, row_bytes, figures)
    )


def calibrated_reach(
    rows: Amount,
    row_bytes: Amount,
    times: xr.DataArray,
    weights: xr.DataArray,
    figures: xr.Dataset,
) -> float:
    """Share of the read bandwidth with the smallest mean absolute error, relative to ``times``.

    Parameters
    ----------
    rows, row_bytes, figures : (measurement,)
        As for :func:`gemv_time`.
    times, weights : (measurement,)
        What was measured (s), and how much it counts.
    """
    fixed, reading = _fixed_and_reading(rows, row_bytes, figures)
    # The time is linear in 1 / reach, so that is a weighted median.
    inverse = ((times - fixed) / reading).values
    order = np.argsort(inverse, kind="stable")
    below = np.cumsum((weights * reading / times).values[order])
    return float(1 / inverse[order][np.searchsorted(below, below[-1] / 2)])


def _fixed_and_reading(
    rows: Amount, row_bytes: Amount, figures: xr.Dataset
) -> tuple[xr.DataArray, xr.DataArray]:
    """Give what the reach of the bandwidth does not change, and what is divided by it (s)."""
    under_way = ROWS_IN_FLIGHT * ROW_BYTES_IN_FLIGHT * figures["sm_count"]
    ramp = figures["dram_latency"] * xr.ufuncs.minimum(rows * row_bytes / under_way, 1)
    per_wave = ROWS_IN_FLIGHT * row_bytes * figures["sm_count"]
    reading = _waves(rows, figures) * per_wave / figures["read_bandwidth"]
    return figures["smallest_gemv"] + ramp, reading


def _latency_bound(rows: Amount, row_bytes: Amount, figures: xr.Dataset) -> xr.DataArray:
    return (_waves(rows, figures) * _loads(row_bytes) - 1) * figures["dram_latency"]


def _waves(rows: Amount, figures: xr.Dataset) -> xr.DataArray:
    waves: xr.DataArray = xr.ufuncs.ceil(rows / (ROWS_IN_FLIGHT * figures["sm_count"]))
    return waves


def _loads(row_bytes: Amount) -> Amount:
    loads: Amount = xr.ufuncs.ceil(row_bytes / ROW_BYTES_IN_FLIGHT)
    return loads


@dataclass(frozen=True)
class Line:
    """A straight line: ``intercept`` (s) and ``per_byte`` (s/B)."""

    intercept: float
    per_byte: float

    def time(self, bytes_: Amount) -> Amount:
        """Time (s) of what reads ``bytes_`` (B)."""
        return self.intercept + bytes_ * self.per_byte


def fitted_line(bytes_: Sequence[float], times: Sequence[float]) -> Line:
    """Fit a straight line with the least squares of relative errors.

    Parameters
    ----------
    bytes_, times : (measurement,)
        What was read (B) and how long it took (s); at least two sizes.
    """
    measured: NDArray[np.float64] = np.asarray(times, np.float64)
    terms = np.stack([1 / measured, np.asarray(bytes_) / measured], axis=1)
    intercept, per_byte = np.linalg.lstsq(terms, np.ones(measured.size), rcond=None)[0]
    return Line(float(intercept), float(per_byte))
