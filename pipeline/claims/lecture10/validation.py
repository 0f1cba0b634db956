"""Predicted rates, held against published ones."""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.claims.claim import (
    Claim,
    Finding,
    at_least,
    at_most,
    between,
    claim,
)
from pipeline.claims.lecture10.ladder import (
    GPU,
    LECTURE,
    published_gflops,
)
from pipeline.claims.pick import largest, smallest, some
from pipeline.words import message

ROOFLINE = "roofline"
"""The model of the lecture, among those that are validated."""


def _ratios(validation: xr.Dataset, kernel: str) -> NDArray[np.float64]:
    """Predicted over published rate of one kernel, on every GPU."""
    ratios = validation["ratio"].sel({"model": ROOFLINE})
    return some(ratios.where(validation["kernel"] == kernel))


@claim(
    LECTURE,
    ("validation", "bottlenecks"),
    message(
        "Where one resource is hopelessly overloaded the model is right: the naive kernel is "
        "predicted at {least:.2f} to {most:.2f} times its published rates on {cards} GPUs."
    ),
)
def naive_is_predicted_right(validation: xr.Dataset) -> Finding:
    """Compare predicted and published rates of the naive kernel."""
    ratios = _ratios(validation, "k01_naive")
    return Finding(
        {"least": at_least(smallest(ratios), 0.9), "most": at_most(largest(ratios), 1.1)},
        {"cards": ratios.size},
    )


@claim(
    LECTURE,
    ("validation", "bottlenecks"),
    message(
        "On the RTX A6000 the coalesced kernel is overestimated most, {ratio:.2f} times, "
        "{lead:.2f} times as far as any other: its warps wait, and the model lets nothing wait."
    ),
)
def coalesced_is_overestimated_most(validation: xr.Dataset) -> Finding:
    """Compare the ratio of the coalesced kernel with that of all others."""
    ratios = validation["ratio"].sel({"model": ROOFLINE}).where(validation["gpu"] == GPU)
    is_it = validation["kernel"] == "k02_coalesced"
    ratio = largest(ratios.where(is_it))
    return Finding(
        {
            "ratio": between(ratio, 2.3, 2.6),
            "lead": at_least(ratio / largest(ratios.where(~is_it)), 1),
        }
    )


@claim(
    LECTURE,
    ("validation",),
    message(
        "The model is better at order than at distance: over the GPUs the rank correlation with "
        "published rates is at least {order:.2f}, while the mean error goes up to {error:.0%}."
    ),
)
def model_orders_kernels(validation: xr.Dataset) -> Finding:
    """Compare rank correlation and mean error over the GPUs."""
    model = validation.sel({"model": ROOFLINE})
    return Finding(
        {
            "order": at_least(smallest(model["rank_correlation"]), 0.8),
            "error": between(largest(model["mape"]), 0.2, 0.6),
        }
    )


@claim(
    LECTURE,
    ("validation", "bottlenecks"),
    message(
        "By hand one comes close to the library: on the RTX A6000 the published warp tiling "
        "reaches {best:.0%} of cuBLAS, where the naive kernel reached {naive:.1%}."
    ),
)
def ladder_comes_close_to_cublas(measured: xr.Dataset, large_n: int) -> Finding:
    """Compare published rates with that of the library."""
    naive, best, library = (
        published_gflops(measured, kernel, GPU, large_n)
        for kernel in ("k01_naive", "k10_warptiled", "cublas")
    )
    return Finding(
        {"best": between(best / library, 0.9, 1), "naive": between(naive / library, 0.01, 0.02)}
    )


CLAIMS: tuple[Claim, ...] = (
    naive_is_predicted_right,
    coalesced_is_overestimated_most,
    model_orders_kernels,
    ladder_comes_close_to_cublas,
)
