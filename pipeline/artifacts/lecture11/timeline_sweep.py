"""Where the megakernel wins by how much: heat maps over the sweep of timelines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.vocab.sweeps import GAIN_PAIRS
from pipeline.words import Say, message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import TwoSlopeNorm
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="timeline_sweep",
    lecture=11,
    title="Where the megakernel wins, and by how much",
    caption=(
        "Time of {reference} over that of {compared}, for {model_name} with {points:,} sets of "
        "assumptions per GPU. On the {gpu_name} the gain is {gain:.2f} in the middle of them, and "
        "between {least:.2f} and {most:.2f} over all; at {losing_words} of them {compared} is no "
        "faster. Over all GPUs the gain in the middle goes from {lowest:.2f} ({lowest_gpu}) to "
        "{highest:.2f} ({highest_gpu}): the faster memory is, the more of the time is launching."
    ),
    reading=(
        "Heat maps, {gpu_name}: gain with all other parameters in the middle of their values; "
        "below it, where there is room, the least gain whatever the others are. Blue wins, red "
        "loses. Bottom: from least to largest gain on each GPU; dots stand for the middle."
    ),
    needs={"gain": "sweeps/timeline_gain"},
    parameters=("gpu",),
)

_LABELS: dict[str, tuple[str, str, Callable[[float], float]]] = {
    "launch": (message("launch"), "µs", units.to_microseconds),
    "ramp": (message("ramp-up"), "µs", units.to_microseconds),
    "small": (message("small kernel"), "µs", units.to_microseconds),
    "sync": (message("synchronisation"), "µs", units.to_microseconds),
    "instr_overhead": (message("instruction overhead"), "µs", units.to_microseconds),
    "smem_buf": (message("read ahead per SM"), "KiB", units.to_kibibytes),
    "context": (message("context"), message("tokens"), float),
    "batch": (message("batch"), message("sequences"), float),
}

# Cells with two lines of text, and with text at all, that a panel has room for.
TWO_LINES = 20
ONE_LINE = 60
MOST_TICKS = 7

_TITLE: dict[str, Any] = {"x": 0.01, "ha": "left", "fontsize": 9, "fontweight": "bold"}

# Distance from the middle of the colours at which black text is hard to read.
DARK = 0.3


def facts(gain: xr.Dataset, gpu: str) -> dict[str, Any]:
    """Find what the caption says; arguments as in :func:`drawn`."""
    here, middle = gain.sel(gpu=gpu), gain["gain"].to_numpy()
    names = gain["gpu_name"].to_numpy()
    return {
        "reference": str(gain["reference_label"].item()),
        "compared": str(gain["compared_label"].item()),
        "model_name": str(gain["model_name"].item()),
        "gpu_name": str(here["gpu_name"].item()),
        "points": int(here["points"]),
        "gain": float(here["gain"]),
        "least": float(here["least_gain"]),
        "most": float(here["most_gain"]),
        "losing_words": f"{int(here['losing']) / int(here['points']):.1%}",
        "lowest": middle.min(),
        "lowest_gpu": str(names[middle.argmin()]),
        "highest": middle.max(),
        "highest_gpu": str(names[middle.argmax()]),
    }


def drawn(gain: xr.Dataset, gpu: str) -> pd.DataFrame:
    """Give heat maps of one GPU and the range of every GPU, told apart by ``panel``.

    Parameters
    ----------
    gain
        The store ``sweeps/timeline_gain``.
    gpu
        Id of the GPU.
    """
    here = gain.sel(gpu=gpu)
    maps = [_heat_map(here, *pair) for pair in GAIN_PAIRS]
    ranges = gain[["gain", "least_gain", "most_gain"]].to_dataframe().reset_index()
    columns = ["gpu", "gpu_name", "gain", "least_gain", "most_gain"]
    return pd.concat([*maps, ranges[columns].assign(panel="gpus")], ignore_index=True)


def _heat_map(here: xr.Dataset, row: str, column: str) -> pd.DataFrame:
    """Gain by two parameters: ``row`` and ``column`` hold their values."""
    name = f"{row}_{column}"
    both = {"gain": here[f"gain_{name}"], "least_gain": here[f"least_gain_{name}"]}
    frame = xr.Dataset(both).rename({row: "row", column: "column"}).to_dataframe()
    named = frame[["gain", "least_gain"]].reset_index()
    return named.assign(panel=name, gpu_name=str(here["gpu_name"].item()))


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw four heat maps and the ranges."""
    from matplotlib.colors import TwoSlopeNorm

    gpus = frame[frame["panel"] == "gpus"]
    figure.set_figheight(6.5 + 0.2 * len(gpus))
    ratios = [5.6, 0.7 + 0.2 * len(gpus)]
    top, bottom = np.ravel(np.asarray(figure.subfigures(2, 1, height_ratios=ratios)))
    maps = frame[frame["panel"] != "gpus"]
    norm = TwoSlopeNorm(1, min(0.8, maps["gain"].min()), max(1.2, maps["gain"].max()))
    for axes, pair in zip(top.subplots(2, 2).flat, GAIN_PAIRS, strict=True):
        _draw_map(axes, maps[maps["panel"] == "_".join(pair)], pair, norm, say)
    top.suptitle(say("{gpu}: times faster").format(gpu=maps["gpu_name"].iloc[0]), **_TITLE)
    bottom.suptitle(say("Least, middle and largest"), **_TITLE)
    _draw_ranges(bottom.subplots(), gpus, say)


def _draw_map(
    axes: Axes, cells: pd.DataFrame, pair: tuple[str, str], norm: TwoSlopeNorm, say: Say
) -> None:
    grids = [
        cells.pivot_table(index="row", columns="column", values=v) for v in ("gain", "least_gain")
    ]
    gain, least = (grid.to_numpy() for grid in grids)
    axes.imshow(gain, cmap="RdBu", norm=norm, aspect="auto", origin="lower")
    for (row, column), value in np.ndenumerate(gain):
        if gain.size <= ONE_LINE:
            below = f"\n≥ {least[row, column]:.2f}" if gain.size <= TWO_LINES else ""
            colour = "white" if abs(norm(value) - 0.5) > DARK else style.BLACK
            text = f"{value:.2f}{below}"
            axes.text(column, row, text, color=colour, fontsize=8, **style.IN_A_CELL)
    for axis, name, values in zip(
        (axes.yaxis, axes.xaxis), pair, (grids[0].index, grids[0].columns), strict=True
    ):
        label, unit, convert = _LABELS[name]
        step = -(-len(values) // MOST_TICKS)
        places = range(0, len(values), step)
        axis.set_ticks(places, [f"{convert(values[i]):,.4g}" for i in places])
        axis.set_tick_params(length=0)
        axis.set_label_text(f"{say(label)} ({say(unit)})")


def _draw_ranges(axes: Axes, gpus: pd.DataFrame, say: Say) -> None:
    names = gpus["gpu_name"]
    places = range(len(names))
    axes.axvline(1, color=style.GREY, linestyle="--", linewidth=1)
    axes.hlines(places, gpus["least_gain"], gpus["most_gain"], color=style.SKY, linewidth=5)
    axes.scatter(gpus["gain"], places, color=style.BLUE, zorder=3)
    axes.set_yticks(places, names)
    axes.set_xlabel(say("times faster (1)"))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(True, axis="x")
