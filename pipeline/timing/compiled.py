"""Times of compiled code by the roofline: every GPU runs the code made for its architecture."""

import numpy as np
import xarray as xr

from pipeline.hardware.occupancy import OCCUPANCY_FIGURES, occupancy
from pipeline.timing.predict import predict
from pipeline.vocab.compiled import COMPILED_PREDICTIONS
from pipeline.vocab.variable import annotate

SOURCE = "compiled"
_METHOD = "exact"


def architecture(capability: str) -> str:
    """Return the name of an architecture, ``sm_86`` for 8.6."""
    return "sm_" + capability.replace(".", "")


def predict_compiled(counts: xr.Dataset, gpus: xr.Dataset) -> xr.Dataset:
    """Predict times from counts of machine code.

    The same resources as for counts from source code; all instructions are issued, and blocks are
    resident with the registers that the compiler allots.

    Parameters
    ----------
    counts : (kernel, arch, n)
        The store ``compiled_counts``.
    gpus : (gpu)
        Figures of the GPUs. One for whose architecture there is no code is left out.

    Returns
    -------
    (kernel, gpu, n)
        As :func:`pipeline.timing.predict.predict` without method, with ``arch`` over (gpu),
        ``registers_per_thread`` and residency over (kernel, gpu). A size that a kernel does not
        take has no time.
    """
    archs = [architecture(str(one)) for one in gpus["compute_capability"].values]
    known = [name in counts["arch"].values for name in archs]
    chosen = gpus.isel(gpu=np.flatnonzero(known))
    arch = xr.DataArray([name for name, has in zip(archs, known, strict=True) if has], dims="gpu")
    by_gpu = counts.drop_dims("opcode_class").sel(arch=arch).reset_coords("arch", drop=True)
    by_gpu = by_gpu.assign_coords(gpu=chosen["gpu"].drop_attrs().reset_coords(drop=True))
    resident = _residency(by_gpu, chosen)
    # A kernel that does not take a size has no counts there.
    counters = by_gpu.where(by_gpu["simulated"]).expand_dims(method=[_METHOD])
    tiles = counts[["tile_m", "tile_n", "element_bytes"]].drop_attrs().reset_coords(drop=True)
    predicted = predict(counters, resident.merge(tiles), chosen).isel(method=0, drop=True)
    result = predicted.drop_attrs().assign(
        registers_per_thread=by_gpu["registers"],
        blocks_per_sm=resident["blocks_per_sm"],
        warps_per_sm=resident["warps_per_sm"],
        limited_by=resident["limited_by"],
    )
    result = result.assign_coords(arch=("gpu", arch.values), source=SOURCE)
    return annotate(result.drop_attrs(), COMPILED_PREDICTIONS)


def _residency(by_gpu: xr.Dataset, gpus: xr.Dataset) -> xr.Dataset:
    """Count resident blocks with the registers and the shared memory of the code."""
    threads, registers, shared = (
        data.drop_attrs().reset_coords(drop=True)
        for data in (by_gpu["threads_per_block"], by_gpu["registers"], by_gpu["smem_bytes"])
    )
    figures = gpus[list(OCCUPANCY_FIGURES)].drop_attrs().reset_coords(drop=True)
    return occupancy(threads, registers, shared, figures).drop_attrs()
