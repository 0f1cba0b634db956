"""A few hundred cycles of one sub-core: which warp issued what, and what the others waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import name, tag
from pipeline.words import Say, message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="pipeline_view",
    lecture=10,
    title="A sub-core at work",
    caption=(
        "{cycles} cycles of one sub-core of the {gpu_name} in a replay of the machine code: those "
        "in which most different things happen. {issue_words}"
    ),
    reading=(
        "A row per warp. A tall mark is an instruction that the warp issues in that cycle, a low "
        "band what it waits for meanwhile; at most one warp of the sub-core issues in a cycle. "
        "Every kernel is a Chrome trace as well, with all sub-cores and the text of every "
        "instruction, in the folder traces."
    ),
    needs={"spans": "sm_spans"},
)
SHOWN = ("k03_smem", "k06_vectorized", "k10_warptiled")
"""Kernels to show, where they are replayed; the last ones of the ladder otherwise."""

CYCLES = 220
STEP = 20
"""Cycles that are shown, and between the places where they may begin."""

SUBCORE = 0
SELECTED = "selected"

# Group -> classes of instructions, words, colour.
ISSUES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "multiply_add": (("fma", "half", "tensor"), message("multiply-add"), style.BLUE),
    "shared": (
        ("load_shared", "store_shared", "atomic"), message("shared memory"), style.RED,
    ),
    "global": (
        ("load_global", "store_global", "copy", "local"), message("global memory"), style.GREEN,
    ),
    "barrier": (("barrier",), message("barrier"), style.PURPLE),
    "rest": ((), message("addresses, loops, the rest"), style.BLACK),
}  # fmt: skip
# Group -> states, words, colour, pattern.
WAITS: dict[str, tuple[tuple[str, ...], str, str, str]] = {
    "ready": (
        ("not_selected", "wait", "dispatch", "math_pipe_throttle", "no_instruction"),
        message("its turn, a pipe or a fixed latency"), "#D9E6F0", "",
    ),
    "shared_data": (
        ("short_scoreboard", "mio_throttle"), message("shared memory"), "#F3C6A6", "////",
    ),
    "global_data": (
        ("long_scoreboard", "lg_throttle", "drain"), message("global memory"), "#A9D8C6", "....",
    ),
    "warps": (("barrier",), message("other warps, at a barrier"), "#DDB7CC", "xxxx"),
}  # fmt: skip
_GROUP_OF = {one: group for group, (classes, *_) in ISSUES.items() for one in classes}
_WAIT_OF = {one: group for group, (states, *_) in WAITS.items() for one in states}


def _shown(spans: xr.Dataset) -> list[str]:
    """Choose kernels, in the order of the ladder."""
    known = spans.sortby("kernel_number")["kernel"].to_numpy().tolist()
    return [one for one in known if one in SHOWN] or known[-len(SHOWN) :]


def drawn(spans: xr.Dataset) -> pd.DataFrame:
    """Give issues and waits of one sub-core, a row per span of cycles.

    Parameters
    ----------
    spans : (span,), (kernel,)
        The store ``sm_spans``.
    """
    names = ["span_kernel", "warp", "subcore", "block", "begin", "end", "state", "opcode_class"]
    frame = spans[names].reset_coords(drop=True).to_dataframe()
    labels = spans["kernel_label"].to_series()
    here = frame["span_kernel"].isin(_shown(spans)) & (frame["subcore"] == SUBCORE)
    frame = frame[here].rename(columns={"span_kernel": "kernel"})
    frame["kernel_name"] = [name(kernel, labels[kernel]) for kernel in frame["kernel"]]
    frame["issues"] = [
        _GROUP_OF.get(one, "rest") if state == SELECTED else ""
        for one, state in zip(frame["opcode_class"], frame["state"], strict=True)
    ]
    frame["waits_for"] = [_WAIT_OF.get(state, "") for state in frame["state"]]
    parts = [_liveliest(frame[frame["kernel"] == kernel]) for kernel in _shown(spans)]
    columns = ["kernel", "kernel_name", "warp", "block", "begin", "end", "issues", "waits_for"]
    every = pd.concat(parts) if parts else frame
    return (
        every.sort_values("warp", kind="stable")
        .sort_values("kernel", kind="stable", key=lambda names: names.map(_shown(spans).index))[
            columns
        ]
        .reset_index(drop=True)
    )


def _liveliest(frame: pd.DataFrame) -> pd.DataFrame:
    """Cut out the cycles in which most different things are issued, and of these most in all."""
    issued = frame[frame["issues"] != ""]
    last = max(int(frame["end"].max()) - CYCLES, 0) if len(frame) else 0

    def liveliness(first: int) -> tuple[int, int]:
        here = issued[(issued["begin"] >= first) & (issued["begin"] < first + CYCLES)]
        return here["issues"].nunique(), len(here)

    first = max(range(0, last + 1, STEP), key=liveliness)
    cut = frame[(frame["end"] > first) & (frame["begin"] < first + CYCLES)]
    return cut.assign(
        begin=cut["begin"].clip(lower=first) - first,
        end=cut["end"].clip(upper=first + CYCLES) - first,
    )


def facts(spans: xr.Dataset, say: Say) -> dict[str, Any]:
    """Say in how many of the cycles the sub-core issues, and how much of that multiplies."""
    frame = drawn(spans)
    kernels = frame.groupby("kernel", sort=False)
    words = [
        say("in {kernel} {warps} warps issue in {issued:.0%} of the cycles, and {fma:.0%} of what "
            "they issue multiplies").format(
            kernel=tag(str(kernel)),
            warps=rows["warp"].nunique(),
            issued=(rows["issues"] != "").sum() / CYCLES,
            fma=(rows["issues"] == "multiply_add").sum() / max((rows["issues"] != "").sum(), 1),
        )
        for kernel, rows in kernels
    ]  # fmt: skip
    return {
        "cycles": CYCLES,
        "gpu_name": str(spans["gpu_name"].item()),
        "issue_words": say("Of the kernels, {words}.").format(words=say("; ").join(words))
        if words
        else say("Nothing is replayed."),
    }


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw a panel per kernel with a row per warp."""
    from matplotlib.patches import Patch

    if frame.empty:
        figure.text(0.5, 0.5, say("nothing is replayed"), ha="center")
        return
    groups = list(frame.groupby("kernel", sort=False))
    rows = [group["warp"].nunique() for _, group in groups]
    figure.set_figheight(1.5 + sum(0.24 * count + 0.42 for count in rows))
    panels = figure.subplots(
        len(groups), 1, sharex=True, squeeze=False, height_ratios=[count + 0.6 for count in rows]
    )[:, 0]
    for axes, (_, group) in zip(panels, groups, strict=True):
        _draw_kernel(axes, group, say)
    panels[-1].set_xlabel(say("time (cycles)"))
    panels[-1].set_xlim(0, CYCLES)
    issues = [
        Patch(facecolor=colour, label=say("issues: {what}").format(what=say(words)))
        for _, words, colour in ISSUES.values()
    ]
    waits = [
        Patch(
            facecolor=colour, hatch=pattern, edgecolor=style.GREY, linewidth=0.3,
            label=say("waits for: {what}").format(what=say(words)),
        )
        for _, words, colour, pattern in WAITS.values()
    ]  # fmt: skip
    figure.legend(handles=[*issues, *waits], loc="outside upper left", ncols=2)


