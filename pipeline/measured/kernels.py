"""Published rates and counters of matrix-multiply kernels."""

from pathlib import Path
from typing import Annotated

import xarray as xr
from pydantic import Field

from pipeline.measured.rows import (
    Id,
    Row,
    Size,
    SizeIfKnown,
    Source,
    arrange,
    read_rows,
    require_each_once,
)
from pipeline.vocab.measured import CLAIMED_READS, MEASURED, PROFILED
from pipeline.vocab.variable import annotate

_NAMES = {"gflops": "measured_gflops", "threads": "threads_per_block"}


class Measurement(Row):
    """A rate of a kernel on a GPU."""

    gpu: Id
    kernel: Id
    n: Size
    bm: SizeIfKnown
    bn: SizeIfKnown
    bk: SizeIfKnown
    wm: SizeIfKnown
    wn: SizeIfKnown
    wniter: SizeIfKnown
    tm: SizeIfKnown
    tn: SizeIfKnown
    threads: SizeIfKnown
    gflops: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    source: Source
    conditions: str


class ProfilerCounter(Row):
    """A metric of Nsight Compute for one launch of a kernel."""

    gpu: Id
    kernel: Id
    n: Size
    metric: Annotated[str, Field(min_length=3)]
    value: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    source: Source
    conditions: str


class ClaimedReads(Row):
    """How often a kernel is said to read shared memory."""

    kernel: Id
    reads_per_fma: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    claim: Annotated[str, Field(min_length=1)]
    source: Source


def sgemm_rates(path: Path) -> xr.Dataset:
    """Read published rates of matrix-multiply kernels.

    Parameters
    ----------
    path
        A csv file with the columns of :class:`Measurement`; lines that start with ``#`` are notes.
        Kernels and GPUs need not be known here: a rate may be published for more.

    Returns
    -------
    (measurement,)
        ``kernel``, ``gpu``, ``n``, ``measured_gflops`` (GFLOP/s), the tile and its source. Figures
        that are not stated are NaN.

    Raises
    ------
    DataError
        Naming file, line and column, if a value is not what the column holds, a column is missing
        or unknown, or two rows are about the same kernel, GPU and size.
    """
    rows = read_rows(path, Measurement)
    ids = [f"{row.gpu} {row.kernel} {row.n}" for row in rows]
    require_each_once(path, ids, "GPU, kernel, n")
    return annotate(arrange(rows, ids, _NAMES), MEASURED)


def nsight_counters(path: Path) -> xr.Dataset:
    """Read counters that a profiler took from kernels like those of the ladder.

    Parameters
    ----------
    path
        A csv file with the columns of :class:`ProfilerCounter`; otherwise as in
        :func:`sgemm_rates`.

    Returns
    -------
    (measurement,)
        ``kernel``, ``gpu``, ``n``, ``metric``, its value as ``measured``, and the source.

    Raises
    ------
    DataError
        As :func:`sgemm_rates`.
    """
    rows = read_rows(path, ProfilerCounter)
    ids = [f"{row.gpu} {row.kernel} {row.n} {row.metric}" for row in rows]
    require_each_once(path, ids, "GPU, kernel, n, metric")
    return annotate(arrange(rows, ids, {"value": "measured"}), PROFILED)


def claimed_reads(path: Path) -> xr.Dataset:
    """Read how often kernels are said to read shared memory.

    Parameters
    ----------
    path
        A csv file with the columns of :class:`ClaimedReads`; otherwise as in :func:`sgemm_rates`.

    Returns
    -------
    (kernel,)
        ``reads_per_fma``, the ``claim`` as it was published, and its ``source``.

    Raises
    ------
    DataError
        As :func:`sgemm_rates`.
    """
    rows = read_rows(path, ClaimedReads)
    ids = [row.kernel for row in rows]
    require_each_once(path, ids, "kernel")
    columns = arrange(rows, ids, {}).swap_dims(measurement="kernel").drop_vars("measurement")
    return annotate(columns, CLAIMED_READS)
