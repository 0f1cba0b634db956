"""What the claims of lecture 10 have in common: its GPU, and how numbers of kernels are taken."""

import xarray as xr

from pipeline.claims.pick import counted, pick, some

LECTURE = 10
GPU = "rtx_a6000"
"""The GPU of the published ladder."""
SCALED, EXACT = "per_fma", "polynomial"
"""How counts were carried to a size: as the lecture does it, and exactly."""


def per_step(one: xr.Dataset, counter: str) -> float:
    """Divide events by FFMA instructions of warps: one step of their dot products."""
    return float(one[counter] / one["ffma_instr"])


def fewer(counts: xr.Dataset, n: int, counter: str, before: str, after: str) -> float:
    """Say how many times fewer events the second kernel has."""
    both = counted(counts, n, kernel=[before, after])[counter]
    return float(both.sel(kernel=before) / both.sel(kernel=after))


def prediction(
    predictions: xr.Dataset, kernel: str, gpu: str, n: int, method: str = EXACT
) -> xr.Dataset:
    """Select what is predicted of one launch."""
    return pick(predictions, kernel=kernel, gpu=gpu, n=n).sel({"method": method})


def gflops(predictions: xr.Dataset, kernel: str, gpu: str, n: int) -> float:
    """Take the predicted rate (GFLOP/s) of one launch."""
    return float(prediction(predictions, kernel, gpu, n)["gflops"])


def published_gflops(measured: xr.Dataset, kernel: str, gpu: str, n: int) -> float:
    """Take the rate (GFLOP/s) that was published for a kernel."""
    rows = (measured["kernel"] == kernel) & (measured["gpu"] == gpu) & (measured["n"] == n)
    return float(some(measured["measured_gflops"].where(rows))[0])
