"""Launch facts of kernels as a dataset."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from pipeline.kernels.kernel import Kernel

FACTS = (
    "threads_per_block",
    "registers_per_thread",
    "smem_bytes",
    "tile_m",
    "tile_n",
    "element_bytes",
    "capability_min",
    "multiple_m",
    "multiple_n",
    "multiple_k",
)


def launch_facts(kernel: Kernel, options: Any) -> dict[str, int | str]:
    """Return number, label and launch facts of one kernel as plain values."""
    launch = kernel.launch(options)
    values = (
        launch.threads,
        launch.registers,
        launch.smem_bytes,
        *launch.tile,
        np.dtype(kernel.element).itemsize,
        launch.capability,
        *launch.multiple,
    )
    return {
        "kernel_number": kernel.number,
        "kernel_label": kernel.label,
        **dict(zip(FACTS, values, strict=True)),
    }


def twin_values(kernel: Kernel, options: Any) -> dict[str, Any]:
    """Say how the CUDA twin of a kernel is launched, by the fields of ``compiled.twin.Twin``.

    Parameters
    ----------
    kernel
        The kernel.
    options
        Its options; the twin is compiled with the same ones.
    """
    launch = kernel.launch(options)
    return {
        "kernel": kernel.id,
        "number": kernel.number,
        "label": kernel.label,
        "block": launch.block,
        "tile": launch.tile,
        "multiple": launch.multiple,
        "registers": launch.registers,
        "element_bytes": np.dtype(kernel.element).itemsize,
    }


def launches(kernels: Mapping[str, Mapping[str, int | str]]) -> xr.Dataset:
    """Arrange the facts of several kernels, one entry per id, over ``kernel``."""
    facts = {
        name: ("kernel", np.array([kernel[name] for kernel in kernels.values()], np.int64))
        for name in FACTS
    }
    coordinates = {
        "kernel": list(kernels),
        "kernel_number": ("kernel", [kernel["kernel_number"] for kernel in kernels.values()]),
        "kernel_label": ("kernel", [kernel["kernel_label"] for kernel in kernels.values()]),
    }
    return xr.Dataset(facts, coordinates)
