"""What a feasibility study of the replay found."""

from pathlib import Path
from typing import Annotated

import xarray as xr
from pydantic import BeforeValidator, Field

from pipeline.measured.rows import Id, Row, Source, arrange, read_rows, require_each_once
from pipeline.vocab.measured import REPLAY_STUDY
from pipeline.vocab.variable import annotate

_PERCENT = 100

_Error = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class LeftOut(Row):
    """Mean error of predicted rates when a mechanism is left out."""

    mechanism: Id
    mean_error: Annotated[_Error | None, BeforeValidator(lambda text: text or None)]
    source: Source


def replay_study(path: Path) -> xr.Dataset:
    """Read how much each mechanism of a replay mattered in the feasibility study.

    Parameters
    ----------
    path
        A csv file with the columns of :class:`LeftOut`; lines that start with ``#`` are notes.

    Returns
    -------
    (mechanism,)
        ``mean_error``, a share; NaN where it hardly changed.

    Raises
    ------
    DataError
        Naming file, line and column, if a value is not what the column holds.
    """
    rows = read_rows(path, LeftOut)
    ids = [row.mechanism for row in rows]
    require_each_once(path, ids, "mechanism")
    columns = arrange(rows, ids, {}).swap_dims(measurement="mechanism").drop_vars("measurement")
    shares = columns.assign(mean_error=columns["mean_error"] / _PERCENT)
    return annotate(shares, REPLAY_STUDY)
