"""Times of compiled code by the roofline: every GPU runs the code made for its architecture."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pipeline.hardware.occupancy import OCCUPANCY_FIGURES, occupancy
from pipeline.timing.predict import predict
from pipeline.vocab.compiled import COMPILED_PREDICTIONS
from pipeline.vocab.own_cuda import OWN_CUDA_PREDICTIONS
from pipeline.vocab.traffic import TRAFFIC
from pipeline.vocab.variable import annotate

SOURCE = "compiled"
METHOD = "roofline"
NO_CODE = "code"
"""What ``limited_by`` says of a GPU that no code is for."""
LIMITED = "limited_by"
_METHOD = "exact"
_COMPULSORY = TRAFFIC["compulsory_bytes"]


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


def runs_on(capability: str, archs: Sequence[str]) -> str:
    """Return for which architecture the code is that a GPU runs; nothing if none is for it.

    Code runs on its own compute capability and on later ones of the same major number (CUDA C++
    programming guide, binary compatibility).

    >>> runs_on("8.9", ["sm_80", "sm_86", "sm_90"]), runs_on("7.0", ["sm_75"])
    ('sm_86', '')
    """
    major, own = capability.split(".")[0], int(capability.replace(".", ""))
    fit = [int(one.removeprefix("sm_")) for one in archs]
    fit = [one for one in fit if one <= own and str(one // 10) == major]
    return f"sm_{max(fit)}" if fit else ""


def predict_launches(counts: xr.Dataset, gpus: xr.Dataset) -> xr.Dataset:
    """Predict the times of single launches of compiled kernels.

    Every way to predict from counts is a value of ``method``: the roofline is ``METHOD``. What the
    code itself takes says :func:`pipeline.timing.replay_launch.replay_launch`.

    Parameters
    ----------
    counts : (kernel, arch)
        From :func:`pipeline.counting.own_cuda_gather.gather_cuda`.
    gpus : (gpu)
        Figures of the GPUs, in the order in which they are shown.

    Returns
    -------
    (kernel, gpu, method)
        As :func:`pipeline.timing.predict.predict` without n, with ``arch`` over (kernel, gpu), for
        which the code is that runs there, empty if there is none, ``registers_per_thread`` and
        residency. A kernel that does not run on a GPU has no time there.
    """
    arch = xr.DataArray(
        _chosen(counts["counted"], gpus["compute_capability"]), dims=("kernel", "gpu")
    )
    known = arch != ""
    by_gpu = counts.drop_dims("opcode_class").drop_vars(["failure", "how"]).drop_attrs()
    by_gpu = by_gpu.sel(arch=arch.where(known, counts["arch"].values[0]))
    by_gpu = by_gpu.reset_coords("arch", drop=True)
    by_gpu = by_gpu.assign_coords(gpu=gpus["gpu"].drop_attrs().reset_coords(drop=True))
    resident = _residency(by_gpu, gpus)
    fits = {name: data.where(known, 0) for name, data in resident.items() if name != LIMITED}
    resident = resident.assign(fits | {LIMITED: resident[LIMITED].where(known, NO_CODE)})
    # Where there is no code, or it could not be launched, there are no counts.
    counters = by_gpu.where(known & by_gpu["counted"])
    counters = counters.expand_dims(n=[0], method=[METHOD])
    predicted = predict(counters, resident, gpus).isel(n=0, drop=True)
    result = predicted.drop_attrs().assign(registers_per_thread=by_gpu["registers"])
    result = result.merge(resident)
    result = result.assign_coords(arch=(("kernel", "gpu"), arch.values), source=SOURCE)
    return annotate(result.drop_attrs(), OWN_CUDA_PREDICTIONS | {"dram_bytes": _COMPULSORY})


def _chosen(counted: xr.DataArray, capabilities: xr.DataArray) -> list[list[str]]:
    """Choose for every kernel and GPU among the architectures that the kernel has code for."""
    return [
        [
            runs_on(str(one), [str(arch) for arch in row["arch"].values[row.values]])
            for one in capabilities.values
        ]
        for row in counted
    ]


def _residency(by_gpu: xr.Dataset, gpus: xr.Dataset) -> xr.Dataset:
    """Count resident blocks with the registers and the shared memory of the code."""
    threads, registers, shared = (
        data.drop_attrs().reset_coords(drop=True)
        for data in (by_gpu["threads_per_block"], by_gpu["registers"], by_gpu["smem_bytes"])
    )
    figures = gpus[list(OCCUPANCY_FIGURES)].drop_attrs().reset_coords(drop=True)
    return occupancy(threads, registers, shared, figures).drop_attrs()
