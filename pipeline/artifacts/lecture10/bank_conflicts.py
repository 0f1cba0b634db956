"""Wavefronts per access pattern, and who is served when by which bank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.banks import BANKS
from pipeline.counting.bank_map import bank_map
from pipeline.counting.bank_patterns import BROADCAST, NEIGHBOURS, STRIDED
from pipeline.render.column import Column
from pipeline.words import Say, retold

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="bank_conflicts",
    lecture=10,
    title="Bank conflicts",
    caption=(
        "What one warp does in shared memory. Words in different banks come in one wavefront, "
        "different words in one bank one after the other. For one step along k, k05 reads A in "
        "{a_instr} instructions with {a_ways:.0f}-way conflicts and B in {b_instr} with "
        "{b_ways:.0f}-way conflicts. Wide instructions save instructions and no wavefronts: "
        "{narrow} and {wide} of neighbours both bring {per_wavefront:.0f} bytes per wavefront, "
        "which is all that {banks} banks can give. With vec_b the {vec_instr} wide reads of B "
        "still conflict {vec_ways:.0f}-way. k06 pays for its wide reads of A with "
        "{transposed_ways:.0f}-way conflicts where it stores A transposed, and k07 moves the "
        "conflicts of B from its reads to its stores. By the rule that hardware follows, "
        "{paired} patterns take fewer wavefronts, because lanes that ask for the same words are "
        "served together."
    ),
    reading=(
        "Each picture is the first instruction of a pattern: banks from left to right, wavefronts "
        "from top to bottom. A number is the lane that gets the word, with a cross in front the "
        "number of lanes that share it. Blue: first wavefront of the lanes served together. Orange "
        "and hatched: one more because of a conflict. At the bottom: wavefronts of a load by the "
        "distance of its lanes."
    ),
    needs={"patterns": "bank_patterns"},
)
COLUMNS = (
    Column("pattern_label", "pattern"),
    Column("instruction", "instruction"),
    Column("instructions", "instructions", "", "d"),
    Column("bytes", "asked for", "B", ",d"),
    Column("wavefronts", "wavefronts", "", "d"),
    Column("ideal_wavefronts", "without conflicts", "", "d"),
    Column("ways", "conflict, ways", "", ".0f"),
    Column("instructions_per_kib", "instructions per KiB", "", ".0f"),
    Column("wavefronts_per_kib", "wavefronts per KiB", "", ".0f"),
    Column("hardware_wavefronts", "wavefronts, rule of hardware", "", "d"),
)
MAPS = (
    "contiguous_32bit",
    "stride_2",
    "contiguous_128bit",
    "k05_a_read",
    "k05_b_read",
    "k05_b_read_vec_b",
    "k06_a_read",
    "k06_a_write",
    "k07_b_read",
)
BITS_PER_BYTE = 8
TIMES = "\N{MULTIPLICATION SIGN}"
EMPTY = "#F1F1F1"
HATCH = "//"
FIRST, LATER = "#9CC9E8", "#F2C063"

# Inches: of one wavefront, of what stands around a picture, of the panel of strides.
ROW, AROUND, STRIDES = 0.165, 0.34, 1.5
SMALL = 8


def table(patterns: xr.Dataset, say: Say) -> pd.DataFrame:
    """Tabulate the patterns; of the strides the first for each number of wavefronts.

    Parameters
    ----------
    patterns : (pattern,)
        The store ``bank_patterns``.
    say
        Language of the names of patterns.
    """
    frame = patterns.drop_dims("lane").to_dataframe().reset_index()
    strided = _strided(frame)
    again = strided & frame["wavefronts"].where(strided).duplicated()
    frame = frame[~again].reset_index(drop=True)
    frame["pattern_label"] = [
        retold(label, (NEIGHBOURS, STRIDED, BROADCAST), say) for label in frame["pattern_label"]
    ]
    kinds = frame["store"].map({True: "STS", False: "LDS"})
    bits = frame["access_bytes"] * BITS_PER_BYTE
    frame["instruction"] = [f"{kind}.{size}" for kind, size in zip(kinds, bits, strict=True)]
    frame["ways"] = frame["wavefronts"] / frame["ideal_wavefronts"]
    kibibytes = units.to_kibibytes(frame["bytes"])
    for name in ("instructions", "wavefronts"):
        frame[f"{name}_per_kib"] = frame[name] / kibibytes
    return frame


def _strided(frame: pd.DataFrame) -> pd.Series:
    """Say which patterns are loads of single words that are not neighbours."""
    return (frame["kernel"] == "") & (frame["stride"] > 1) & (frame["access_bytes"] == 4)


def facts(patterns: xr.Dataset, say: Say) -> dict[str, float | str]:
    """Find the conflicts of the ladder, and what wide instructions save."""
    frame = table(patterns, say).set_index("pattern")
    narrow, wide = frame.loc["contiguous_32bit"], frame.loc["contiguous_128bit"]
    hardware = patterns["hardware_wavefronts"] < patterns["wavefronts"]
    return {
        "a_instr": frame["instructions"]["k05_a_read"],
        "a_ways": frame["ways"]["k05_a_read"],
        "b_instr": frame["instructions"]["k05_b_read"],
        "b_ways": frame["ways"]["k05_b_read"],
        "narrow": narrow["instruction"],
        "wide": wide["instruction"],
        "per_wavefront": wide["bytes"] / wide["wavefronts"],
        "banks": BANKS,
        "vec_instr": frame["instructions"]["k05_b_read_vec_b"],
        "vec_ways": frame["ways"]["k05_b_read_vec_b"],
        "transposed_ways": frame["ways"]["k06_a_write"],
        "paired": int(hardware.sum()),
    }


def drawn(patterns: xr.Dataset, say: Say) -> pd.DataFrame:
    """Give the words of every picture with their lanes, and wavefronts by stride.

    Parameters
    ----------
    patterns : (pattern,)
        The store ``bank_patterns``.

    Returns
    -------
    Words have ``pattern``, ``wavefront``, ``bank``, ``lanes`` (how many share it), ``lane`` (the
    first of them) and ``first``; strides have ``stride`` (words) and ``wavefronts``.
    """
    labels = table(patterns, say).set_index("pattern")
    parts = []
    for name in MAPS:
        one = patterns.sel(pattern=name)
        words = bank_map(one["address"].to_numpy(), int(one["access_bytes"]))
        part = pd.DataFrame(words).assign(
            pattern=name,
            label=f"{labels['pattern_label'][name]} ({labels['instruction'][name]})",
            lane=[word.lanes[0] for word in words],
            lanes=[len(word.lanes) for word in words],
        )
        parts.append(part)
    every = patterns.drop_dims("lane").to_dataframe().reset_index()
    strides = every.loc[_strided(every), ["stride", "wavefronts"]]
    columns = ["pattern", "label", "group", "wavefront", "first", "bank", "word", "lane", "lanes"]
    return pd.concat([pd.concat(parts)[columns], strides], ignore_index=True)


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw a map of banks and wavefronts per pattern, and the wavefronts by stride."""
    from matplotlib.patches import Patch

    words, strides = frame[frame["pattern"].notna()], frame[frame["pattern"].isna()]
    pictures = [picture for _, picture in words.groupby("pattern", sort=False)]
    heights = [int(picture["wavefront"].max()) + 1 for picture in pictures]
    inches = [*(ROW * height for height in heights), STRIDES]
    figure.set_figheight(sum(inches) + AROUND * len(inches) + 0.5)
    grid = figure.subplots(len(inches), 1, height_ratios=inches)
    for axes, picture, height in zip(grid[:-1], pictures, heights, strict=True):
        _draw_map(axes, picture, height, say)
    grid[-2].set_xticks(np.arange(0, BANKS, 4) + 0.5, range(0, BANKS, 4))
    grid[-2].set_xlabel(say("bank (1)"))
    _draw_strides(grid[-1], strides, say)
    key = say("in a cell: lane, or {times} lanes that share the word").format(times=TIMES)
    hatch: dict[str, Any] = {"edgecolor": "white", "linewidth": 0}
    figure.legend(
        handles=[
            Patch(facecolor=FIRST, label=say("first wavefront"), **hatch),
            Patch(facecolor=LATER, hatch=HATCH, label=say("one more: conflict"), **hatch),
            Patch(facecolor="none", label=key),
        ],
        loc="outside upper left",
        ncols=3,
    )


