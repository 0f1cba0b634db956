"""Marks that several figures share: predicted and published rates, times per resource."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from pipeline import units
from pipeline.artifacts import style
from pipeline.timing.resources import RESOURCES


def bounds(frame: pd.DataFrame) -> list[str]:
    """Resources that bind something in ``frame``, in the order of the model."""
    binding = set(frame.loc[frame["predicted_gflops"].notna(), "bound"])
    return [resource.id for resource in RESOURCES if resource.id in binding]


def predicted(axes: Axes, frame: pd.DataFrame, x: str, y: str, binding: Sequence[str]) -> None:
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
    """
    frame = frame.dropna(subset=[x, y])
    for bound in binding:
        rows = frame[frame["bound"] == bound]
        axes.scatter(
            rows[x],
            rows[y],
            color=style.resource_colour(bound),
            label=f"predicted: {style.resource_name(bound)}",
            zorder=3,
        )


def published(axes: Axes, frame: pd.DataFrame, x: str, y: str) -> None:
    """Draw a hollow mark per published rate; arguments as in :func:`predicted`."""
    frame = frame.dropna(subset=[x, y])
    axes.scatter(
        frame[x],
        frame[y],
        s=36,
        facecolors="none",
        edgecolors=style.BLACK,
        marker="D",
        label="published",
        zorder=4,
    )


def times(axes: Axes, kernel: pd.Series) -> None:
    """Draw one bar per resource; the binding one has its colour.

    Parameters
    ----------
    axes
        Where to draw.
    kernel
        ``kernel_name``, ``bound`` and ``t_<id>`` (s) per resource.
    """
    ids = [resource.id for resource in RESOURCES]
    shown = [units.to_milliseconds(kernel[f"t_{one}"]) for one in ids]
    colours = [style.resource_colour(one) if one == kernel["bound"] else style.PALE for one in ids]
    bars = axes.barh([style.resource_name(one) for one in ids], shown, color=colours)
    axes.bar_label(bars, [f"{time:,.3g}" for time in shown], padding=2, fontsize=8)
    axes.set(title=kernel["kernel_name"], xlim=(0, 1.22 * max(shown)))
    axes.locator_params(axis="x", nbins=4)
    axes.tick_params(axis="y", length=0)
    if not axes.yaxis_inverted():
        axes.invert_yaxis()
