"""Figures of GPUs as the plain values that a rule hands to its job.

Without xarray, which loads dask for its first array: a third of a second of every start.
"""

from collections.abc import Collection, Mapping
from typing import Any

Row = Mapping[str, Any]

COORDINATES = ("gpu", "gpu_name", "compute_capability")


def side_by_side(rows: Mapping[str, Row], names: Collection[str] = ()) -> dict[str, Any]:
    """Put figures of GPUs side by side, for ``xarray.Dataset.from_dict`` to read back.

    Parameters
    ----------
    rows
        Id -> values by name, the same names for every GPU.
    names
        Figures that are taken, beside the coordinates; none stands for all.

    Returns
    -------
    dict
        Variables over ``gpu``; those of ``COORDINATES`` are coordinates.
    """
    columns = {"gpu": list(rows)} | {
        name: [row[name] for row in rows.values()] for name in next(iter(rows.values()))
    }
    return _dataset({name: (["gpu"], column) for name, column in columns.items()}, names)


def alone(gpu: str, row: Row) -> dict[str, Any]:
    """Give the figures of one GPU, as variables without a dimension."""
    return _dataset({name: ([], value) for name, value in {"gpu": gpu, **row}.items()})


def _dataset(
    variables: Mapping[str, tuple[list[str], Any]], names: Collection[str] = ()
) -> dict[str, Any]:
    held = {name: {"dims": dims, "data": data} for name, (dims, data) in variables.items()}
    return {
        "coords": {name: one for name, one in held.items() if name in COORDINATES},
        "data_vars": {
            name: one
            for name, one in held.items()
            if name not in COORDINATES and (not names or name in names)
        },
    }
