"""The first layers of a decode step on a time axis, in every way to run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.vocab.decode_spans import INSTRUCTIONS
from pipeline.words import Say, message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="timeline_trace",
    lecture=11,
    title="The first {layers} of a step, as they run",
    caption=(
        "The first {layers} of one decode step of {model} on the {gpu_name}. The slowest way, "
        "{first_label}, takes {first:,.0f} µs, the fastest, {last_label}, {last:,.0f} µs; with "
        "counters, inputs and stragglers the megakernel takes {instructions:,.0f} µs. Its SMs "
        "multiply, with weights coming in, for {work:.0%} of that time and wait for one another "
        "for {counter:.0%}."
    ),
    reading=(
        "Above: kernels one after the other, and the megakernel of the lecture, as the timeline "
        "has them. Below: {shown} of the megakernel, instruction by instruction; the white "
        "gaps at the right are instructions of later layers. Each timeline is a Chrome trace as "
        "well, in the folder traces."
    ),
    needs={"spans": "decode/spans"},
)
SHOWN_SMS = 33
_WIDTH = 0.86

# Both kinds of timeline in the same words: part -> group.
_GROUPS = {
    "launch": "launch gaps",
    "setup": "launch gaps",
    "prepare": "launch gaps",
    "ramp": "ramp-up",
    "inputs": "ramp-up",
    "small": "small kernels",
    "keys_values": "small kernels",
    "read": "reading",
    "work": "reading",
    "tail": "last waves",
    "stall": "stalls",
    "counter": "stalls",
}
# Colour, a pattern for those who see no colours, and words for kernels; for instructions.
_LOOKS = {
    "reading": (style.BLUE, "", message("reading weights; multiplying them")),
    "launch gaps": (style.ORANGE, "////", message("launch gaps; set-up, norms and barriers")),
    "ramp-up": (style.SKY, "", message("ramp-up; reading counters and inputs")),
    "small kernels": (style.PALE, "....", message("small kernels; reading keys and values")),
    "last waves": (style.GREEN, "\\\\\\\\", message("last waves")),
    "stalls": (style.RED, "xxx", message("stalls; waiting for counters")),
}


def _frame(spans: xr.Dataset) -> pd.DataFrame:
    names = [name for name, held in spans.data_vars.items() if held.dims == ("span",)]
    frame = spans[names].reset_coords(drop=True).to_dataframe()
    labels = spans["execution_label"].to_series().to_dict()
    frame["execution_label"] = frame["span_execution"].map(labels)
    return frame.rename(columns={"span_execution": "execution"})


def _every(spans: xr.Dataset) -> int:
    return max(1, -(-(int(spans["track"].max()) + 1) // SHOWN_SMS))


def facts(spans: xr.Dataset, say: Say) -> dict[str, float | str]:
    """Say how long the layers take in each way, and what the SMs of the megakernel do."""
    frame = _frame(spans)
    ends = frame.groupby("execution_label", sort=False)["end"].max()
    kernels = frame[frame["execution"] != INSTRUCTIONS]
    of_kernels = ends[list(dict.fromkeys(kernels["execution_label"]))]
    mine = frame[frame["execution"] == INSTRUCTIONS]
    lengths = (mine["end"] - mine["begin"]).groupby(mine["part"]).sum()
    layers = int(frame["layer"].max()) + 1
    nth = {
        1: say("every SM"),
        2: say("every second SM"),
        3: say("every third SM"),
        4: say("every fourth SM"),
    }
    step = _every(spans)
    return {
        "layers": say("layer") if layers == 1 else say("{n} layers").format(n=layers),
        "model": str(spans["model_name"].item()),
        "gpu_name": str(spans["gpu_name"].item()),
        "first_label": str(of_kernels.idxmax()),
        "first": units.to_microseconds(float(of_kernels.max())),
        "last_label": str(of_kernels.idxmin()),
        "last": units.to_microseconds(float(of_kernels.min())),
        "instructions": units.to_microseconds(float(mine["end"].max())),
        "work": float(lengths["work"] / lengths.sum()),
        "counter": float(lengths.get("counter", 0.0) / lengths.sum()),
        "shown": nth.get(step) or say("every {n}th SM").format(n=step),
    }


def drawn(spans: xr.Dataset) -> pd.DataFrame:
    """Give the spans (s) of every execution, of the megakernel those of some SMs.

    Parameters
    ----------
    spans : (span,)
        The store ``decode/spans``.
    """
    frame = _frame(spans)
    shown = (frame["execution"] != INSTRUCTIONS) | (frame["track"] % _every(spans) == 0)
    columns = [
        "execution",
        "execution_label",
        "track",
        "operation",
        "layer",
        "part",
        "begin",
        "end",
    ]
    return frame.loc[shown, columns].reset_index(drop=True)


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw a bar per execution, and below the SMs of the megakernel."""
    from matplotlib.patches import Patch

    kernels = frame[frame["execution"] != INSTRUCTIONS]
    sms = frame[frame["execution"] == INSTRUCTIONS]
    rows = max(1, kernels["execution"].nunique())
    figure.set_figheight(1.4 + 0.3 * rows + 3.0)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[0.3 * rows + 0.2, 3.0])
    labels = list(dict.fromkeys(kernels["execution_label"]))
    _draw(above, kernels, kernels["execution_label"].map(labels.index), with_patterns=True)
    above.set_yticks(range(len(labels)), [say(label) for label in labels])
    above.set_ylim(len(labels) - 0.5, -0.5)
    tracks = sorted(sms["track"].unique())
    _draw(below, sms, sms["track"].map(tracks.index), with_patterns=False)
    shown = range(0, len(tracks), 8)
    below.set_yticks(list(shown), [f"SM {tracks[place]}" for place in shown])
    below.set_ylim(len(tracks) - 0.5, -0.5)
    below.set_title(say("megakernel, instruction by instruction"))
    below.set_xlabel(say("time (µs)"))
    below.set_xlim(0, 1.01 * units.to_microseconds(float(frame["end"].max())))
    for axes in (above, below):
        axes.tick_params(axis="y", length=0)
        axes.grid(True, axis="x")
    used = {_GROUPS[part] for part in frame["part"]}
    handles = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0, label=say(label))
        for group, (colour, hatch, label) in _LOOKS.items()
        if group in used
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=2)


def _draw(axes: Axes, frame: pd.DataFrame, rows: pd.Series[int], with_patterns: bool) -> None:
    from matplotlib.collections import PolyCollection

    groups = frame["part"].map(_GROUPS)
    for group, (colour, hatch, _) in _LOOKS.items():
        chosen = groups == group
        boxes = [
            _box(begin, end, row)
            for begin, end, row in zip(
                units.to_microseconds(frame.loc[chosen, "begin"]),
                units.to_microseconds(frame.loc[chosen, "end"]),
                rows[chosen],
                strict=True,
            )
        ]
        if boxes:
            marks = PolyCollection(boxes, facecolors=colour, edgecolors="white", linewidths=0)
            # Patterns are noise where bars are as thin as those of SMs.
            marks.set_hatch(hatch if with_patterns else "")
            axes.add_collection(marks)


def _box(begin: float, end: float, row: int) -> list[tuple[float, float]]:
    low, high = row - _WIDTH / 2, row + _WIDTH / 2
    return [(begin, low), (end, low), (end, high), (begin, high)]
