"""What the replay of an SM reads of the GPU sheets, as one dataset."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from pydantic import TypeAdapter

from pipeline.hardware.gpus import gpus
from pipeline.hardware.sheet import Sheet
from pipeline.vocab.sm_gpus import REPLAY_FIGURES, SM_GPUS
from pipeline.vocab.variable import annotate

_CHOICES = "smem_configurations"


def sm_gpus(sheets: Mapping[str, Sheet]) -> xr.Dataset:
    """Put the GPU sheets that hold figures for the replay of an SM side by side.

    Parameters
    ----------
    sheets
        Id -> sheet; those without such figures are left out, so that there may be no GPU.

    Returns
    -------
    (gpu)
        The figures of :func:`pipeline.hardware.gpus.gpus` and those of the replay, with their
        sources; ``smem_configurations`` over (gpu, configuration). A clock under light load is that
        of the data sheet where none is given; a power share is NaN where the card keeps its clock.
    """
    chosen = {name: sheet for name, sheet in sheets.items() if sheet.replay}
    dataset = gpus(sheets).sel(gpu=list(chosen))
    for name in REPLAY_FIGURES:
        dataset[name] = _choices(chosen) if name == _CHOICES else _figure(name, chosen)
    dataset["clock_light"] = dataset["clock_light"].fillna(dataset["clock_hz"])
    names = ["sm_" + sheet.compute_capability.replace(".", "") for sheet in chosen.values()]
    dataset = dataset.assign_coords(
        arch=("gpu", np.array(names, str)), configuration=np.arange(dataset.sizes["configuration"])
    )
    return annotate(dataset, SM_GPUS)


def sm_gpus_of(values: Mapping[str, Any]) -> xr.Dataset:
    """Do the same with GPU sheets as rules hand them to jobs, as plain values."""
    return sm_gpus(TypeAdapter(dict[str, Sheet]).validate_python(values))


def _figure(name: str, sheets: Mapping[str, Sheet]) -> xr.Variable:
    given = {key: sheet.replay[name] for key, sheet in sheets.items() if name in sheet.replay}
    values = np.array([given[key].value if key in given else np.nan for key in sheets])
    sources = {f"source_{key}": figure.source for key, figure in given.items()}
    return xr.Variable("gpu", values, sources)


def _choices(sheets: Mapping[str, Sheet]) -> xr.Variable:
    """Return the capacities of shared memory, each row filled up with its largest."""
    rows = [np.atleast_1d(sheet.replay[_CHOICES].value).tolist() for sheet in sheets.values()]
    longest = max(map(len, rows), default=1)
    filled = [row + row[-1:] * (longest - len(row)) for row in rows]
    values = np.array(filled, np.int64).reshape(-1, longest)
    sources = {f"source_{key}": sheet.replay[_CHOICES].source for key, sheet in sheets.items()}
    return xr.Variable(("gpu", "configuration"), values, sources)
