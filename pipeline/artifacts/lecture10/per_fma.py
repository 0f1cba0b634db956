"""Counts per multiply-add: what stays the same at every size, and what falls as 1/n."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel, taken, with_exceptions
from pipeline.render.column import Column
from pipeline.words import Say, message

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="per_fma",
    lecture=10,
    title="Counts per multiply-add",
    caption=(
        "Counts divided by multiply-adds at n = {small} and n = {second}. What belongs to the main "
        "loop stays: {staying} of {total} counts are the same at both sizes. What happens once per "
        "element of C, its stores above all, falls as 1/n: {falling} counts do. The other {mixed} "
        "hold some of both; of their value at the smaller size at most {largest_share:.1%} falls."
    ),
    reading=(
        "One panel per kernel, both axes logarithmic: a level line is a constant count per "
        "multiply-add. Counts of zero are not drawn."
    ),
    needs={"counts": "counts"},
    parameters=("small_n", "second_n"),
)
NAMES = {
    "warp_instr": message("warp instructions"),
    "gld_lines": message("global load lines"),
    "gst_lines": message("global store lines"),
    "lds_wavefronts": message("shared load wavefronts"),
    "sts_wavefronts": message("shared store wavefronts"),
}
COLUMNS = (
    Column("kernel_name", "kernel"),
    Column("counter_name", "count"),
    Column("n_small", "smaller n", "", "d"),
    Column("n_second", "larger n", "", "d"),
    Column("per_fma_small", "per multiply-add, smaller n", "", ".6f"),
    Column("per_fma_second", "per multiply-add, larger n", "", ".6f"),
    Column("behaviour", "with n"),
    Column("falling_share", "share that falls as 1/n", "", ".1%"),
)
COLOURS = {
    "warp_instr": style.resource_colour("issue"),
    "gld_lines": style.resource_colour("l1"),
    "gst_lines": style.BLACK,
    "lds_wavefronts": style.resource_colour("smem"),
    "sts_wavefronts": style.PURPLE,
}
MARKERS = {
    "warp_instr": style.resource_marker("issue"),
    "gld_lines": style.resource_marker("l1"),
    "gst_lines": "D",
    "lds_wavefronts": style.resource_marker("smem"),
    "sts_wavefronts": "P",
}
ROUNDING = 1e-12
# Sizes closer together than this would write over each other below the axis.
TICK_RATIO = 1.9


def drawn(counts: xr.Dataset) -> pd.DataFrame:
    """Give every count per multiply-add at every simulated size; zeros and gaps are left out.

    Parameters
    ----------
    counts : (kernel, n)
        The store of that name.
    """
    ratios = (counts[list(NAMES)] / counts["fma"]).where(counts["simulated"])
    frame = by_kernel(ratios).melt(
        id_vars=["kernel_number", "kernel", "kernel_name", "n"],
        value_vars=list(NAMES),
        var_name="counter",
        value_name="per_fma",
    )
    frame = frame[frame["per_fma"] > 0].copy()
    frame["counter_name"] = frame["counter"].map(NAMES)
    order = {counter: rank for rank, counter in enumerate(NAMES)}
    rank = frame["counter"].map(order)
    return (
        frame.assign(rank=rank)
        .sort_values(["kernel_number", "rank", "n"], ignore_index=True)
        .drop(columns=["rank", "kernel_number"])
    )


def table(counts: xr.Dataset, small_n: int, second_n: int) -> pd.DataFrame:
    """Compare counts per multiply-add at two sizes, one row per kernel and counter.

    Two sizes determine ``constant + once / n``; ``falling_share`` is the part of the second term at
    the smaller size.

    Parameters
    ----------
    counts : (kernel, n)
        The store of that name.
    small_n, second_n
        Simulated sizes. A kernel that does not take them is compared at the next ones that it
        takes; one that was simulated at a single size is left out.
    """
    long = drawn(counts)
    keys = ["kernel", "kernel_name", "counter", "counter_name"]
    small, second = _two_sizes(counts["simulated"], small_n, second_n)
    sides = [
        long[long["n"] == long["kernel"].map(sizes.to_series())]
        .set_index(keys)[["n", "per_fma"]]
        .add_suffix(suffix)
        for sizes, suffix in ((small, "_small"), (second, "_second"))
    ]
    frame = sides[0].join(sides[1], how="inner").reset_index()
    frame = frame[frame["n_small"] < frame["n_second"]].reset_index(drop=True)
    fall = 1 - frame["per_fma_second"] / frame["per_fma_small"]
    share = fall / (1 - frame["n_small"] / frame["n_second"])
    frame["falling_share"] = share.where(share.abs() > ROUNDING, 0.0)
    frame["behaviour"] = np.select(
        [frame["falling_share"] == 0, (share - 1).abs() < ROUNDING],
        [message("stays"), message("falls as 1/n")],
        message("both"),
    )
    return frame


def _two_sizes(
    simulated: xr.DataArray, small_n: int, second_n: int
) -> tuple[xr.DataArray, xr.DataArray]:
    """Choose two sizes per kernel, the second one larger where the kernel takes another."""
    small = taken(simulated, min(small_n, second_n))
    beyond = simulated.sel(kernel=small["kernel"])
    return small, taken(beyond.where(beyond["n"] > small, other=False), max(small_n, second_n))


def facts(counts: xr.Dataset, small_n: int, second_n: int, say: Say) -> dict[str, float | str]:
    """How many counts stay, fall, or do both."""
    frame = table(counts, small_n, second_n)
    mixed = frame[frame["behaviour"] == "both"]
    small, second = _two_sizes(counts["simulated"], small_n, second_n)
    return {
        "small": with_exceptions(min(small_n, second_n), small, say),
        "second": with_exceptions(max(small_n, second_n), second, say),
        "total": len(frame),
        "staying": int((frame["behaviour"] == "stays").sum()),
        "falling": int((frame["behaviour"] == "falls as 1/n").sum()),
        "mixed": len(mixed),
        "largest_share": float(mixed["falling_share"].max()) if len(mixed) else 0.0,
    }


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw one panel per kernel with one line per count."""
    kernels = frame["kernel_name"].unique()
    panels = style.panels(figure, len(kernels), columns=3, height=2.1, sharex=True, sharey=True)
    for axes, kernel in zip(panels, kernels, strict=True):
        axes.set(title=say(kernel), xscale="log", yscale="log")
        for counter, line in frame[frame["kernel_name"] == kernel].groupby("counter", sort=False):
            axes.plot(
                line["n"],
                line["per_fma"],
                marker=MARKERS[str(counter)],
                color=COLOURS[str(counter)],
                label=say(NAMES[str(counter)]),
            )
        axes.grid(True, axis="y")
        style.rate_ticks(axes.yaxis, times=(1,))
        style.plain_ticks(axes.xaxis, style.spaced(sorted(frame["n"].unique()), TICK_RATIO))
    style.outer_labels(panels, say("matrix size n (elements)"), say("count per multiply-add (1)"))
    style.legend_above(figure, panels)
