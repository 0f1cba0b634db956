"""Counts at the large size: scaled per multiply-add against the exact polynomial."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel, with_exceptions
from pipeline.render.column import Column
from pipeline.words import Say, message

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="extrapolation",
    lecture=10,
    title="Two ways to n = {n}",
    caption=(
        "Counts at n = {n}: scaled by multiply-adds from n = {base}, against the exact polynomial "
        "in n. Scaling makes stores of C up to {stores:.0f} times too large, L1 lines at most "
        "{lines:.2f} times, warp instructions at most {instructions:.3f} times and shared-memory "
        "wavefronts at most {wavefronts:.3f} times. At n = {held_out}, which neither method had "
        "seen, the polynomial is off by at most {polynomial_error:.1%} over all counters and "
        "scaling by up to {per_fma_error:.0%}."
    ),
    reading=(
        "Left: scaled count over exact count, where 1 is right. Right: largest relative error over "
        "all counters at the held-out size."
    ),
    needs={"extrapolation": "extrapolation"},
    parameters=("large_n",),
)
SUMS = {
    "instructions": ("warp_instr",),
    "lines": ("gld_lines", "gst_lines"),
    "wavefronts": ("lds_wavefronts", "sts_wavefronts"),
    "stores": ("gst_lines",),
}
COLUMNS = (
    Column("kernel_name", "kernel"),
    Column("instructions", "warp instructions, exact", "", ",.0f"),
    Column("instructions_ratio", "scaled / exact: warp instructions", "", ".4f"),
    Column("lines_ratio", "scaled / exact: L1 lines", "", ".4f"),
    Column("wavefronts_ratio", "scaled / exact: shared wavefronts", "", ".4f"),
    Column("stores_ratio", "scaled / exact: lines of stores of C", "", ".2f"),
    Column("per_fma_error", "held-out error, scaled", "", ".1%"),
    Column("polynomial_error", "held-out error, polynomial", "", ".1%"),
)
MARKS = {
    "stores": (message("lines of stores of C"), style.BLACK, "s"),
    "lines": (message("L1 lines"), style.resource_colour("l1"), "D"),
    "instructions": (message("warp instructions"), style.resource_colour("issue"), "o"),
    "wavefronts": (message("shared wavefronts"), style.resource_colour("smem"), "x"),
}
METHODS = {
    "per_fma_error": (message("scaled per multiply-add"), style.PURPLE, "^"),
    "polynomial_error": (message("polynomial"), style.BLUE, "v"),
}


def table(extrapolation: xr.Dataset, large_n: int) -> pd.DataFrame:
    """Compare the methods at one size, one row per kernel.

    Parameters
    ----------
    extrapolation : (kernel, n, method)
        The store of that name.
    large_n
        Size that counts were carried to.
    """
    at_n = extrapolation.sel(n=large_n, drop=True)
    sums = xr.Dataset(
        {name: at_n[list(parts)].to_dataarray("part").sum("part") for name, parts in SUMS.items()}
    )
    scaled, exact = (sums.sel({"method": m}, drop=True) for m in ("per_fma", "polynomial"))
    # Where there is nothing to count, both methods say so and no ratio exists.
    ratios = (scaled / exact.where(exact > 0)).rename({name: f"{name}_ratio" for name in SUMS})
    error = at_n["held_out_error"]
    errors = {f"{m}_error": error.sel({"method": m}, drop=True) for m in ("per_fma", "polynomial")}
    return by_kernel(exact.merge(ratios).assign(errors))


def facts(extrapolation: xr.Dataset, large_n: int, say: Say) -> dict[str, float | str]:
    """Give the largest ratios and errors over all kernels, and the sizes they are about."""
    worst = table(extrapolation, large_n).max(numeric_only=True)
    return {
        "n": large_n,
        "base": with_exceptions(
            extrapolation.attrs["per_fma_base"], extrapolation["per_fma_base_n"], say
        ),
        "held_out": with_exceptions(
            extrapolation.attrs["held_out"], extrapolation["held_out_n"], say
        ),
        **{name: worst[f"{name}_ratio"] for name in SUMS},
        "per_fma_error": worst["per_fma_error"],
        "polynomial_error": worst["polynomial_error"],
    }


def drawn(extrapolation: xr.Dataset, large_n: int) -> pd.DataFrame:
    """Give ratios and errors, one row per kernel; arguments as in :func:`table`."""
    ratios = [f"{name}_ratio" for name in SUMS]
    return table(extrapolation, large_n)[["kernel", "kernel_name", *ratios, *METHODS]]


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw ratios and held-out errors as marks, one row per kernel."""
    figure.set_figheight(1.6 + 0.3 * len(frame))
    ratios, errors = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
    names = frame["kernel_name"].map(say)
    for column, (label, colour, marker) in MARKS.items():
        values = frame[f"{column}_ratio"]
        ratios.scatter(values, names, 38, colour, marker=marker, label=say(label))
    for column, (label, colour, marker) in METHODS.items():
        errors.scatter(frame[column], names, 38, colour, marker=marker, label=say(label))
    ratios.set_xscale("log", base=2)
    style.plain_ticks(ratios.xaxis, [2**power for power in range(9)])
    ratios.set_xlim(0.9, 1.15 * frame["stores_ratio"].max())
    ratios.set_xlabel(say("scaled count over exact count (1)"))
    errors.set_xlabel(say("held-out relative error (1)"))
    for axes, columns in ((ratios, 2), (errors, 1)):
        axes.grid(True)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns)
    ratios.invert_yaxis()
