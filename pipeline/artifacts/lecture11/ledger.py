"""What one decode step reads, operation by operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.decode_names import operation_name
from pipeline.render.column import Column
from pipeline.words import Say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="ledger",
    lecture=11,
    title="What a decode step reads",
    caption=(
        "One step of {model_name} at batch {batch} with {context} tokens of context reads "
        "{total:.2f} GB, every weight once. The largest operation, {largest_name}, takes "
        "{largest:.0%} of that, keys and values {kv:.2%}. The matrices of a layer are "
        "{smallest:,.1f} to {biggest:,.1f} MB each: a short piece of work for a kernel of its own."
    ),
    reading=(
        "Above: bytes per step of every operation, and its share. Below: the same shares in every "
        "model; in small models the head weighs most."
    ),
    needs={"ledger": "decode/ledger"},
    parameters=("model",),
)
COLUMNS = (
    Column("operation_name", "operation"),
    Column("count", "runs per step", "", "d"),
    Column("rows", "rows of weights", "", ",.0f"),
    Column("blocks", "blocks", "", ",d"),
    Column("bytes_per_layer", "bytes per run", "MB", ",.3f", units.to_mega),
    Column("bytes_total", "bytes per step", "MB", ",.1f", units.to_mega),
    Column("share", "share", "", ".1%"),
)

# Of the bars of one model; a share narrower than this has no room for its number.
COLOURS = (*style.SEVEN, style.YELLOW, style.GREY, style.PALE)
SHOWN_SHARE = 0.06


def table(ledger: xr.Dataset, model: str) -> pd.DataFrame:
    """Tabulate the operations of one model that it has, in order.

    Parameters
    ----------
    ledger : (model, operation)
        The store ``decode/ledger``.
    model
        Model id.
    """
    frame = drawn(ledger, model)
    frame = frame[frame["model"] == model].reset_index(drop=True)
    return frame[["operation", *(column.field for column in COLUMNS)]]


def drawn(ledger: xr.Dataset, model: str) -> pd.DataFrame:
    """Give every operation of every model; the shown model comes first."""
    others = [one for one in ledger["model"].to_numpy() if one != model]
    flat = ledger.drop_vars("parameters").sel(model=[model, *others])
    frame = flat.transpose("model", "operation").to_dataframe().reset_index()
    frame = frame[frame["count"] > 0].reset_index(drop=True)
    frame["operation_name"] = frame["operation"].map(operation_name)
    # Attention has no weights.
    frame["rows"] = frame["rows"].where(frame["rows"] > 0)
    shown = [column.field for column in COLUMNS]
    return frame[["model", "model_name", "operation", *shown]]


def facts(ledger: xr.Dataset, model: str) -> dict[str, float | str]:
    """Total, largest operation, and what those in the layers read."""
    frame = table(ledger, model)
    largest = frame.iloc[frame["share"].argmax()]
    layers = frame[(frame["rows"] > 0) & (frame["count"] > 1)]
    layers = layers if len(layers) else frame
    one = ledger.sel(model=model)
    kv = (one["count"] * one["kv_bytes"]).sum() / one["bytes_total"].sum()
    return {
        "model_name": str(one["model_name"].item()),
        "batch": int(one["batch"]),
        "context": int(one["context"]),
        "total": units.to_giga(float(frame["bytes_total"].sum())),
        "largest_name": largest["operation_name"],
        "largest": largest["share"],
        "smallest": units.to_mega(float(layers["bytes_per_layer"].min())),
        "biggest": units.to_mega(float(layers["bytes_per_layer"].max())),
        "kv": float(kv),
    }


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw bytes of the first model above, shares of all models below."""
    names = list(dict.fromkeys(frame["model_name"]))
    operations = list(dict.fromkeys(frame["operation_name"]))
    one = frame[frame["model_name"] == names[0]]
    heights = [0.5 + 0.27 * len(one), 0.8 + 0.3 * len(names)]
    figure.set_figheight(sum(heights) + 0.5)
    above, below = figure.subplots(2, 1, height_ratios=heights)
    _draw_bytes(above, one, operations, say)
    _draw_shares(below, frame, names, operations, say)


def _look(operations: list[str], name: str) -> dict[str, Any]:
    rank = operations.index(name)
    return {
        "color": COLOURS[rank % len(COLOURS)],
        "hatch": style.HATCHES[rank % len(style.HATCHES)],
        "edgecolor": "white",
    }


def _draw_bytes(axes: Axes, one: pd.DataFrame, operations: list[str], say: Say) -> None:
    for row, (_, operation) in enumerate(one.iterrows()):
        size = units.to_mega(operation["bytes_total"])
        axes.barh(row, size, **_look(operations, operation["operation_name"]))
        label = say("{size:,.1f} MB, {share:.1%}").format(size=size, share=operation["share"])
        axes.annotate(
            label, (size, row), (4, 0), textcoords="offset points", va="center", fontsize=8.5
        )
    axes.set(title=one["model_name"].iloc[0], xlabel=say("bytes per step (MB)"))
    axes.set_yticks(np.arange(len(one)), one["operation_name"].map(say))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.set_xlim(0, 1.2 * units.to_mega(one["bytes_total"].max()))
    axes.set_ylim(len(one) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x")


def _draw_shares(
    axes: Axes, frame: pd.DataFrame, names: list[str], operations: list[str], say: Say
) -> None:
    left = np.zeros(len(names))
    for name in operations:
        rows = frame[frame["operation_name"] == name].set_index("model_name")["share"]
        width = rows.reindex(names, fill_value=0).to_numpy()
        axes.barh(
            np.arange(len(names)), width, left=left, label=say(name), **_look(operations, name)
        )
        for row, share in enumerate(width):
            if share < SHOWN_SHARE:
                continue
            axes.text(
                left[row] + share / 2,
                row,
                f"{share:.0%}",
                ha="center",
                va="center",
                fontsize=8.5,
                bbox={"boxstyle": "square,pad=0.15", "facecolor": "white", "linewidth": 0},
            )
        left = left + width
    axes.set(title=say("All models"), xlabel=say("share of the bytes of a step (%)"), xlim=(0, 1))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_yticks(np.arange(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.28), ncols=6)
