"""Tables and looks that the artifacts of a decode step share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.decode_names import PARTS, part_name
from pipeline.words import Say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colour of a part of the time, and a pattern for those who see no colours.
_LOOKS = {
    "read": (style.BLUE, ""),
    "launch": (style.ORANGE, "//"),
    "ramp": (style.SKY, ""),
    "small": (style.PALE, ".."),
    "tail": (style.GREEN, "\\\\"),
    "stall": (style.RED, "xxx"),
}


def executions(timeline: xr.Dataset, model: str, shown_gpus: Sequence[str]) -> pd.DataFrame:
    """Tabulate one model's steps on some GPUs, one row per GPU and execution.

    Parameters
    ----------
    timeline : (model, gpu, execution, part)
        The store ``decode/timeline``.
    model
        Model id.
    shown_gpus
        GPU ids, in this order.

    Returns
    -------
    Every variable over GPU and execution, in SI units, and ``t_<part>`` for each part.
    """
    one = timeline.sel(model=model, gpu=list(shown_gpus))
    parts = {f"t_{part}": one["part_t"].sel(part=part, drop=True) for part in PARTS}
    flat = one.drop_dims("part").drop_vars("bytes").assign(parts)
    labels = ["gpu", "gpu_name", "execution", "execution_label"]
    frame = flat.transpose("gpu", "execution").to_dataframe().reset_index()
    return frame[[*labels, *map(str, flat.data_vars)]]


def bars_by_gpu(axes: Axes, rows: pd.DataFrame, say: Say) -> None:
    """Prepare a panel with one row per execution: names, title, room for a label at the right."""
    axes.set_yticks(np.arange(len(rows)), rows["execution_label"].map(say))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set(title=rows["gpu_name"].iloc[0])
    axes.grid(True, axis="x")


def stack(axes: Axes, rows: pd.DataFrame, say: Say) -> None:
    """Draw the parts of the time of each row as one stacked bar (ms)."""
    left = np.zeros(len(rows))
    for part, (colour, hatch) in _LOOKS.items():
        width = units.to_milliseconds(rows[f"t_{part}"].to_numpy())
        axes.barh(
            np.arange(len(rows)),
            width,
            left=left,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.6,
            label=say(part_name(part)),
        )
        left = left + width
