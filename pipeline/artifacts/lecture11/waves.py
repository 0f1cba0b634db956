"""Wave quantisation: what the last wave of blocks leaves idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.decode_names import operation_name
from pipeline.decode.waves import ROWS, sm_utilisation
from pipeline.render.column import Column
from pipeline.words import Say, retold

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="waves",
    lecture=11,
    title="Blocks come in waves",
    caption=(
        "A kernel ends with its last block, so a last wave that is not full leaves SMs idle. Worst "
        "is {worst_name} on the {worst_gpu}: {worst_blocks:,} blocks on {worst_sms} SMs take "
        "{worst_waves} waves and use {worst:.0%} of the SMs on average; best is {best_name} on the "
        "{best_gpu} with {best_waves} waves and {best:.1%}. Few blocks more than SMs cost most; "
        "over many waves the last one hardly counts."
    ),
    reading=(
        "Lines: average use of the SMs by the number of blocks, one block per SM at a time; they "
        "fall where a new wave begins. Marks: the launches of the table."
    ),
    needs={"waves": "decode/waves"},
)
COLUMNS = (
    Column("case_name", "launch"),
    Column("gpu_name", "GPU"),
    Column("blocks", "blocks", "", ",d"),
    Column("n_sm", "SMs", "", "d"),
    Column("waves", "waves", "", "d"),
    Column("last_wave_blocks", "blocks in the last wave", "", "d"),
    Column("idle_sms", "idle SMs in the last wave", "", "d"),
    Column("sm_utilisation", "average use of the SMs", "", ".1%"),
)

# A tooth is straight over blocks, and curved over their logarithm: this many points draw it.
TOOTH_POINTS = 6
# The first wave is shown from this part of the SMs on.
SHOWN_BELOW = 3
# Where names stand, on the axis of shares.
TAG_LOW, TAG_STEP, TAG_ROWS = 0.05, 0.075, 6
# Beyond this share of the axis of blocks names stand at the left of their lines.
TAG_RIGHT = 0.7
LINES = ("-", "--", ":")
TICKS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def table(waves: xr.Dataset, say: Say) -> pd.DataFrame:
    """Tabulate the launches, one row each.

    Parameters
    ----------
    waves : (case)
        The store ``decode/waves``.
    say
        Language of the names of launches.
    """
    frame = waves.to_dataframe().reset_index()
    frame["case_name"] = [
        say("{operation}, {label}").format(
            operation=say(operation_name(operation)), label=retold(label, (ROWS,), say)
        )
        if operation
        else say(label)
        for operation, label in zip(frame["operation"], frame["case_label"], strict=True)
    ]
    return frame[["case", "gpu", *(column.field for column in COLUMNS)]]


def facts(waves: xr.Dataset, say: Say) -> dict[str, float | str]:
    """Find the launch that uses the SMs worst, and the one that uses them best."""
    frame = table(waves, say).sort_values("sm_utilisation")
    worst, best = frame.iloc[0], frame.iloc[-1]
    return {
        "worst_name": worst["case_name"],
        "worst_gpu": worst["gpu_name"],
        "worst_blocks": worst["blocks"],
        "worst_sms": worst["n_sm"],
        "worst_waves": worst["waves"],
        "worst": worst["sm_utilisation"],
        "best_name": best["case_name"],
        "best_gpu": best["gpu_name"],
        "best_waves": best["waves"],
        "best": best["sm_utilisation"],
    }


def drawn(waves: xr.Dataset, say: Say) -> pd.DataFrame:
    """Give the curve of every GPU, and a row with ``case_name`` for each mark."""
    marks = table(waves, say)
    gpus = marks.drop_duplicates("gpu_name")
    most = marks["blocks"].max()
    curves = [_curve(row["gpu"], row["gpu_name"], row["n_sm"], most) for _, row in gpus.iterrows()]
    columns = ["gpu", "gpu_name", "n_sm", "blocks", "sm_utilisation", "case_name"]
    return pd.concat([*curves, marks], ignore_index=True)[columns]


def _curve(gpu: str, gpu_name: str, n_sm: int, most: int) -> pd.DataFrame:
    """Give points of the sawtooth of a GPU, up to the end of the wave of ``most`` blocks."""
    inside = np.linspace(1, n_sm, TOOTH_POINTS).round().astype(int)
    first = np.geomspace(max(1, n_sm // SHOWN_BELOW), n_sm, 2 * TOOTH_POINTS).round().astype(int)
    teeth = np.arange(n_sm, max(most, n_sm + 1), n_sm)[:, np.newaxis] + inside
    blocks = xr.DataArray(np.unique(np.append(first, teeth)), dims="blocks")
    return pd.DataFrame(
        {
            "gpu": gpu,
            "gpu_name": gpu_name,
            "n_sm": n_sm,
            "blocks": blocks,
            "sm_utilisation": sm_utilisation(blocks, n_sm),
        }
    )


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw the sawtooth of every GPU, and the launches on it."""
    figure.set_figheight(3.8)
    axes = figure.subplots()
    for rank, (name, rows) in enumerate(frame.groupby("gpu_name", sort=False)):
        curve, marks = rows[rows["case_name"].isna()], rows[rows["case_name"].notna()]
        colour = style.gpu_colour(str(rows["gpu"].iloc[0]), rank)
        axes.plot(
            curve["blocks"],
            curve["sm_utilisation"],
            LINES[rank % len(LINES)],
            color=colour,
            linewidth=1.1,
            label=say("{gpu}, {n} SMs").format(gpu=name, n=rows["n_sm"].iloc[0]),
        )
        axes.scatter(marks["blocks"], marks["sm_utilisation"], 40, colour, zorder=3)
    least, most = frame["blocks"].min(), 1.15 * frame["blocks"].max()
    axes.set(xscale="log", xlabel=say("blocks (1)"))
    axes.set(ylabel=say("average use of the SMs (%)"))
    axes.set(ylim=(0, 1.05), xlim=(least, most))
    style.plain_ticks(axes.xaxis, [tick for tick in TICKS if least <= tick <= most])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.grid(True, color=style.PALE, alpha=0.5)
    _tag(axes, frame.dropna(subset="case_name"), least * (most / least) ** TAG_RIGHT, say)
    style.legend_above(figure, [axes])


def _tag(axes: Axes, marks: pd.DataFrame, last_right: float, say: Say) -> None:
    """Name the launches in the empty place below the teeth; those at one place share a name.

    Each name stands higher than those to its left, so that no line crosses one.
    """
    places = marks.groupby(["blocks", "sm_utilisation"])
    for rank, (_, there) in enumerate(places):
        blocks, foot = there["blocks"].iloc[0], TAG_LOW + TAG_STEP * (rank % TAG_ROWS)
        axes.vlines(blocks, foot, there["sm_utilisation"].iloc[0], style.GREY, linewidth=0.6)
        right = blocks <= last_right
        axes.annotate(
            say("; ").join(there["case_name"]),
            (blocks, foot),
            (3 if right else -3, 0),
            textcoords="offset points",
            ha="left" if right else "right",
            va="bottom",
            fontsize=8.5,
        )
