"""Published measurements of decoding: matrix-vector products, whole steps, launches, probes."""

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import xarray as xr
from pydantic import Field

from pipeline.measured.rows import (
    Id,
    Row,
    SizeIfKnown,
    Source,
    arrange,
    read_rows,
    require_each_once,
)
from pipeline.vocab.decode_measured import DECODE_MEASURED
from pipeline.vocab.variable import annotate

UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "GB/s": 1e9,
    "%": 1e-2,
    "x": 1.0,
    "1": 1.0,
    "1/s": 1.0,
}
"""Units of the table, and what one of each is in SI units."""

_KEY = ("gpu", "workload", "n", "k", "dtype", "batch", "engine", "mode", "metric", "relation")
_NAMES = {"n": "rows", "k": "columns"}


class DecodeMeasurement(Row):
    """One figure; ``n`` and ``k`` are the outputs and inputs of a matrix-vector product."""

    gpu: Id
    workload: Id
    n: SizeIfKnown
    k: SizeIfKnown
    dtype: str
    batch: SizeIfKnown
    engine: str
    mode: str
    metric: Id
    relation: Literal["equal", "about", "above", "below"]
    value: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    unit: Literal["ns", "us", "ms", "GB/s", "%", "x", "1", "1/s"]
    source: Source
    conditions: str


def decode_figures(path: Path) -> xr.Dataset:
    """Read published measurements of decoding one token.

    Parameters
    ----------
    path
        A csv file with the columns of :class:`DecodeMeasurement`; lines that start with ``#`` are
        notes. GPUs and models need not be known here.

    Returns
    -------
    (measurement,)
        The columns, and ``measured``: the figure in SI units.

    Raises
    ------
    DataError
        Naming file, line and column, if a value is not what the column holds, a column is missing
        or unknown, or two rows are about the same figure.
    """
    rows = read_rows(path, DecodeMeasurement)
    ids = [" ".join(str(part) for name in _KEY if (part := getattr(row, name))) for row in rows]
    require_each_once(path, ids, ", ".join(_KEY))
    figures = arrange(rows, ids, _NAMES)
    figures["measured"] = ("measurement", _in_si(rows))
    return annotate(figures, DECODE_MEASURED)


def _in_si(rows: list[DecodeMeasurement]) -> np.ndarray:
    return np.array([row.value * UNITS[row.unit] for row in rows])
