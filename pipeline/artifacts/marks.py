"""Marks that several figures share: predicted and published rates, times per resource."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from pipeline import units
from pipeline.artifacts import style
from pipeline.timing.resources import RESOURCES
from pipeline.words import Say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS_OF_PANELS, PANEL_HEIGHT = 3, 1.45  # inches


def bounds(frame: pd.DataFrame) -> list[str]:
    """Resources that bind something in ``frame``, in the order of the model."""
    binding = set(frame.loc[frame["predicted_gflops"].notna(), "bound"])
    return [resource.id for resource in RESOURCES if resource.id in binding]


def predicted(
    axes: Axes, frame: pd.DataFrame, x: str, y: str, binding: Sequence[str], say: Say
) -> None:
    """Draw a filled mark per prediction, in the colour of the resource that binds it.

    Parameters
    ----------
    axes
        Where to draw.
    frame
        With the columns ``x``, ``y`` and ``bound``.
    x, y
        Columns.
    binding
        Resources that the legend lists, in its order.
    say
        Language of the legend.
    """
    frame = frame.dropna(subset=[x, y])
    for bound in binding:
        rows = frame[frame["bound"] == bound]
        axes.scatter(
            rows[x],
            rows[y],
            color=style.resource_colour(bound),
            marker=style.resource_marker(bound),
            label=say("predicted: {resource}").format(resource=say(style.resource_name(bound))),
            zorder=3,
        )


def published(axes: Axes, frame: pd.DataFrame, x: str, y: str, say: Say) -> None:
    """Draw a hollow mark per published rate; arguments as in :func:`predicted`."""
    frame = frame.dropna(subset=[x, y])
    axes.scatter(
        frame[x],
        frame[y],
        s=36,
        facecolors="none",
        edgecolors=style.BLACK,
        marker="D",
        label=say("published"),
        zorder=4,
    )


def times(axes: Axes, kernel: pd.Series, say: Say) -> None:
    """Draw one bar per resource; the binding one has its colour.

    Parameters
    ----------
    axes
        Where to draw.
    kernel
        ``kernel_name``, ``bound`` and ``t_<id>`` (s) per resource.
    say
        Language of the names.
    """
    ids = [resource.id for resource in RESOURCES]
    shown = [units.to_milliseconds(kernel[f"t_{one}"]) for one in ids]
    colours = [style.resource_colour(one) if one == kernel["bound"] else style.PALE for one in ids]
    bars = axes.barh([say(style.resource_name(one)) for one in ids], shown, color=colours)
    axes.bar_label(bars, [f"{time:,.3g}" for time in shown], padding=2, fontsize=8)
    axes.set(title=say(kernel["kernel_name"]), xlim=(0, 1.22 * max(shown)))
    axes.locator_params(axis="x", nbins=4)
    axes.tick_params(axis="y", length=0)
    if not axes.yaxis_inverted():
        axes.invert_yaxis()


def times_by_gpu(figure: Figure, frame: pd.DataFrame, say: Say) -> None:
    """Draw one part per GPU, and in it one panel per kernel: a bar per resource.

    Parameters
    ----------
    figure
        Is filled, and made as high as needed.
    frame
        ``gpu_name`` and what :func:`times` takes, one row per panel; those without times are left
        out.
    say
        Language of names and labels.
    """
    runs = frame.dropna(subset=[f"t_{resource.id}" for resource in RESOURCES])
    if runs.empty:
        figure.text(0.5, 0.5, say("No block of any kernel fits on an SM."), ha="center")
        return
    by_gpu = list(runs.groupby("gpu_name", sort=False))
    heights = [0.35 + PANEL_HEIGHT * -(-len(kernels) // COLUMNS_OF_PANELS) for _, kernels in by_gpu]
    figure.set_figheight(sum(heights) + 0.3)
    parts = figure.subfigures(len(by_gpu), 1, squeeze=False, height_ratios=heights).flat
    for part, (gpu, kernels) in zip(parts, by_gpu, strict=True):
        part.suptitle(str(gpu), fontsize=10)
        panels = style.panels(
            part, len(kernels), columns=COLUMNS_OF_PANELS, height=PANEL_HEIGHT, sharey=True
        )
        for axes, (_, kernel) in zip(panels, kernels.iterrows(), strict=True):
            times(axes, kernel, say)
        longest = max(axes.get_xlim()[1] for axes in panels)
        for axes in panels:
            axes.set_xlim(0, longest)
        style.outer_labels(panels, say("time (ms)"), "")
