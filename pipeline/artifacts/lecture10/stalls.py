"""Where the cycles go along the ladder, by what warps wait for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel, stall_name, tag
from pipeline.words import Say, message, together

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="stalls",
    lecture=10,
    title="What warps wait for, step by step",
    caption=(
        "Cycles of an SM for one multiply-add of a warp on the {gpu_name} at n = {n}, divided by "
        "what its warps do meanwhile, in a replay of the machine code. {steps_words}"
    ),
    reading=(
        "A bar per kernel, the total above it; each panel has a scale of its own. The names in "
        "brackets are those of Nsight Compute. The shares are those of the resident warps' cycles: "
        "a warp that issues is the lowest part of a bar, and where every part but that one is "
        "small, nothing is left to hide."
    ),
    needs={"predictions": "sm_predictions", "gpus": "gpus"},
    parameters=("gpu", "large_n"),
)
WARP = 32

# Part of a bar, from below -> reasons, words, colour, pattern. A resource has the colour that it
# has everywhere; patterns tell apart two waits for the same one.
PARTS: dict[str, tuple[tuple[str, ...], str, str, str]] = {
    "selected": (("selected",), message("issuing"), style.SKY, ""),
    "not_selected": (("not_selected",), message("another warp's turn"), style.SKY, "--"),
    "pipe": (
        ("math_pipe_throttle", "dispatch"), message("pipe or registers busy"), style.BLUE,
        "\\\\\\\\",
    ),
    "wait": (("wait",), message("fixed latency"), style.PALE, ""),
    "short_scoreboard": (
        ("short_scoreboard",), message("shared memory's answer"), style.RED, "....",
    ),
    "mio_throttle": (
        ("mio_throttle",), message("queue of shared memory full"), style.RED, "////",
    ),
    "barrier": (("barrier",), message("other warps at a barrier"), style.PURPLE, "xxxx"),
    "long_scoreboard": (
        ("long_scoreboard",), message("global memory's answer"), style.GREEN, "++",
    ),
    "lg_throttle": (
        ("lg_throttle",), message("queue of global memory full"), style.GREEN, "||||",
    ),
    "other": (
        ("no_instruction", "drain"), message("code, or the last stores"), style.BLACK, "",
    ),
}  # fmt: skip

SHARED_SCALE = 20
"""Bars stand in one panel while the largest is at most this many times the smallest."""


WORTH_SAYING = 0.1
"""Steps that gain less than this share are passed over in the caption."""


def drawn(predictions: xr.Dataset, gpus: xr.Dataset, gpu: str, large_n: int) -> pd.DataFrame:
    """Give SM cycles per warp multiply-add, one row per kernel and part of its bar.

    Parameters
    ----------
    predictions : (kernel, gpu, n)
        The store ``sm_predictions``.
    gpus : (gpu,)
        The store of that name.
    gpu
        GPU that is shown; of one that is not replayed nothing is.
    large_n
        Size of the matrices.
    """
    columns = ["kernel", "kernel_name", "part", "cycles"]
    if gpu not in predictions["gpu"] or large_n not in predictions["n"]:
        return pd.DataFrame({column: [] for column in columns})
    here = predictions.sel(gpu=gpu, n=large_n, drop=True)
    per_sm = large_n**3 / (WARP * float(gpus["sm_count"].sel(gpu=gpu)))
    shares = here["stall_cycles"] / here["warp_cycles"]
    parts = xr.concat(
        [shares.sel(stall_reason=list(reasons)).sum("stall_reason", skipna=False)
         for reasons, *_ in PARTS.values()],
        xr.Variable("part", np.array(list(PARTS))),
    )  # fmt: skip
    cycles = (here["cycles"] / per_sm * parts).rename("cycles").transpose("kernel", "part")
    frame = by_kernel(cycles.dropna("kernel").to_dataset())
    return frame[columns].reset_index(drop=True)


def facts(
    predictions: xr.Dataset, gpus: xr.Dataset, gpu: str, large_n: int, say: Say
) -> dict[str, Any]:
    """Say which step of the ladder took most away, and what is left at its end."""
    frame = drawn(predictions, gpus, gpu, large_n)
    return {
        "gpu_name": str(gpus["gpu_name"].sel(gpu=gpu).item()),
        "n": large_n,
        "steps_words": _steps_words(frame, say),
    }


def _steps_words(frame: pd.DataFrame, say: Say) -> str:
    if frame.empty:
        return say("Nothing is replayed for this GPU.")
    bars = frame.pivot_table(index="kernel", columns="part", values="cycles", sort=False)
    steps = [_step_words(bars, position, say) for position in range(1, len(bars))]
    kept = [words for words in steps if words]
    best = bars.iloc[int(bars.sum(axis="columns").to_numpy().argmin())]
    end = say("In {kernel}, the fastest, warps issue for {issue:.0%} of their cycles.").format(
        kernel=tag(str(best.name)), issue=best["selected"] / best.sum()
    )
    what = say("What each step takes away most of: {steps}.").format(steps=say("; ").join(kept))
    return together([what if kept else "", end], say)


def _step_words(bars: pd.DataFrame, position: int, say: Say) -> str:
    """Name the part that shrinks most from one kernel to the next; nothing if hardly any does."""
    less = bars.iloc[position - 1] - bars.iloc[position]
    part = str(less.idxmax())
    if less.sum() < WORTH_SAYING * bars.iloc[position].sum():
        return ""
    return say("{kernel} {part}, {before:.2g} to {after:.2g} cycles").format(
        kernel=tag(str(bars.index[position])),
        part=say(PARTS[part][1]),
        before=bars[part].iloc[position - 1],
        after=bars[part].iloc[position],
    )


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw a stacked bar per kernel, panels by the size of the bars."""
    figure.set_figheight(4.6)
    if frame.empty:
        figure.text(0.5, 0.5, say("nothing is replayed for this GPU"), ha="center")
        return
    bars = frame.pivot_table(index="kernel", columns="part", values="cycles", sort=False)
    groups = _groups(bars.sum(axis="columns").to_list())
    panels = figure.subplots(
        1, len(groups), squeeze=False, width_ratios=[len(group) + 0.7 for group in groups]
    )[0]
    for axes, group in zip(panels, groups, strict=True):
        _draw_bars(axes, bars.iloc[group], say)
        axes.set_ylabel(say("SM cycles per warp multiply-add (1)"))
    style.legend_above(figure, list(panels), columns=2)


