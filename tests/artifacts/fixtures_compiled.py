"""Counts of machine code for artifacts: the real ones, for one architecture and one size."""

from functools import cache

import xarray as xr

from pipeline.counting.compiled_counts import compiled_counts, counted_at, twin
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import read_twin

ARCHITECTURE, SIZES = "sm_86", (1024, 4096)


@cache
def _every():
    parts = [
        compiled_counts(
            counted_at([read_twin(name, ARCHITECTURE)], twin(kernel), SIZES), twin(kernel), SIZES
        )
        for name, kernel in KERNELS.items()
    ]
    return xr.concat(parts, "kernel")


def counts():
    return _every().copy(deep=True)


STORES = {"compiled_counts": counts}
