"""What artifacts of compiled code share: which architecture and which kernels they show."""

import xarray as xr


def shown_architecture(counts: xr.Dataset, gpus: xr.Dataset, gpu: str) -> str:
    """Return the architecture of a GPU, or the first that was compiled for if it has no code."""
    wanted = "sm_" + str(gpus["compute_capability"].sel(gpu=gpu).item()).replace(".", "")
    archs: list[str] = counts["arch"].to_numpy().tolist()
    return wanted if wanted in archs else archs[0]


def counted(counts: xr.Dataset, gpus: xr.Dataset, gpu: str, n: int) -> xr.Dataset:
    """Return the counts for a GPU's architecture at one size, (kernel) in the order of the ladder.

    Kernels that do not take the size are left out.
    """
    here = counts.sel(arch=shown_architecture(counts, gpus, gpu), n=n).sortby("kernel_number")
    return here.isel(kernel=here["simulated"].to_numpy())
