"""Bank conflicts of ldmatrix by row width and layout, and the swizzle as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.render.column import Column
from pipeline.tensor_core.conflicts import TILE_ROWS
from pipeline.tensor_core.layouts import CHUNK_BYTES, LECTURE_SWIZZLE
from pipeline.tensor_core.ldmatrix import HALF_BYTES
from pipeline.words import Say, message

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

ARTIFACT = Artifact(
    id="ldmatrix",
    lecture=10,
    title="Bank conflicts of ldmatrix",
    caption=(
        "Wavefronts of one ldmatrix that loads {tile} x {tile} half-precision elements, by the "
        "width of the rows in shared memory, at the worst place of a tile of {rows} rows; {ideal} "
        "is the least. Plain rows of {pictured} elements take {plain}. Padding brings all {widths} "
        "widths to {padded} and wastes up to {wasted:.1%}. The XOR swizzle {swizzle} wastes "
        "nothing, but only {freed} widths are free of conflicts with it, {pictured} among them: "
        "others need other bits. The cheapest layout without conflicts wastes {least_wasted} bytes "
        "at most, whatever the width."
    ),
    reading=(
        "Below: in which banks the {chunk_bytes}-byte chunks of eight rows of {pictured} elements "
        "lie; a number is a chunk's place in its row. An ldmatrix reads one chunk of each of eight "
        "rows together, chunk {example} say (coloured): in one column they queue, in eight they "
        "come at once."
    ),
    needs={"ldmatrix": "tensor_core/ldmatrix"},
)
NAMES = {
    "plain": message("plain rows"),
    "padded": message("padded rows"),
    "xor_swizzle": message("XOR swizzle"),
}
LOOKS: dict[str, dict[str, Any]] = {
    "plain": {"color": style.RED, "marker": "o"},
    "padded": {"color": style.GREEN, "marker": "^"},
    "xor_swizzle": {"color": style.BLUE, "marker": "s"},
}
COLUMNS = (
    Column("row_elems", "row", "elements", "d"),
    Column("row_bytes", "row", "B", "d"),
    Column("plain", "wavefronts, plain", "", "d"),
    Column("padded", "padded", "", "d"),
    Column("xor_swizzle", "XOR swizzle", "", "d"),
    Column("ideal", "without conflicts", "", "d"),
    Column("padding", "padding wastes", "", ".1%"),
    Column("cheapest", "cheapest layout without conflicts"),
    Column("cheapest_waste", "it wastes", "", ".1%"),
)
EXAMPLE_CHUNK = 0
# Marks of equal height side by side, in elements of the row.
DODGE = 2.3
TICK_ELEMS = 32
INCHES = 5.6


def drawn(ldmatrix: xr.Dataset) -> pd.DataFrame:
    """Give wavefronts by width and layout, and the bank group of every chunk of the picture.

    Parameters
    ----------
    ldmatrix : (row_elems, layout, row0, col0)
        The store of that name.
    """
    worst = _worst(ldmatrix).to_series().rename("wavefronts").reset_index()
    place = ldmatrix["bank_group"].to_series().reset_index()
    pictured = int(ldmatrix["pictured_row_elems"])
    place = place.merge(worst[worst["row_elems"] == pictured], on="layout")
    return pd.concat(
        [worst.assign(panel="wavefronts"), place.assign(panel="banks")], ignore_index=True
    )[["panel", "layout", "row_elems", "wavefronts", "row", "chunk", "bank_group"]].astype(
        dict.fromkeys(("row_elems", "wavefronts", "row", "chunk", "bank_group"), "Int64")
    )


def _worst(ldmatrix: xr.Dataset) -> xr.DataArray:
    return ldmatrix["wavefronts"].max(["row0", "col0"])


def table(ldmatrix: xr.Dataset) -> pd.DataFrame:
    """Compare the layouts, one row per width that whole 16-element tiles fill.

    Parameters
    ----------
    ldmatrix : (row_elems, layout, row0, col0)
        The store of that name.
    """
    filled = ldmatrix.sel(row_elems=ldmatrix["row_elems"] % TILE_ROWS == 0)
    frame = _worst(filled).to_pandas()
    used = filled["row_elems"] * HALF_BYTES * filled["tile_rows"]
    shares = {
        "padding": filled["extra_bytes"].sel(layout="padded") / used,
        "cheapest_waste": filled["cheapest_extra_bytes"] / used,
    }
    return frame.assign(
        row_bytes=frame.index * HALF_BYTES,
        ideal=filled["ideal_wavefronts"].max(["layout", "row0", "col0"]).to_series(),
        cheapest=filled["cheapest"].to_series(),
        **{name: share.reset_coords(drop=True).to_series() for name, share in shares.items()},
    ).reset_index()


def facts(ldmatrix: xr.Dataset) -> dict[str, int | float | str]:
    """How many widths each layout frees, and what it wastes."""
    worst = _worst(ldmatrix)
    ideal = int(ldmatrix["ideal_wavefronts"].max())
    pictured = int(ldmatrix["pictured_row_elems"])
    used = ldmatrix["row_elems"] * HALF_BYTES * ldmatrix["tile_rows"]
    return {
        "tile": TILE_ROWS,
        "rows": int(ldmatrix["tile_rows"]),
        "ideal": ideal,
        "pictured": pictured,
        "plain": int(worst.sel(row_elems=pictured, layout="plain")),
        "widths": ldmatrix.sizes["row_elems"],
        "padded": int(worst.sel(layout="padded").max()),
        "wasted": float((ldmatrix["extra_bytes"].sel(layout="padded") / used).max()),
        "swizzle": str(LECTURE_SWIZZLE),
        "freed": int((worst.sel(layout="xor_swizzle") == ideal).sum()),
        "least_wasted": int(ldmatrix["cheapest_extra_bytes"].max()),
        "chunk_bytes": CHUNK_BYTES,
        "example": EXAMPLE_CHUNK,
    }


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw wavefronts by width, and below them one map of banks per layout."""
    figure.set_figheight(INCHES)
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=[1, 1.15]).flat
    _by_width(above, frame[frame["panel"] == "wavefronts"], say)
    _maps(below, frame[frame["panel"] == "banks"], say)


