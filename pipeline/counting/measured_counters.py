"""Counters of a profiler held against those of the simulator, and every difference explained.

The measured kernels are tiled as k03, k04 and k05 are, but they compute alpha A B + beta C: each
thread also reads the elements of C that it stores. Their shared loads are as wide as the compiler
made them, so the variants of the ladder that do the same are counted, with the ``hardware`` rule.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from pipeline.counting.nsight import METRICS, Modelled
from pipeline.hardware.occupancy import block_limits
from pipeline.kernels import k03_smem, k04_blocktile_1d, k05_blocktile_2d
from pipeline.kernels.kernel import Kernel
from pipeline.kernels.matmul import counts_of_square
from pipeline.vocab.counters_measured import COUNTERS_MEASURED
from pipeline.vocab.variable import annotate

# The options that make a kernel of the ladder what the compiler made of the measured one: nvcc
# turns their source code into these loads (compiled for sm_80, and read).
COMPILED: Mapping[str, tuple[Kernel, Mapping[str, Any]]] = {
    k03_smem.ID: (k03_smem.KERNEL, {"wide_loads": True}),
    k04_blocktile_1d.ID: (k04_blocktile_1d.KERNEL, {"wide_loads": True}),
    k05_blocktile_2d.ID: (k05_blocktile_2d.KERNEL, {"wide_loads": "first_twice"}),
}

_KEYS = ("gpu", "kernel", "n")
_TEXTS = ("variant", "counter", "explained")
_NUMBERS = ("simulated", "expected")


def compare_counters(measured: xr.Dataset, gpus: xr.Dataset) -> xr.Dataset:
    """Put simulated values beside a profiler's, one for each that was measured.

    Parameters
    ----------
    measured : (measurement,)
        ``gpu``, ``kernel``, ``n``, ``metric`` and ``measured``, as
        :func:`pipeline.measured.nsight_counters` reads them.
    gpus : (gpu)
        Figures that occupancy reads, for limits of resident blocks.

    Returns
    -------
    (measurement,)
        ``measured`` with ``simulated``, ``expected``, ``ratio``, ``deviation`` and ``explained``. A
        metric that nothing in the model stands for has NaN, and says so.

    Raises
    ------
    LaunchError
        If a kernel was measured at a size that it does not take.
    """
    keys = list(zip(*(measured[name].values.tolist() for name in _KEYS), strict=True))
    launches = {
        key: _modelled(measured, key, gpus) for key in dict.fromkeys(keys) if key[1] in COMPILED
    }
    rows = [
        _row(launches.get(key), str(metric), float(value))
        for key, metric, value in zip(
            keys, measured["metric"].values, measured["measured"].values, strict=True
        )
    ]
    result = measured.drop_attrs().assign(
        {name: ("measurement", [row[name] for row in rows]) for name in (*_TEXTS, *_NUMBERS)}
        | {"kernel_label": ("measurement", _labels(measured["kernel"].values.tolist()))}
    )
    value = result["measured"]
    result["ratio"] = result["simulated"] / value.where(value > 0)
    result["deviation"] = value / result["expected"].where(result["expected"] > 0) - 1
    return annotate(result, COUNTERS_MEASURED)


def _labels(kernels: Sequence[str]) -> list[str]:
    """Names of the kernels as shown to readers; the id of one that is not compared."""
    return [COMPILED[name][0].label if name in COMPILED else name for name in kernels]


def _modelled(measured: xr.Dataset, key: tuple[str, str, int], gpus: xr.Dataset) -> Modelled:
    """Count one of the measured launches."""
    gpu, name, n = key
    kernel, changed = COMPILED[name]
    options = kernel.options(**changed)
    here = np.logical_and.reduce(
        [measured[what] == value for what, value in zip(_KEYS, key, strict=True)]
    )
    metrics = measured["metric"].values[here].tolist()
    launch = kernel.launch(options)
    figures = gpus.sel(gpu=gpu) if gpu in gpus["gpu"].values else None
    return Modelled(
        variant=", ".join(f"{option}: {value}" for option, value in changed.items()),
        counters=counts_of_square(kernel, n, options, rule="hardware"),
        launch=launch,
        gpu=figures,
        limits={}
        if figures is None
        else block_limits(launch.threads, launch.registers, launch.smem_bytes, figures),
        measured=dict(zip(metrics, measured["measured"].values[here].tolist(), strict=True)),
    )


def _row(one: Modelled | None, name: str, measured: float) -> dict[str, Any]:
    """Compare one value."""
    metric = METRICS.get(name)
    if one is None or metric is None:
        what = "metric" if one else "kernel"
        said = f"Nothing in the model stands for this {what}."
        return dict.fromkeys(_NUMBERS, np.nan) | dict(zip(_TEXTS, ("", "", said), strict=True))
    expected = metric.expected(one)
    return {
        "variant": one.variant,
        "counter": metric.counter,
        "simulated": float(metric.value(one)),
        "expected": float(expected),
        "explained": metric.explain(one, expected, measured),
    }
