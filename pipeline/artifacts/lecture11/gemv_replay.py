"""Matrix-vector products of a decode step: published, replayed, and by the lecture's model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import gpus_in_order, mean_absolute_error, stall_name
from pipeline.render.column import Column
from pipeline.words import Say, together

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="gemv_replay",
    lecture=11,
    title="Matrix-vector products, replayed",
    caption=(
        "Published times of {products} products of a {dtype} matrix and one vector, beside a "
        "replay of a plain kernel's machine code on one SM: a warp per row, and the widest loads. "
        "{by_gpu} Time is off by {replay:.0%} on average in the replay and by {lecture:.0%} "
        "in the lecture's model, which reads all weights at its share of the bandwidth and "
        "knows waves of blocks. {stall_words}"
    ),
    reading=(
        "Time over weights read, both on logarithmic axes; hollow diamonds published, dots "
        "replayed, crosses as the lecture's model has it. The line is the time of the weights at "
        "the full bandwidth of the sheet."
    ),
    needs={"gemvs": "sm_gemvs", "compared": "decode/compared", "gpus": "gpus"},
)
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("rows", "rows", "", ",.0f"),
    Column("columns", "columns", "", ",.0f"),
    Column("weight_bytes", "weights", "MB", ",.3g", units.to_mega),
    Column("measured", "published", "µs", ",.2f", units.to_microseconds),
    Column("replay_t", "replay", "µs", ",.2f", units.to_microseconds),
    Column("lecture_t", "lecture's model", "µs", ",.2f", units.to_microseconds),
    Column("replay_error", "error, replay", "", "+.0%"),
    Column("lecture_error", "error, lecture's model", "", "+.0%"),
    Column("dram_share", "DRAM bandwidth in the replay", "", ".0%"),
    Column("stall", "warps mostly wait for", convert=stall_name),
)
MODELS = ("replay", "lecture")


def table(gemvs: xr.Dataset, compared: xr.Dataset, gpus: xr.Dataset) -> pd.DataFrame:
    """Tabulate products, GPUs in their order, the smallest first.

    Parameters
    ----------
    gemvs : (measurement,)
        The store ``sm_gemvs``.
    compared : (measurement, decode_model)
        The store ``decode/compared``.
    gpus : (gpu,)
        The store of that name.
    """
    frame = gemvs.rename(t="replay_t").to_dataframe()
    lecture = compared["predicted"].sel(decode_model="lecture", drop=True).to_series()
    frame["lecture_t"] = lecture.reindex(frame.index)
    for model in MODELS:
        frame[f"{model}_error"] = frame[f"{model}_t"] / frame["measured"] - 1
    frame["dram_bandwidth"] = frame["gpu"].map(gpus["dram_bandwidth"].to_series())
    return gpus_in_order(frame, gpus, ["weight_bytes", "rows"])


def facts(gemvs: xr.Dataset, compared: xr.Dataset, gpus: xr.Dataset, say: Say) -> dict[str, Any]:
    """Say how far off both are, and what the warps of the replay wait for."""
    frame = table(gemvs, compared, gpus)
    by_gpu = [
        say("On the {gpu} the replay is off by {replay:.0%}, for products of at least "
            "{large:.0f} MB by {of_large:.0%}.").format(
            gpu=name,
            replay=_mean(rows, "replay"),
            large=units.to_mega(LARGE_BYTES),
            of_large=_mean(rows[rows["weight_bytes"] >= LARGE_BYTES], "replay"),
        )
        for name, rows in frame.groupby("gpu_name", sort=False)
    ]  # fmt: skip
    waits = frame["stall"].mode()
    return {
        "products": len(frame),
        "dtype": "bfloat16",
        "by_gpu": together(by_gpu, say) or say("None of them is for a GPU that is replayed."),
        **{model: _mean(frame, model) for model in MODELS},
        "stall_words": say("Its warps mostly wait for {reason}.").format(
            reason=say(stall_name(str(waits.iloc[0])))
        )
        if len(waits)
        else "",
    }


LARGE_BYTES = 8e6
"""Products from here on are large, as those that the published lines are fitted to."""


def _mean(frame: pd.DataFrame, model: str) -> float:
    return float(np.nan_to_num(mean_absolute_error(frame[f"{model}_error"] + 1)))


def drawn(gemvs: xr.Dataset, compared: xr.Dataset, gpus: xr.Dataset) -> pd.DataFrame:
    """Give times (s) by the weights (B); arguments as in :func:`table`."""
    columns = ["gpu", "gpu_name", "weight_bytes", "dram_bandwidth", "measured"]
    return table(gemvs, compared, gpus)[[*columns, *(f"{model}_t" for model in MODELS)]]


_LOOKS: dict[str, dict[str, Any]] = {
    "measured": {"marker": "D", "s": 58, "facecolors": "none", "edgecolors": style.BLACK},
    "replay_t": {"color": style.BLUE, "s": 20, "zorder": 3},
    "lecture_t": {"color": style.RED, "marker": "x", "s": 30},
}


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw times over weights, a panel per GPU."""
    groups = list(frame.groupby("gpu_name", sort=False))
    if not groups:
        figure.text(0.5, 0.5, say("no published products on these GPUs"), ha="center")
        return
    panels = style.panels(figure, len(groups), columns=2, height=3.3, sharex=True, sharey=True)
    for axes, (name, rows) in zip(panels, groups, strict=True):
        weights = units.to_mega(rows["weight_bytes"])
        labels = {
            "measured": say("published"),
            "replay_t": say("replay"),
            "lecture_t": say("lecture's model"),
        }
        for column, look in _LOOKS.items():
            times = units.to_microseconds(rows[column])
            axes.scatter(weights, times, label=labels[column], **look)
        ends = rows["weight_bytes"].agg(["min", "max"])
        line = units.to_microseconds(ends / rows["dram_bandwidth"].iloc[0])
        axes.plot(
            units.to_mega(ends), line, color=style.GREY, linewidth=1,
            label=say("weights at full bandwidth"),
        )  # fmt: skip
        axes.set(title=name, xscale="log", yscale="log")
        style.rate_ticks(axes.xaxis, (1,))
        style.rate_ticks(axes.yaxis)
        axes.grid(True)
    # Only now: set before, the limits of the first panel would be those of all.
    panels[0].set_ylim(bottom=1)
    style.outer_labels(panels, say("weights (MB)"), say("time (µs)"))
    style.legend_above(figure, panels, columns=4)
