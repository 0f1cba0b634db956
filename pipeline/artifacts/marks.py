"""Marks that several figures share: predicted and published rates."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

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
