"""Published measurements: a table of the world becomes a dataset over ``measurement``."""

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import xarray as xr
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipeline.errors import DataError
from pipeline.vocab.measured import MEASURED
from pipeline.vocab.variable import annotate

Id = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
Size = Annotated[int, Field(gt=0)]
SizeIfKnown = Annotated[Size | None, BeforeValidator(lambda text: text or None)]

_NAMES = {"gflops": "measured_gflops", "threads": "threads_per_block"}
_MAY_BE_MISSING = ("bm", "bn", "bk", "tm", "tn", "threads")


class Measurement(BaseModel):
    """One row of the table; the fields are its columns, in order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gpu: Id
    kernel: Id
    n: Size
    bm: SizeIfKnown
    bn: SizeIfKnown
    bk: SizeIfKnown
    tm: SizeIfKnown
    tn: SizeIfKnown
    threads: SizeIfKnown
    gflops: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    source: Annotated[str, Field(min_length=8)]
    conditions: str


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
    rows = [_row(path, line, fields) for line, fields in _lines(path)]
    ids = [f"{row.gpu} {row.kernel} {row.n}" for row in rows]
    twice = [name for name, count in Counter(ids).items() if count > 1]
    if twice or not rows:
        raise DataError(
            f"{path}: {twice[0]} (GPU, kernel, n) stands in more than one line; keep one"
            if twice
            else f"{path}: there is no measurement below the header; add one, or remove the file"
        )
    variables = {
        _NAMES.get(name, name): np.array(
            [getattr(row, name) for row in rows], np.float64 if name in _MAY_BE_MISSING else None
        )
        for name in Measurement.model_fields
    }
    dataset = xr.Dataset(
        {name: ("measurement", values) for name, values in variables.items()},
        coords={"measurement": ids},
    )
    return annotate(dataset, MEASURED)


def _lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and fields of every row, after a check of the header."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as text ({error})") from error
    numbered = [
        (number, line)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not line.startswith("#")
    ]
    rows = csv.reader([line for _, line in numbered])
    expected = list(Measurement.model_fields)
    header = next(rows, [])
    if header != expected:
        raise DataError(
            f"{path}: the columns are {', '.join(header) or 'missing'}; "
            f"they must be {', '.join(expected)}"
        )
    for values in rows:
        number = numbered[rows.line_num - 1][0]
        if len(values) != len(expected):
            raise DataError(
                f"{path}, line {number}: {len(values)} values, but there are {len(expected)} "
                f"columns; put text that holds a comma in double quotes"
            )
        yield number, dict(zip(expected, values, strict=True))


def _row(path: Path, line: int, fields: dict[str, str]) -> Measurement:
    try:
        return Measurement.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise DataError(
            f"{path}, line {line}, column {first['loc'][0]}: {first['input']!r} is not allowed; "
            f"{first['msg'][0].lower()}{first['msg'][1:]}"
        ) from error