def _draw_map(axes: Axes, words: pd.DataFrame, height: int, say: Say) -> None:
    """Draw the words of one instruction where and when they are served."""
    axes.set_facecolor(EMPTY)
    for first, part in words.groupby("first", sort=False):
        axes.bar(
            part["bank"] + 0.5,
            1,
            bottom=part["wavefront"],
            width=1,
            color=FIRST if first else LATER,
            edgecolor="white",
            linewidth=0.8,
            hatch=None if first else HATCH,
        )
    cells = words[["bank", "wavefront", "lane", "lanes"]].to_numpy(int)
    for bank, wavefront, lane, lanes in cells.tolist():
        text = f"{lane}" if lanes == 1 else f"{TIMES}{lanes}"
        axes.text(bank + 0.5, wavefront + 0.52, text, fontsize=SMALL, **style.IN_A_CELL)
    axes.set(xlim=(0, BANKS), ylim=(height, 0), yticks=[], xticks=[])
    count = say("{pattern}: {n} wavefronts") if height > 1 else say("{pattern}: {n} wavefront")
    axes.set_title(count.format(pattern=words["label"].iloc[0], n=height))
    axes.spines[:].set_visible(False)
    for at in range(1, height):
        axes.axhline(at, color="white", linewidth=0.8)


def _draw_strides(axes: Axes, strides: pd.DataFrame, say: Say) -> None:
    """Draw wavefronts by the distance of the lanes, each with its number."""
    bars = axes.bar(strides["stride"], strides["wavefronts"], color=style.BLUE)
    axes.bar_label(bars, [f"{value:.0f}" for value in strides["wavefronts"]], fontsize=SMALL)
    axes.set_title(say("loads of single words: wavefronts by distance"))
    axes.set_xlabel(say("distance from lane to lane (words)"))
    axes.set_xticks([int(stride) for stride in strides["stride"] if stride % 2 == 0])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.01, y=0.15)