def _by_width(figure: SubFigure, frame: pd.DataFrame, say: Say) -> None:
    axes = figure.add_subplot()
    for rank, (layout, marks) in enumerate(frame.groupby("layout", sort=False)):
        x = marks["row_elems"].astype(float) + DODGE * (rank - 1)
        y = marks["wavefronts"].astype(float)
        label = say(NAMES[str(layout)])
        axes.plot(x, y, linestyle="none", markersize=4, label=label, **LOOKS[str(layout)])
    axes.set_yscale("log", base=2)
    axes.set(xlabel=say("width of a row (elements)"), ylabel=say("wavefronts, worst place (1)"))
    axes.grid(True, axis="y")
    widths = frame["row_elems"].astype(int)
    style.plain_ticks(axes.yaxis, [4, 8, 16, 32])
    style.plain_ticks(axes.xaxis, [w for w in sorted(set(widths)) if w % TICK_ELEMS == 0])
    style.legend_above(figure, [axes])


def _maps(figure: SubFigure, frame: pd.DataFrame, say: Say) -> None:
    from matplotlib.patches import Rectangle

    layouts = list(frame["layout"].unique())
    panels = style.panels(figure, len(layouts), columns=3, height=2, sharey=True)
    for axes, layout in zip(panels, layouts, strict=True):
        places = frame[frame["layout"] == layout].astype({"row": int, "chunk": int})
        for row, chunk, group in zip(
            places["row"], places["chunk"], places["bank_group"].astype(int), strict=True
        ):
            dark = chunk == EXAMPLE_CHUNK
            face = LOOKS[str(layout)]["color"] if dark else "#F1F1F1"
            axes.add_patch(Rectangle((group, row), 1, 1, facecolor=face, edgecolor="white"))
            axes.text(
                group + 0.5,
                row + 0.5,
                f"{chunk}",
                fontsize=9,
                color="white" if dark else style.BLACK,
                weight="bold" if dark else "normal",
                **style.IN_A_CELL,
            )
        groups, rows = frame["bank_group"].max() + 1, places["row"].max() + 1
        title = say("{pattern}: {n} wavefronts").format(
            pattern=say(NAMES[str(layout)]), n=places["wavefronts"].iloc[0]
        )
        axes.set(title=title, xlim=(0, groups), ylim=(rows, 0))
        axes.set_xticks(np.arange(groups) + 0.5, [f"{4 * group}" for group in range(groups)])
        axes.set_yticks(np.arange(rows) + 0.5, [f"{row}" for row in range(rows)])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    wide = frame["row_elems"].iloc[0]
    rows_label = say("row of {wide} elements (1)").format(wide=wide)
    style.outer_labels(panels, say("first of four banks (1)"), rows_label)