def _draw_kernel(axes: Axes, group: pd.DataFrame, say: Say) -> None:
    warps = sorted(group["warp"].unique())
    row = group["warp"].map(warps.index)
    for name_, (_, _, colour, pattern) in WAITS.items():
        _boxes(axes, group, row, group["waits_for"] == name_, 0.3, colour, pattern)
    for name_, (_, _, colour) in ISSUES.items():
        _boxes(axes, group, row, group["issues"] == name_, 0.86, colour, "")
    axes.set_title(say(group["kernel_name"].iloc[0]))
    axes.set_yticks(range(len(warps)), [f"{warp}" for warp in warps])
    axes.set_ylim(len(warps) - 0.4, -0.6)
    axes.set_ylabel(say("warp (number)"))
    axes.tick_params(axis="y", length=0)


def _boxes(
    axes: Axes, group: pd.DataFrame, row: pd.Series[int], chosen: pd.Series[bool],
    height: float, colour: str, pattern: str,
) -> None:  # fmt: skip
    """Draw a box per span."""
    from matplotlib.collections import PolyCollection

    corners = [
        [(begin, at - height / 2), (end, at - height / 2),
         (end, at + height / 2), (begin, at + height / 2)]
        for begin, end, at in zip(
            group.loc[chosen, "begin"], group.loc[chosen, "end"], row[chosen], strict=True
        )
    ]  # fmt: skip
    if corners:
        marks = PolyCollection(corners, facecolors=colour, edgecolors=style.GREY, linewidths=0)
        marks.set_hatch(pattern)
        axes.add_collection(marks)
