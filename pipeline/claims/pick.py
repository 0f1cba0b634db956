"""Take from a dataset what a claim is about, or say why the claim is not applicable."""

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from pipeline.claims.claim import NotApplicableError
from pipeline.words import message

REASONS = {
    "kernel": message("The ladder has no {label}."),
    "gpu": message("The configuration has no GPU {label}."),
    "n": message("There are no results for n = {label}."),
    "model": message("The configuration has no model {label}."),
    "execution": message("The configuration has no execution {label}."),
    "case": message("The results have no launch {label}."),
}
OTHERWISE = message("The results have no {label}.")
NOT_COUNTED = message("{label} was not simulated at n = {n}.")
NOTHING = message("The results hold no number for it.")
ALONE = message("There is nothing to compare {label} with.")


def pick(dataset: xr.Dataset, **labels: Any) -> xr.Dataset:
    """Select by labels of dimensions.

    Parameters
    ----------
    dataset
        With those dimensions.
    labels
        Dimension -> label, or several labels.

    Raises
    ------
    NotApplicableError
        If a label is not there.
    """
    for dimension, wanted in labels.items():
        known = set(dataset[dimension].to_numpy().tolist())
        several = wanted if isinstance(wanted, list | tuple) else [wanted]
        missing = [label for label in several if label not in known]
        if missing:
            raise NotApplicableError(REASONS.get(dimension, OTHERWISE), label=missing[0])
    # A tuple would be one label of several levels.
    chosen = {name: list(one) if isinstance(one, tuple) else one for name, one in labels.items()}
    return dataset.sel(chosen)


def present(dataset: xr.Dataset, dimension: str, labels: Any) -> xr.Dataset:
    """Select those of several labels that are there; at least one must be."""
    known = set(dataset[dimension].to_numpy().tolist())
    found = [label for label in labels if label in known]
    return dataset.sel({dimension: found}) if found else pick(dataset, **{dimension: labels[0]})


def counted(counts: xr.Dataset, n: int, **labels: Any) -> xr.Dataset:
    """Select kernels of ``counts`` at size ``n``, as :func:`pick`; all must have been simulated."""
    chosen = pick(counts, n=n, **labels)
    kernels, simulated = (np.atleast_1d(chosen[name]) for name in ("kernel", "simulated"))
    if not simulated.all():
        raise NotApplicableError(NOT_COUNTED, label=kernels[~simulated][0], n=n)
    return chosen


def some(values: ArrayLike) -> NDArray[np.float64]:
    """Leave out what is NaN, in one row; something must be left."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    kept = flat[~np.isnan(flat)]
    if not kept.size:
        raise NotApplicableError(NOTHING)
    return kept


def largest(values: ArrayLike) -> float:
    """Largest number that is there."""
    return float(some(values).max())


def smallest(values: ArrayLike) -> float:
    """Smallest number that is there."""
    return float(some(values).min())


def two_ends(labels: ArrayLike, sizes: ArrayLike) -> tuple[Any, Any]:
    """Give the labels of the smallest and of the largest size; they must differ."""
    named, order = np.asarray(labels), np.argsort(np.asarray(sizes), kind="stable")
    first, last = named[order[0]], named[order[-1]]
    if first == last:
        raise NotApplicableError(ALONE, label=first)
    return first, last


def farthest(values: ArrayLike, wanted: float) -> float:
    """Give the number that is farthest from the wanted one."""
    kept = some(values)
    return float(kept[np.abs(kept - wanted).argmax()])
