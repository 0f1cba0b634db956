"""Where the time of a decode step goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.decode_names import PARTS, part_name
from pipeline.artifacts.decode_step import bars_by_gpu, executions, stack
from pipeline.render.column import Column
from pipeline.words import Say, listed, message

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="timeline_parts",
    lecture=11,
    title="Where the time of a step goes",
    caption=(
        "The parts of the time of one decode step of {model_name}. On the {gpu_name} "
        "the slowest way ({label}) spends {read:,.0f} of its {total:,.0f} µs reading; the rest is "
        "{others}. The fastest ({best_label}) has {best_rest:,.0f} µs left besides reading. A "
        "faster DRAM shortens reading and last waves, and no other part."
    ),
    reading="Bars: parts of the time of a step, from left to right in the order of the legend.",
    needs={"timeline": "decode/timeline"},
    parameters=("model", "shown_gpus"),
)
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("execution_label", "execution"),
    *(Column(f"t_{part}", part_name(part), "µs", ",.1f", units.to_microseconds) for part in PARTS),
    Column("t", "in all", "µs", ",.1f", units.to_microseconds),
)


def table(timeline: xr.Dataset, model: str, shown_gpus: Sequence[str]) -> pd.DataFrame:
    """Tabulate the parts (s), one row per GPU and execution.

    Parameters
    ----------
    timeline : (model, gpu, execution, part)
        The store ``decode/timeline``.
    model
        Model id.
    shown_gpus
        GPU ids, in this order.
    """
    frame = executions(timeline, model, shown_gpus)
    return frame[["gpu", "execution", *(column.field for column in COLUMNS)]]


def drawn(timeline: xr.Dataset, model: str, shown_gpus: Sequence[str]) -> pd.DataFrame:
    """Give the parts (s); arguments as in :func:`table`."""
    return table(timeline, model, shown_gpus)


def facts(
    timeline: xr.Dataset, model: str, shown_gpus: Sequence[str], say: Say
) -> dict[str, float | str]:
    """Say what the slowest execution waits for, and what the fastest one has left."""
    frame = table(timeline, model, shown_gpus)
    one = frame[frame["gpu"] == shown_gpus[0]].sort_values("t")
    fastest, slowest = one.iloc[0], one.iloc[-1]
    waits = {part: slowest[f"t_{part}"] for part in PARTS if part != "read"}
    largest = sorted((part for part in waits if waits[part] > 0), key=lambda part: -waits[part])
    return {
        "model_name": str(timeline["model_name"].sel(model=model).item()),
        "gpu_name": slowest["gpu_name"],
        "label": slowest["execution_label"],
        "read": units.to_microseconds(slowest["t_read"]),
        "total": units.to_microseconds(slowest["t"]),
        "others": listed(
            [
                say("{part} ({time:.0f} µs)").format(
                    part=say(part_name(part)), time=units.to_microseconds(waits[part])
                )
                for part in largest
            ],
            say,
        )
        or message("nothing"),
        "best_label": fastest["execution_label"],
        "best_rest": units.to_microseconds(fastest["t"] - fastest["t_read"]),
    }


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw one panel per GPU with one stacked bar per execution."""
    names = frame["gpu_name"].unique()
    rows = len(frame) // len(names)
    panels = style.panels(figure, len(names), columns=1, height=0.6 + 0.3 * rows, sharex=True)
    for axes, name in zip(panels, names, strict=True):
        one = frame[frame["gpu_name"] == name]
        bars_by_gpu(axes, one, say)
        stack(axes, one, say)
        for row, total in enumerate(units.to_milliseconds(one["t"])):
            axes.annotate(
                f"{total:.3f}", (total, row), (3, 0), textcoords="offset points", va="center"
            )
    panels[0].set_xlim(0, 1.1 * units.to_milliseconds(frame["t"].max()))
    style.outer_labels(panels, say("time of a step (ms)"), "")
    style.legend_above(figure, panels, columns=6)
