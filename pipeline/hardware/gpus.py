"""All GPU sheets as one dataset."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from pipeline.hardware.sheet import Sheet
from pipeline.vocab.gpus import FIGURES, GPUS, LAUNCH_FIGURES
from pipeline.vocab.variable import annotate


def gpus(sheets: Mapping[str, Sheet]) -> xr.Dataset:
    """Put GPU sheets side by side.

    Parameters
    ----------
    sheets
        Id -> sheet, in the order in which they shall stand.

    Returns
    -------
    xarray.Dataset
        (gpu): every figure in SI units, NaN where a sheet may leave it out and does, with the
        source of each GPU's value as the attribute ``source_<id>``, and ``peak_fp32_flops`` derived
        from three of them. Coordinates ``gpu``, ``gpu_name`` and ``compute_capability``.
    """
    dataset = xr.Dataset(
        {name: _variable(name, sheets) for name in (*FIGURES, *LAUNCH_FIGURES)},
        coords={
            "gpu": np.array(list(sheets), str),
            "gpu_name": ("gpu", np.array([one.name for one in sheets.values()], str)),
            "compute_capability": (
                "gpu",
                np.array([one.compute_capability for one in sheets.values()], str),
            ),
        },
    )
    # A multiply-add is two operations.
    lanes = dataset["sm_count"] * dataset["fp32_lanes_per_sm"]
    dataset["peak_fp32_flops"] = 2 * lanes * dataset["clock_hz"]
    dataset["peak_fp32_flops"].attrs = GPUS["peak_fp32_flops"].attrs | {
        "formula": "2 * sm_count * fp32_lanes_per_sm * clock_hz"
    }
    return annotate(dataset, GPUS)


def _variable(name: str, sheets: Mapping[str, Sheet]) -> tuple[str, np.ndarray, dict[str, str]]:
    """One figure of all GPUs, with where each value was read."""
    given = {key: s.figures[name] for key, s in sheets.items() if name in s.figures}
    values = np.array([given[key].value if key in given else np.nan for key in sheets])
    sources = {f"source_{key}": figure.source for key, figure in given.items()}
    return "gpu", values, GPUS[name].attrs | sources
