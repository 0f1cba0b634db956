"""What becomes of the comparison when an assumption changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.render.column import Column
from pipeline.words import Say, english, message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="sensitivity",
    lecture=11,
    title="No single assumption decides",
    caption=(
        "{model_name} on the {gpu_name}, with one assumption changed at a time. The speed-up of "
        "{compared} over {reference} stays between {least:.2f} and {most:.2f}, and the gain in "
        "DRAM bandwidth between {fewest:.0f} and {largest:.0f} percentage points. What moves the "
        "speed-up most is {widest}."
    ),
    reading=(
        "Left: speed-up of {compared} over {reference}; each bar goes from the value without a "
        "change (line) to that with it. Right: share of the DRAM bandwidth of both."
    ),
    needs={"sensitivity": "decode/sensitivity"},
    parameters=("reference", "compared"),
)
COLUMNS = (
    Column("change", "change"),
    Column("reference_t", "time, reference", "ms", ".3f", units.to_milliseconds),
    Column("compared_t", "time, compared", "ms", ".3f", units.to_milliseconds),
    Column("reference_utilisation", "bandwidth, reference", "", ".1%"),
    Column("compared_utilisation", "bandwidth, compared", "", ".1%"),
    Column("gain", "points gained", "", ".1f"),
    Column("speedup", "times faster", "", ".2f"),
)
NO_CHANGE = message("no change")

_SECONDS = {
    "ramp": message("ramp-up"),
    "small": message("small kernel"),
    "sync": message("synchronisation"),
    "instr_overhead": message("instruction overhead"),
}
_PLAIN = {
    "eff": message("share of bandwidth reached"),
    "pages": message("pages"),
    "page_bytes": message("bytes per page"),
}


def table(
    sensitivity: xr.Dataset, reference: str, compared: str, say: Say = english
) -> pd.DataFrame:
    """Compare two executions under every change, one row per variant.

    Parameters
    ----------
    sensitivity : (variant, execution)
        The store ``decode/sensitivity``.
    reference, compared
        Execution ids.
    say
        Language of the changes.

    Returns
    -------
    Times in s; ``gain`` in percentage points.
    """
    changes = sensitivity[["parameter", "value", "base_value"]].reset_coords(drop=True)
    frame = changes.to_dataframe().reset_index()
    frame["change"] = [_change(row, say) for _, row in frame.iterrows()]
    for name, execution in (("reference", reference), ("compared", compared)):
        one = sensitivity.sel(execution=execution)
        frame[f"{name}_t"] = one["t"].to_numpy()
        frame[f"{name}_utilisation"] = one["bandwidth_utilisation"].to_numpy()
    frame["gain"] = 100 * (frame["compared_utilisation"] - frame["reference_utilisation"])
    frame["speedup"] = frame["reference_t"] / frame["compared_t"]
    return frame[["variant", "parameter", *(column.field for column in COLUMNS)]]


def _change(row: pd.Series, say: Say) -> str:
    """Say what changes, and from what to what."""
    name = row["parameter"]
    if not name:
        return say(NO_CHANGE)
    if name in _SECONDS:
        before, after = (units.to_microseconds(row[one]) for one in ("base_value", "value"))
        change = say("{what} {before:g} to {after:g} µs")
        return change.format(what=say(_SECONDS[name]), before=before, after=after)
    change = say("{what} {before:g} to {after:g}")
    return change.format(what=say(_PLAIN[name]), before=row["base_value"], after=row["value"])


def facts(
    sensitivity: xr.Dataset, reference: str, compared: str, say: Say
) -> dict[str, float | str]:
    """Give the ranges of speed-up and gain, and the change that matters most."""
    frame = table(sensitivity, reference, compared, say)
    labels = dict(
        zip(sensitivity["execution"].values, sensitivity["execution_label"].values, strict=True)
    )
    base = frame.loc[frame["parameter"] == "", "speedup"].iloc[0]
    widest = frame.loc[(frame["speedup"] - base).abs().idxmax(), "change"]
    return {
        "model_name": str(sensitivity["model_name"].item()),
        "gpu_name": str(sensitivity["gpu_name"].item()),
        "compared": labels[compared],
        "reference": labels[reference],
        "least": frame["speedup"].min(),
        "most": frame["speedup"].max(),
        "fewest": frame["gain"].min(),
        "largest": frame["gain"].max(),
        "widest": widest,
    }


def drawn(sensitivity: xr.Dataset, reference: str, compared: str, say: Say) -> pd.DataFrame:
    """Give the variants, the one that moves the speed-up most first, and the labels.

    Arguments as in :func:`table`.
    """
    frame = table(sensitivity, reference, compared, say)
    base = frame.loc[frame["parameter"] == "", "speedup"].iloc[0]
    order = (frame["speedup"] - base).abs().sort_values(ascending=False, kind="stable").index
    frame = frame.loc[order].reset_index(drop=True)
    labels = sensitivity["execution_label"].to_series()
    frame["reference_label"], frame["compared_label"] = labels[reference], labels[compared]
    return frame


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw a tornado of the speed-up at the left, utilisations at the right."""
    figure.set_figheight(1.3 + 0.32 * len(frame))
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_speedup(left, frame, say)
    _draw_utilisation(right, frame, say)
    left.set_yticks(np.arange(len(frame)), frame["change"])
    left.set_ylim(len(frame) - 0.4, -0.6)
    for axes in (left, right):
        axes.tick_params(axis="y", length=0)
        axes.grid(True, axis="x")
    style.legend_above(figure, [right])


def _draw_speedup(axes: Axes, frame: pd.DataFrame, say: Say) -> None:
    base = frame.loc[frame["parameter"] == "", "speedup"].iloc[0]
    rows = np.arange(len(frame))
    span = frame["speedup"] - base
    axes.barh(rows, span, left=base, color=style.GREY, height=0.65)
    axes.axvline(base, color=style.BLACK, linewidth=1)
    for row, speedup in zip(rows, frame["speedup"], strict=True):
        below = speedup < base
        axes.annotate(
            f"{speedup:.2f}",
            (speedup, row),
            (-3 if below else 3, 0),
            textcoords="offset points",
            ha="right" if below else "left",
            va="center",
            fontsize=8.5,
        )
    reach = 1.35 * max(span.abs().max(), 1e-6)
    axes.set(xlim=(base - reach, base + reach), xlabel=say("speed-up (times)"))


def _draw_utilisation(axes: Axes, frame: pd.DataFrame, say: Say) -> None:
    rows = np.arange(len(frame))
    ends = frame["reference_utilisation"], frame["compared_utilisation"]
    axes.hlines(rows, ends[0], ends[1], style.PALE, linewidth=2)
    looks = (("reference", style.RED, "s"), ("compared", style.BLUE, "o"))
    for name, colour, marker in looks:
        label = say(frame[f"{name}_label"].iloc[0])
        axes.scatter(
            frame[f"{name}_utilisation"], rows, 34, colour, marker=marker, label=label, zorder=3
        )
    axes.set(xlim=(0, 1), xlabel=say("share of the DRAM bandwidth (%)"))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
