"""Strict reading of tables of measurements: columns, values, and one row per case."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

import numpy as np
import xarray as xr
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from pipeline.errors import DataError
from pipeline.sheets import small_text

Id = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
# No matrix has more rows than an index of 32 bits can tell apart: more is a slip of the pen.
Size = Annotated[int, Field(gt=0, le=2**31)]
SizeIfKnown = Annotated[Size | None, BeforeValidator(lambda text: text or None)]
Source = Annotated[str, Field(min_length=8)]

_LONGEST_SHOWN = 60
_IN_WORDS = {"string_pattern_mismatch": "it must be made of a to z, 0 to 9 and _"}
_MOST_NAMED = 20


class Row(BaseModel):
    """One row of a table; the fields are its columns, in order."""

    model_config = ConfigDict(extra="forbid", frozen=True)


R = TypeVar("R", bound=Row)


def arrange(rows: Sequence[Row], ids: list[str], names: Mapping[str, str]) -> xr.Dataset:
    """Arrange the columns over ``measurement``.

    Parameters
    ----------
    rows
        At least one.
    ids
        Name of each row.
    names
        Column -> name of the variable, where it has another one.

    Returns
    -------
    (measurement,)
        A variable per column; one that may be empty holds floats, and NaN where it is.
    """
    variables = {
        names.get(name, name): np.array(
            [getattr(row, name) for row in rows], np.float64 if _may_be_missing(field) else None
        )
        for name, field in type(rows[0]).model_fields.items()
    }
    return xr.Dataset(
        {name: ("measurement", values) for name, values in variables.items()},
        coords={"measurement": ids},
    )


def _may_be_missing(field: FieldInfo) -> bool:
    return type(None) in get_args(field.annotation)


def require_each_once(path: Path, ids: list[str], what: str) -> None:
    """Refuse a table with two rows about the same case.

    Parameters
    ----------
    path
        The table.
    ids
        Name of each row.
    what
        Columns that make the name, for the message.

    Raises
    ------
    DataError
        Naming the case.
    """
    twice = [name for name, count in Counter(ids).items() if count > 1]
    if twice:
        raise DataError(f"{path}: {twice[0]} ({what}) stands in more than one line; keep one")


def read_rows(path: Path, kind: type[R]) -> list[R]:
    """Read a table whose columns are the fields of ``kind``.

    Parameters
    ----------
    path
        A csv file; lines that start with ``#`` are notes.
    kind
        What every row is read as.

    Raises
    ------
    DataError
        Naming file, line and column, if a value is not what the column holds, a column is missing
        or unknown, or there is no row.
    """
    rows: list[R] = []
    problems: list[str] = []
    for line, fields in _lines(path, list(kind.model_fields), problems):
        try:
            rows.append(kind.model_validate(fields))
        except ValidationError as error:
            problems += _problems(line, error)
    if problems:
        raise DataError(_message(path, problems))
    if not rows:
        raise DataError(
            f"{path}: there is no measurement below the header; add one, or remove the file"
        )
    return rows


def _lines(
    path: Path, expected: list[str], problems: list[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and fields of every row, after a check of the header."""
    try:
        text = small_text.read(path)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error
    numbered = [
        (number, line)
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not line.startswith("#")
    ]
    numbers = [number for number, _ in numbered]
    for number, line in numbered:
        if "\0" in line:
            raise DataError(f"{path}, line {number}: holds a null byte; save the table as text")
    rows = _split(path, numbers, csv.reader([line for _, line in numbered]))
    _, header = next(rows, (0, []))
    if header != expected:
        raise DataError(
            f"{path}: the columns are {', '.join(header) or 'missing'}; "
            f"they must be {', '.join(expected)}"
        )
    for number, values in rows:
        if len(values) != len(expected):
            problems.append(
                f"line {number}: {len(values)} values, but there are {len(expected)} columns; put "
                f"text that holds a comma in double quotes"
            )
            continue
        yield number, dict(zip(expected, values, strict=True))


def _split(path: Path, numbers: list[int], rows: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and fields of every row of a csv reader."""
    while True:
        try:
            values = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            line = numbers[min(rows.line_num, len(numbers)) - 1]
            raise DataError(
                f"{path}, line {line}: cannot be taken apart ({error}); is a double quote missing?"
            ) from error
        yield numbers[rows.line_num - 1], values


def _problems(line: int, error: ValidationError) -> list[str]:
    """Say what is wrong with a row, one line for each value."""
    return [
        f"line {line}, column {item['loc'][0]}: {_shown(item['input'])} is not allowed; "
        f"{_IN_WORDS.get(item['type'], item['msg'][0].lower() + item['msg'][1:])}"
        for item in error.errors(include_url=False)
    ]


def _message(path: Path, problems: list[str]) -> str:
    """Write everything that is wrong with a table, as far as a reader wants to see it."""
    if len(problems) == 1:
        return f"{path}, {problems[0]}"
    rest = len(problems) - _MOST_NAMED
    more = [f"and {rest} more"] if rest > 0 else []
    lines = "\n  ".join([*problems[:_MOST_NAMED], *more])
    return f"{path}: {len(problems)} problems\n  {lines}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
