"""Ways to run a decode step: kernels, time, rate, utilisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.decode_step import bars_by_gpu, executions
from pipeline.render.column import Column
from pipeline.words import Say, listed, named_together

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="timeline",
    lecture=11,
    title="One step, many ways to launch it",
    caption=(
        "One decode step of {model_name} on {gpu_names}. On the {gpu_name} it takes "
        "{first:.3f} ms ({first_label}), {first_utilisation:.0%} of the DRAM bandwidth, down to "
        "{last:.3f} ms ({last_label}), {last_utilisation:.0%} of it. {across} {launches} The model "
        "leaves out arithmetic and activations, and is optimistic."
    ),
    reading=(
        "Bars: time of a step, with its share of the DRAM bandwidth. Dashed: everything read once "
        "at the full bandwidth."
    ),
    needs={"timeline": "decode/timeline"},
    parameters=("model", "shown_gpus"),
)
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("execution_label", "execution"),
    Column("launches", "kernels or instructions", "", "d"),
    Column("launch_t", "launch cost", "µs", ".1f", units.to_microseconds),
    Column("t", "time", "ms", ".4f", units.to_milliseconds),
    Column("per_second", "steps per second", "", ",.0f"),
    Column("bandwidth_utilisation", "share of DRAM bandwidth", "", ".0%"),
    Column("ideal_t", "ideal time", "ms", ".3f", units.to_milliseconds),
    Column("launch_source", "launch cost of"),
)


def table(timeline: xr.Dataset, model: str, shown_gpus: Sequence[str]) -> pd.DataFrame:
    """Tabulate the executions of one model, one row per GPU and execution.

    Parameters
    ----------
    timeline : (model, gpu, execution)
        The store ``decode/timeline``.
    model
        Model id.
    shown_gpus
        GPU ids, in this order.
    """
    frame = executions(timeline, model, shown_gpus)
    # A megakernel is launched once, before the step.
    frame["launch_t"] = frame["launch_t"].where(frame["launch_source"] != "")
    return frame[["gpu", "execution", *(column.field for column in COLUMNS)]]


def facts(
    timeline: xr.Dataset, model: str, shown_gpus: Sequence[str], say: Say
) -> dict[str, float | str]:
    """Compare the slowest with the fastest execution, and the GPUs."""
    frame = table(timeline, model, shown_gpus)
    one = frame[frame["gpu"] == shown_gpus[0]].sort_values("t")
    fastest, slowest = one.iloc[0], one.iloc[-1]
    gpu_names = list(dict.fromkeys(frame["gpu_name"]))
    return {
        "model_name": str(timeline["model_name"].sel(model=model).item()),
        "gpu_names": named_together(gpu_names, say),
        "gpu_name": fastest["gpu_name"],
        "first_label": slowest["execution_label"],
        "first": units.to_milliseconds(slowest["t"]),
        "first_utilisation": slowest["bandwidth_utilisation"],
        "last_label": fastest["execution_label"],
        "last": units.to_milliseconds(fastest["t"]),
        "last_utilisation": fastest["bandwidth_utilisation"],
        "across": _across(frame, gpu_names, say),
        "launches": _launches(frame, say),
    }


def _launches(frame: pd.DataFrame, say: Say) -> str:
    """Say where the launch costs come from."""
    paid = frame.dropna(subset="launch_t").drop_duplicates("gpu_name")
    if paid.empty:
        return say("Nothing is launched but megakernels.")
    sources = set(paid["launch_source"])
    if len(sources) == 1:
        return say("Every launch costs what was measured on the {gpu}.").format(gpu=sources.pop())
    costs = [
        say("on the {gpu} what was measured on the {source}").format(gpu=gpu, source=source)
        for gpu, source in zip(paid["gpu_name"], paid["launch_source"], strict=True)
    ]
    return say("A launch costs {costs}.").format(costs=named_together(costs, say))


def _across(frame: pd.DataFrame, gpu_names: Sequence[str], say: Say) -> str:
    """Say how much the fastest way gains over the slowest on every GPU."""
    gains = frame.groupby("gpu_name", sort=False)["t"].agg(lambda times: times.max() / times.min())
    named = [
        say("{gain:.2f} times on the {gpu}").format(gain=gains[name], gpu=name)
        for name in gpu_names
    ]
    return say("The fastest way is ahead of the slowest {gains}.").format(gains=listed(named, say))


def drawn(timeline: xr.Dataset, model: str, shown_gpus: Sequence[str]) -> pd.DataFrame:
    """Give times (s) and utilisation; arguments as in :func:`table`."""
    columns = ["gpu_name", "execution_label", "t", "ideal_t", "bandwidth_utilisation"]
    return table(timeline, model, shown_gpus)[columns]


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw one panel per GPU with one bar per execution."""
    names = frame["gpu_name"].unique()
    rows = len(frame) // len(names)
    panels = style.panels(
        figure, len(names), columns=2, height=0.9 + 0.3 * rows, sharex=True, sharey=True
    )
    for axes, name in zip(panels, names, strict=True):
        _draw_gpu(axes, frame[frame["gpu_name"] == name], say)
    panels[0].set_xlim(0, 1.45 * units.to_milliseconds(frame["t"].max()))
    style.outer_labels(panels, say("time of a step (ms)"), "")
    style.legend_above(figure, panels)


def _draw_gpu(axes: Axes, rows: pd.DataFrame, say: Say) -> None:
    times = units.to_milliseconds(rows["t"].to_numpy())
    bars_by_gpu(axes, rows, say)
    bars = axes.barh(np.arange(len(rows)), times, color=style.BLUE, height=0.7)
    labels = [
        say("{time:.2f} ms, {share:.0%}").format(time=time, share=share)
        for time, share in zip(times, rows["bandwidth_utilisation"], strict=True)
    ]
    axes.bar_label(bars, labels, padding=3, fontsize=8.5)
    ideal = units.to_milliseconds(rows["ideal_t"].iloc[0])
    axes.axvline(ideal, color=style.BLACK, linestyle="--", linewidth=1, label=say("ideal"))
