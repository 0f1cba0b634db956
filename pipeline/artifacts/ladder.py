"""The kernels of the ladder as readers see them, with the published rates beside them."""

import re

import numpy as np
import pandas as pd
import xarray as xr

_STEP = re.compile(r"k\d\d(?=_)")
_LIBRARIES = {"cublas": "cuBLAS"}


def tag(kernel: str) -> str:
    """Shortest name of a kernel.

    >>> tag("k01_naive"), tag("cublas"), tag("transpose")
    ('k01', 'cuBLAS', 'transpose')
    """
    step = _STEP.match(kernel)
    return step.group() if step else _LIBRARIES.get(kernel, kernel)


def name(kernel: str, label: str | None = None) -> str:
    """Short name of a kernel; a kernel that is only published has no label of its own.

    >>> name("k03_smem", "shared memory"), name("k10_warptiled")
    ('k03 shared memory', 'k10 warptiled')
    """
    if not _STEP.match(kernel):
        return label or tag(kernel)
    return f"{tag(kernel)} {label or kernel.partition('_')[2].replace('_', ' ')}"


def by_kernel(dataset: xr.Dataset) -> pd.DataFrame:
    """Tabulate a dataset, steps of the ladder in their order, with a column ``kernel_name``.

    Parameters
    ----------
    dataset : (kernel, ...)
        With the coordinates ``kernel_number`` and ``kernel_label``.

    Returns
    -------
    One row per element; dimensions and coordinates are columns.
    """
    frame = dataset.sortby("kernel_number").to_dataframe().reset_index()
    names = [
        name(kernel, label)
        for kernel, label in zip(frame["kernel"], frame["kernel_label"], strict=True)
    ]
    frame.insert(0, "kernel_name", names)
    return frame


def published(measured: xr.Dataset, n: int) -> pd.DataFrame:
    """Tabulate the published rates at size ``n``: steps of the ladder, then libraries.

    Parameters
    ----------
    measured : (measurement,)
        ``kernel``, ``gpu``, ``n``, ``measured_gflops``.
    n
        Matrix size.

    Returns
    -------
    Columns ``gpu``, ``kernel``, ``kernel_name``, ``measured_gflops`` (GFLOP/s).
    """
    rates = measured[["gpu", "kernel", "n", "measured_gflops"]].to_dataframe()
    rates = rates[rates["n"] == n].drop(columns="n")
    rates["kernel_name"] = [name(kernel) for kernel in rates["kernel"]]
    is_library = rates["kernel"].isin(_LIBRARIES)
    return rates.assign(is_library=is_library).sort_values(
        ["gpu", "is_library", "kernel"], ignore_index=True
    )[["gpu", "kernel", "kernel_name", "measured_gflops"]]


def with_published(predicted: pd.DataFrame, measured: xr.Dataset, n: int) -> pd.DataFrame:
    """Put ``measured_gflops`` beside predictions; NaN where nobody published a rate.

    Parameters
    ----------
    predicted
        With columns ``gpu`` and ``kernel``.
    measured, n
        As in :func:`published`.
    """
    rates = published(measured, n)[["gpu", "kernel", "measured_gflops"]]
    return predicted.merge(rates, how="left", on=["gpu", "kernel"])


def mean_absolute_error(ratios: pd.Series) -> float:
    """Mean of |predicted / measured - 1| over all that were measured; NaN if nothing was."""
    return float(np.abs(ratios.dropna() - 1).mean())
