"""Races of the shared-memory kernel when one of its barriers is left out."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from pipeline.counting.simulate import factors
from pipeline.kernels.k03_smem import KERNEL, Options
from pipeline.kernels.matmul import multiply
from pipeline.simt import hazards as kinds
from pipeline.vocab.hazards import HAZARDS
from pipeline.vocab.variable import annotate

_RACES = {"raw_races": kinds.RAW, "war_races": kinds.WAR, "waw_races": kinds.WAW}


def hazards(variants: Mapping[str, Options], sizes: Sequence[int], seed: int) -> xr.Dataset:
    """Count the hazards of each variant of k03.

    Parameters
    ----------
    variants
        Options per variant name.
    sizes
        Values of n; multiples of the tile.
    seed
        Seed of the matrices' values, which no count depends on.

    Returns
    -------
    xr.Dataset
        Over (variant, n): ``race_count`` and the count per kind, one per offending instruction and
        block.

    Raises
    ------
    LaunchError
        If a size is not a multiple of a variant's tile.
    """
    counts = np.zeros((1 + len(_RACES), len(variants), len(sizes)), np.int64)
    for row, options in enumerate(variants.values()):
        for column, n in enumerate(sizes):
            _, launched = multiply(KERNEL, *factors(n, seed), options)
            by_kind = [launched.hazard_counts.get(kind, 0) for kind in _RACES.values()]
            counts[:, row, column] = [launched.counters["race_count"], *by_kind]
    over = ("variant", "n")
    names = ("race_count", *_RACES)
    dataset = xr.Dataset(
        {name: (over, values) for name, values in zip(names, counts, strict=True)},
        {"variant": list(variants), "n": np.array(sizes, np.int64)},
    )
    return annotate(dataset, HAZARDS)
