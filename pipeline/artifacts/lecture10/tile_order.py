"""Row-major against other orders of blocks: what a wave touches, and what that costs in DRAM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style, tile_pictures
from pipeline.artifacts.artifact import Artifact
from pipeline.render.column import Column
from pipeline.timing.tile_order import named_order
from pipeline.timing.tile_order import tile_order as grouped_order
from pipeline.vocab.tile_order import ORDER
from pipeline.words import Say, message, named_together

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="tile_order",
    lecture=10,
    title="Order of the blocks",
    caption=(
        "Blocks that run together share what they read: a wave fetches each row of tiles of A and "
        "each column of tiles of B that it touches once. On {gpu_name}, {wave:,} blocks run "
        "together. At n = {n:,} in row-major order they touch {rows:.1f} rows and {cols:.1f} "
        "columns on average, in bands of {group} rows {group_rows:.1f} and {group_cols:.1f}: the "
        "closer a wave is to a square, the fewer. Over the GPUs shown, the best band saves "
        "{savings} of the DRAM traffic of row-major order. Hilbert's curve needs no number to be "
        "chosen and takes at most {hilbert:.0%} more than the best band."
    ),
    reading=(
        "Above: tiles of C at n = {smallest:,} with the first wave on {gpu_name} in its order, "
        "from light to dark along the line; beside and above it the rows of A and the columns of B "
        "that the wave reads. Below: DRAM traffic by the height of the bands, on a logarithmic "
        "axis; a band of one row is row-major order, a band of all rows column-major. Dotted: "
        "Hilbert's curve."
    ),
    needs={"orders": "tile_order"},
    parameters=("gpu", "shown_gpus"),
)
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("n", "n", "", ",d"),
    Column("wave", "blocks per wave", "", ",d"),
    Column("waves", "waves", "", ",d"),
    Column("row_major_rows", "row-major: rows per wave", "", ".1f"),
    Column("row_major_cols", "row-major: columns per wave", "", ".1f"),
    Column("row_major_bytes", "row-major: DRAM", "GB", ",.4g", units.to_giga),
    Column("best_group", "best band: tile rows", "", "d"),
    Column("best_rows", "best band: rows per wave", "", ".1f"),
    Column("best_cols", "best band: columns per wave", "", ".1f"),
    Column("best_bytes", "best band: DRAM", "GB", ",.4g", units.to_giga),
    Column("saved", "saved", "", ".0%"),
    Column("morton_bytes", "Morton: DRAM", "GB", ",.4g", units.to_giga),
    Column("hilbert_bytes", "Hilbert: DRAM", "GB", ",.4g", units.to_giga),
)
NAMES = {
    "row_major": message("row-major"),
    "column_major": message("column-major"),
    "grouped": message("bands of {rows} rows"),
    "morton": message("Morton (Z)"),
    "hilbert": message("Hilbert"),
}
ONE_ROW = message("bands of {rows} row")
SHARES = ("rows_per_wave", "cols_per_wave", "dram_bytes")
SHORT = {"rows_per_wave": "rows", "cols_per_wave": "cols", "dram_bytes": "bytes"}

# Inches: of all pictures, of the legend below them, of a row of curves.
PICTURES, LEGEND, CURVES = 5.5, 0.4, 2.2
# Where the last row of pictures leaves room, as shares of all pictures.
KEY_PLACE = (0.84, 0.24)
# Of neighbouring ticks on the axis of bands.
TICK_RATIO = 4


def table(orders: xr.Dataset, shown_gpus: Sequence[str]) -> pd.DataFrame:
    """Compare row-major order, the best bands and two curves, one row per GPU and size.

    Parameters
    ----------
    orders : (gpu, n, group) and (gpu, n, order)
        The store ``tile_order``.
    shown_gpus
        Those that are shown, in this order.
    """
    shown = orders.sel(gpu=list(shown_gpus))
    bands = shown.sel(group=slice(1, None))
    best = bands["dram_bytes"].idxmin("group")
    sides = {"row_major": shown.sel(group=0, drop=True), "best": bands.sel(group=best, drop=True)}
    columns = {
        f"{side}_{SHORT[name]}": data[name] for side, data in sides.items() for name in SHARES
    }
    for order in ("morton", "hilbert"):
        columns[f"{order}_bytes"] = shown[f"{ORDER}dram_bytes"].sel(order=order, drop=True)
    columns |= {"best_group": best, "waves": shown["waves"], "wave": shown["wave"]}
    columns = {name: data.drop_vars("group", errors="ignore") for name, data in columns.items()}
    frame = xr.Dataset(columns).transpose("gpu", "n").to_dataframe().reset_index()
    frame["saved"] = 1 - frame["best_bytes"] / frame["row_major_bytes"]
    return frame


def facts(
    orders: xr.Dataset, gpu: str, shown_gpus: Sequence[str], say: Say
) -> dict[str, float | str]:
    """Find what one GPU touches at the largest size, and what is saved on all that are shown."""
    frame = table(orders, shown_gpus)
    smallest, largest = int(frame["n"].min()), int(frame["n"].max())
    one = table(orders, [gpu]).set_index("n").loc[largest]
    saved = frame.groupby("n")["saved"]
    shares = saved.agg(["min", "max"]).map("{:.0%}".format).loc[sorted({smallest, largest})]
    savings = [
        say("{shares} at n = {n:,}").format(shares=_range(least_and_most, say), n=n)
        for n, least_and_most in zip(shares.index, shares.to_numpy().tolist(), strict=True)
    ]
    return {
        "gpu_name": one["gpu_name"],
        "wave": one["wave"],
        "n": largest,
        "smallest": smallest,
        "rows": one["row_major_rows"],
        "cols": one["row_major_cols"],
        "group": one["best_group"],
        "group_rows": one["best_rows"],
        "group_cols": one["best_cols"],
        "savings": named_together(savings, say),
        "hilbert": (frame["hilbert_bytes"] / frame["best_bytes"]).max() - 1,
    }


def _range(least_and_most: Sequence[str], say: Say) -> str:
    least, most = least_and_most
    return least if least == most else say("{first} to {last}").format(first=least, last=most)


def drawn(orders: xr.Dataset, gpu: str, shown_gpus: Sequence[str], say: Say) -> pd.DataFrame:
    """Give the tiles of the first wave in each order, and DRAM traffic by GPU, size and band.

    Returns
    -------
    Tiles have ``order``, ``tile_row`` and ``tile_col`` in the order of the launch; traffic has
    ``gpu_name``, ``n``, ``group`` (0 for Hilbert's curve) and ``dram_bytes``.
    """
    return pd.concat(
        [_first_waves(orders, gpu, say), _traffic(orders.sel(gpu=list(shown_gpus)))],
        ignore_index=True,
    )


def _first_waves(orders: xr.Dataset, gpu: str, say: Say) -> pd.DataFrame:
    smallest = int(orders["n"].min())
    (one,) = table(orders.sel(n=[smallest]), [gpu]).to_dict("records")
    rows, cols = (-(-smallest // int(orders[name])) for name in ("tile_m", "tile_n"))
    parts = []
    for order, name in NAMES.items():
        band, grouped = one["best_group"], order == "grouped"
        tiles = grouped_order(rows, cols, band) if grouped else named_order(rows, cols, order)
        template = ONE_ROW if grouped and band == 1 else name
        row, col = (axis[: one["wave"]] for axis in tiles)
        part = {
            "order": say(template).format(rows=band),
            "tile_row": row,
            "tile_col": col,
        }
        parts.append(pd.DataFrame(part | {"tile_rows": rows, "tile_cols": cols}))
    return pd.concat(parts, ignore_index=True)


def _traffic(shown: xr.Dataset) -> pd.DataFrame:
    """DRAM traffic by bands up to the first that holds all rows, and along Hilbert's curve."""
    tiles = -(-shown["n"] // shown["tile_m"])
    bands = shown["dram_bytes"].where((shown["group"] > 0) & (shown["group"] <= tiles))
    curve = shown[f"{ORDER}dram_bytes"].sel(order="hilbert", drop=True).expand_dims(group=[0])
    frames = [
        data.rename("dram_bytes").transpose("gpu", "n", "group").to_dataframe().reset_index()
        for data in (bands, curve)
    ]
    both = pd.concat(frames, ignore_index=True).dropna(subset="dram_bytes")
    return both[["gpu", "gpu_name", "n", "group", "dram_bytes"]]


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw a picture per order above, and a panel of traffic per size below."""
    tiles, traffic = frame[frame["order"].notna()], frame[frame["order"].isna()]
    sizes = sorted(traffic["n"].unique())
    heights = [PICTURES, LEGEND + CURVES * -(-len(sizes) // 2)]
    figure.set_figheight(sum(heights))
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=heights).flat
    panels = style.panels(above, tiles["order"].nunique(), columns=3, height=PICTURES / 2)
    for axes, (order, wave) in zip(panels, tiles.groupby("order", sort=False), strict=True):
        tile_pictures.draw_wave(axes, str(order), wave, say)
    tile_pictures.draw_key(above, KEY_PLACE, say)
    panels = style.panels(below, len(sizes), columns=2, height=CURVES)
    for axes, n in zip(panels, sizes, strict=True):
        _draw_traffic(axes, traffic[traffic["n"] == n], say)
        axes.set(title=f"n = {int(n):,}", ylabel=say("DRAM traffic (GB)"))
    # Each panel has a scale of its own.
    style.outer_labels(panels, say("height of the bands (tile rows)"), say("DRAM traffic (GB)"))
    style.legend_above(below, panels, columns=4)


def _draw_traffic(axes: Axes, traffic: pd.DataFrame, say: Say) -> None:
    """Draw a curve per GPU over the bands, and a level line for Hilbert's curve."""
    groups = traffic.groupby("gpu_name", sort=False)
    for rank, (name, one) in enumerate(groups):
        colour = style.gpu_colour(str(one["gpu"].iloc[0]), rank)
        dash = style.DASHES[rank % len(style.DASHES)]
        bands, curve = one[one["group"] > 0], one[one["group"] == 0]
        traffic_of = units.to_giga(bands["dram_bytes"])
        axes.plot(bands["group"], traffic_of, color=colour, linestyle=dash, label=name)
        level = units.to_giga(curve["dram_bytes"].iloc[0])
        axes.axhline(level, color=colour, linestyle=":", linewidth=1)
    axes.plot([], [], color=style.GREY, linestyle=":", linewidth=1, label=say("Hilbert's curve"))
    axes.set(xscale="log", ylim=(0, None))
    largest = int(traffic["group"].max())
    style.plain_ticks(axes.xaxis, [TICK_RATIO**power for power in range(largest.bit_length())])
    axes.set_xlim(None, 1.1 * largest)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.grid(True, axis="y")
