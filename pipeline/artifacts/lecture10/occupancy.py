"""Resident blocks of every kernel on every GPU, and what registers do to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel, tags
from pipeline.hardware.occupancy import CAPABILITY
from pipeline.hardware.occupancy import occupancy as resident
from pipeline.render.column import Column
from pipeline.words import Say, english, listed, message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="occupancy",
    lecture=10,
    title="Occupancy",
    caption=(
        "How many blocks of each kernel are resident on one SM, and what keeps another one out. "
        "Occupancy goes from {highest:.0%} ({highest_name} on {highest_gpu}) down to {lowest:.0%} "
        "({lowest_name} on {lowest_gpu}): the accumulators that save accesses take the registers "
        "of other warps. Registers limit {by_registers} of {total} cases."
    ),
    reading=(
        "Curves: occupancy of a block without shared memory, by registers per thread; GPUs with "
        "the same limits share one. Marks: the kernels with that many threads per block."
    ),
    needs={"occupancy": "occupancy", "gpus": "gpu_limits"},
    parameters=("shown_gpus",),
)
COLUMNS = (
    Column("kernel_name", "kernel"),
    Column("gpu_name", "GPU"),
    Column("threads_per_block", "threads per block", "", ",d"),
    Column("registers_per_thread", "registers per thread", "", "d"),
    Column("smem_bytes", "shared memory per block", "KiB", ".3g", units.to_kibibytes),
    Column("blocks_per_sm", "blocks per SM", "", "d"),
    Column("warps_per_sm", "warps per SM", "", "d"),
    Column("occupancy", "occupancy", "", ".0%"),
    Column("limited_by", "limited by"),
)
LAUNCH = ("threads_per_block", "registers_per_thread", "smem_bytes")
RESIDENT = ("blocks_per_sm", "warps_per_sm", "occupancy", "limited_by")

# What ``limited_by`` names.
LIMITS = {
    "warps": message("warps"),
    "registers": message("registers"),
    "shared": message("shared memory"),
    "blocks": message("blocks"),
    CAPABILITY: message("compute capability"),
}

# Registers are given to a warp in units that are 8 per thread, so a curve steps only there. No
# thread can have fewer than 16 in practice, nor more than 255.
REGISTERS = (*range(16, 255, 8), 255)

# Numbers of panels that fill rows of two, and leave gaps in rows of three.
EVEN = (2, 4)

# Width of a name on the axis of registers.
TAG_REGISTERS = 60


def table(
    occupancy: xr.Dataset, gpus: xr.Dataset, shown_gpus: Sequence[str], say: Say = english
) -> pd.DataFrame:
    """Tabulate residency, one row per kernel and GPU.

    Parameters
    ----------
    occupancy : (kernel, gpu)
        The store of that name.
    gpus : (gpu)
        The store of that name.
    shown_gpus
        Those that are shown, in this order.
    say
        Language of the limits.
    """
    shown = occupancy[[*LAUNCH, *RESIDENT]].sel(gpu=list(shown_gpus))
    frame = by_kernel(shown.transpose("kernel", "gpu"))
    frame["gpu_name"] = frame["gpu"].map(_names(gpus))
    frame["limited_by"] = [
        listed([say(LIMITS[limit]) for limit in limits.split()], say)
        for limits in frame["limited_by"]
    ]
    return frame


def facts(
    occupancy: xr.Dataset, gpus: xr.Dataset, shown_gpus: Sequence[str]
) -> dict[str, float | str]:
    """Find the extremes of occupancy, and count the cases that registers limit."""
    frame = table(occupancy, gpus, shown_gpus)
    most = frame.iloc[frame["occupancy"].argmax()]
    least = frame.iloc[frame["occupancy"].argmin()]
    registers = frame["limited_by"].str.contains(LIMITS["registers"])
    return {
        "highest": most["occupancy"],
        "highest_name": most["kernel_name"],
        "highest_gpu": most["gpu_name"],
        "lowest": least["occupancy"],
        "lowest_name": least["kernel_name"],
        "lowest_gpu": least["gpu_name"],
        "by_registers": int(registers.sum()),
        "total": len(frame),
    }


def drawn(occupancy: xr.Dataset, gpus: xr.Dataset, shown_gpus: Sequence[str]) -> pd.DataFrame:
    """Give curves by registers per thread, and a row with ``kernel`` for each mark.

    GPUs with the same curves in all panels are one group, named in ``gpus``. Arguments as in
    :func:`table`.
    """
    gpus = gpus.sel(gpu=list(shown_gpus))
    blocks = np.unique(occupancy["threads_per_block"])[::-1]
    grid = xr.Dataset(coords={"threads_per_block": blocks, "registers_per_thread": [*REGISTERS]})
    curves = resident(
        grid["threads_per_block"], grid["registers_per_thread"], 0, gpus.reset_coords(drop=True)
    )["occupancy"].transpose("gpu", *grid.dims)
    groups = _groups(curves, _names(gpus))
    first = {members[0]: label for label, members in groups.items()}
    lines = curves.sel(gpu=list(first)).to_dataframe("occupancy").reset_index()
    lines["gpus"] = lines["gpu"].map(first)
    marks = table(occupancy, gpus, shown_gpus)
    group_of = {gpu: label for label, members in groups.items() for gpu in members}
    marks["gpus"] = marks["gpu"].map(group_of)
    columns = ["gpus", "threads_per_block", "registers_per_thread", "occupancy"]
    marks = marks[["kernel", *columns]].drop_duplicates()
    return pd.concat([lines[columns], marks], ignore_index=True)[[*columns, "kernel"]]


def _names(gpus: xr.Dataset) -> dict[str, str]:
    return dict(zip(gpus["gpu"].to_numpy(), gpus["gpu_name"].to_numpy(), strict=True))


def _groups(curves: xr.DataArray, names: dict[str, str]) -> dict[str, list[str]]:
    """Collect the GPUs whose curves are equal, under their joined names."""
    alike: dict[bytes, list[str]] = defaultdict(list)
    for gpu in curves["gpu"].to_numpy():
        alike[curves.sel(gpu=gpu).to_numpy().tobytes()].append(str(gpu))
    return {", ".join(names[gpu] for gpu in group): group for group in alike.values()}


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw one panel per block size: a curve per group of GPUs, a mark per kernel."""
    blocks = sorted(frame["threads_per_block"].unique(), reverse=True)
    columns = 2 if len(blocks) in EVEN else 3
    panels = style.panels(
        figure, len(blocks), columns=columns, height=2.6, sharex=True, sharey=True
    )
    # More groups than colours come back to the first one, with another dash.
    looks = list(zip(cycle(style.DASHES), style.SEVEN * len(style.DASHES), strict=False))
    for axes, block in zip(panels, blocks, strict=True):
        panel = frame[frame["threads_per_block"] == block]
        for rank, (_, group) in enumerate(panel.groupby("gpus", sort=False)):
            _draw_group(axes, group, *looks[rank % len(looks)])
        _tag_kernels(axes, panel[panel["kernel"].notna()], say)
        axes.set(title=say("{n:,} threads per block").format(n=block), ylim=(0, 1.3))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
        axes.set_xticks([32, 64, 128, 192, 255])
        axes.grid(True)
    style.outer_labels(panels, say("registers per thread (1)"), say("occupancy (% of warps)"))
    style.legend_above(figure, panels)


def _draw_group(axes: Axes, group: pd.DataFrame, dash: style.Dash, colour: str) -> None:
    """Draw the curve of GPUs with the same limits, and the kernels on them."""
    curve, marks = group[group["kernel"].isna()], group[group["kernel"].notna()]
    axes.plot(
        curve["registers_per_thread"],
        curve["occupancy"],
        # A number of registers between two units is rounded up to the next.
        drawstyle="steps-pre",
        linestyle=dash,
        color=colour,
        label=group["gpus"].iloc[0],
    )
    axes.scatter(marks["registers_per_thread"], marks["occupancy"], 34, colour, zorder=3)


def _tag_kernels(axes: Axes, marks: pd.DataFrame, say: Say) -> None:
    """Name the kernels above their marks; a name beside another one goes higher."""
    line, right, last = 0, -np.inf, np.nan
    for _, there in marks.groupby("registers_per_thread"):
        registers, top = there["registers_per_thread"].iloc[0], there["occupancy"].max()
        line = line + 1 if registers < right and top == last else 0
        right, last = registers + TAG_REGISTERS, top
        axes.annotate(
            tags(there["kernel"], say),
            (registers, top),
            xytext=(3, 5 + 11 * line),
            textcoords="offset points",
        )
