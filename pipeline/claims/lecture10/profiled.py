"""Simulated counters, held against profiled ones."""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.claims.claim import Claim, Finding, at_least, at_most, claim
from pipeline.claims.lecture10.ladder import (
    LECTURE,
)
from pipeline.claims.pick import largest, smallest, some
from pipeline.words import message


@claim(
    LECTURE,
    ("counters_measured",),
    message(
        "The simulator counts what the profiler counts: wavefronts of shared loads agree within "
        "{loads:.3%}, over {kernels} kernels."
    ),
)
def wavefronts_are_those_measured(counters_measured: xr.Dataset) -> Finding:
    """Compare wavefronts of shared loads with those that were profiled."""
    deviation = _deviation(counters_measured, "lds_wavefronts")
    return Finding({"loads": at_most(largest(abs(deviation)), 0.001)}, {"kernels": deviation.size})


@claim(
    LECTURE,
    ("counters_measured",),
    message(
        "Sectors of global memory agree within {loads:.2%} for loads, with the matrix that the "
        "profiled kernels read besides, and within {stores:.2%} for stores."
    ),
)
def sectors_are_those_measured(counters_measured: xr.Dataset) -> Finding:
    """Compare sectors of global memory with those that were profiled."""
    return Finding(
        {
            name: at_most(largest(abs(_deviation(counters_measured, counter))), 0.002)
            for name, counter in (("loads", "gld_sectors"), ("stores", "gst_sectors"))
        }
    )


@claim(
    LECTURE,
    ("counters_measured",),
    message(
        "Shared stores take {least:.1%} to {most:.1%} more wavefronts than their addresses need: "
        "what addresses do not say, the simulator does not know."
    ),
)
def stores_take_more_than_addresses(counters_measured: xr.Dataset) -> Finding:
    """Compare wavefronts of shared stores with those that were profiled."""
    deviation = _deviation(counters_measured, "sts_wavefronts")
    return Finding(
        {"least": at_least(smallest(deviation), 0), "most": at_most(largest(deviation), 0.1)}
    )


def _deviation(counters_measured: xr.Dataset, counter: str) -> NDArray[np.float64]:
    rows = counters_measured["counter"] == counter
    return some(counters_measured["deviation"].where(rows))


CLAIMS: tuple[Claim, ...] = (
    wavefronts_are_those_measured,
    sectors_are_those_measured,
    stores_take_more_than_addresses,
)