def _groups(totals: Sequence[float]) -> list[list[int]]:
    """Cut the ladder where bars would become too small to see.

    >>> _groups([33, 5, 3.4, 1.2, 0.6, 0.1])
    [[0, 1, 2], [3, 4, 5]]
    """
    groups: list[list[int]] = []
    for place, total in enumerate(totals):
        largest = max((totals[other] for other in groups[-1]), default=0.0) if groups else 0.0
        if groups and total * SHARED_SCALE >= largest:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _draw_bars(axes: Axes, bars: pd.DataFrame, say: Say) -> None:
    places = np.arange(len(bars))
    bottom = np.zeros(len(bars))
    for part, (reasons, words, colour, pattern) in PARTS.items():
        names = ", ".join(map(stall_name, reasons))
        heights = bars[part].to_numpy()
        axes.bar(
            places, heights, 0.78, bottom, color=colour, hatch=pattern, edgecolor="white",
            linewidth=0.4, label=say("{what} ({names})").format(what=say(words), names=names),
        )  # fmt: skip
        bottom += heights
    for place, total in zip(places, bottom, strict=True):
        axes.annotate(
            f"{total:.3g}", (place, total), xytext=(0, 2), textcoords="offset points",
            ha="center", fontsize=8,
        )  # fmt: skip
    axes.set_xticks(places, [tag(kernel) for kernel in bars.index])
    axes.set_ylim(0, 1.08 * bottom.max())
    axes.tick_params(axis="x", length=0)
