"""The kernels of the ladder as readers see them, with the published rates beside them."""

import re
from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.words import Say, listed

_STEP = re.compile(r"k\d\d(?=_|$)")
# Steps in a row that are still named one by one.
SHORT_RUN = 2
_LIBRARIES = {"cublas": "cuBLAS"}


def tag(kernel: str) -> str:
    """Shortest name of a kernel.

    >>> tag("k01_naive"), tag("cublas"), tag("transpose")
    ('k01', 'cuBLAS', 'transpose')
    """
    step = _STEP.match(kernel)
    return step.group() if step else _LIBRARIES.get(kernel, kernel)


def tags(kernels: Iterable[str], say: Say) -> str:
    """Name kernels in one line, steps of the ladder that follow each other as a range.

    >>> from pipeline.words import english
    >>> tags(["k05_blocktile_2d", "k06_vectorized", "k07_banks_linearized", "k11_x"], english)
    'k05 to k07, k11'
    """
    runs: list[list[str]] = []
    for one in dict.fromkeys(map(tag, kernels)):
        follows = runs and _STEP.fullmatch(one) and _step_after(runs[-1][-1]) == one
        runs[-1].append(one) if follows else runs.append([one])
    named = [
        say("{first} to {last}").format(first=run[0], last=run[-1])
        if len(run) > SHORT_RUN
        else listed(run, say)
        for run in runs
    ]
    return listed(named, say)


def _step_after(step: str) -> str:
    return f"k{int(step[1:]) + 1:02d}" if _STEP.fullmatch(step) else ""


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
    frame.insert(0, "kernel_name", kernel_names(frame))
    return frame


def kernel_names(frame: pd.DataFrame) -> list[str]:
    """Short names of the kernels in rows with the columns ``kernel`` and ``kernel_label``."""
    return [
        name(kernel, label)
        for kernel, label in zip(frame["kernel"], frame["kernel_label"], strict=True)
    ]


def gpus_in_order(frame: pd.DataFrame, gpus: xr.Dataset, by: Sequence[str]) -> pd.DataFrame:
    """Keep the rows of GPUs that are shown, in the order of these, and sort those of each.

    Parameters
    ----------
    frame
        With the column ``gpu``.
    gpus : (gpu,)
        The store of that name.
    by
        Columns by which the rows of a GPU are sorted.
    """
    rank = {gpu: place for place, gpu in enumerate(gpus["gpu"].to_numpy().tolist())}
    ranked = frame[frame["gpu"].isin(list(rank))].assign(rank=frame["gpu"].map(rank))
    return ranked.sort_values(["rank", *by]).drop(columns="rank").reset_index(drop=True)


def uses_tensor_cores(t_tensor: xr.DataArray) -> xr.DataArray:
    """Say of every kernel whether it keeps tensor cores busy on any GPU.

    Parameters
    ----------
    t_tensor : (kernel, gpu)
        Time that tensor cores alone would take; NaN where the kernel does not run.
    """
    return (t_tensor > 0).any("gpu")


def taken(simulated: xr.DataArray, n: int) -> xr.DataArray:
    """Choose the size at which each kernel is shown: ``n``, or the next larger one that it takes.

    Parameters
    ----------
    simulated : (kernel, n)
        Whether the kernel was simulated at a size.
    n
        Size wanted.

    Returns
    -------
    (kernel,)
        Sizes; the largest where no larger one was simulated. Kernels that were simulated nowhere
        are left out.
    """
    known = simulated.isel(kernel=simulated.any("n").to_numpy())
    sizes = known["n"].where(known)
    chosen = sizes.where(sizes >= n).min("n").fillna(sizes.max("n"))
    return chosen.astype(int).reset_coords(drop=True)


def with_exceptions(n: int, sizes: xr.DataArray, say: Say) -> str:
    """Write a size, and those of the kernels that have another one.

    Parameters
    ----------
    n
        Size of most kernels.
    sizes : (kernel,)
        Size of each kernel.
    say
        The language.
    """
    others = [
        say("{size} for {kernel}").format(size=size, kernel=tag(str(kernel)))
        for kernel, size in zip(sizes["kernel"].to_numpy(), sizes.to_numpy(), strict=True)
        if size != n
    ]
    return say("{n} ({others})").format(n=n, others=listed(others, say)) if others else f"{n}"


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
    errors = (ratios.dropna() - 1).abs().tolist()
    return fmean(errors) if errors else np.nan


def stall_name(reason: str) -> str:
    """Name of a stall reason as Nsight Compute shows it.

    >>> stall_name("long_scoreboard"), stall_name("mio_throttle")
    ('long scoreboard', 'MIO throttle')
    """
    words = reason.split("_")
    return " ".join(word.upper() if word in ("mio", "lg") else word for word in words)
