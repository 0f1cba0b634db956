"""The sweep of tiles: the best for each GPU, what tiles are worth, what excludes the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import tag
from pipeline.render.column import Column
from pipeline.vocab.sweeps import NO_RULE, RULES
from pipeline.words import Say, message, named_together, together

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="tile_sweep",
    lecture=10,
    title="Tiles, swept",
    caption=(
        "The model's best tiles at n = {n:,}, out of {tiles:,} block tiles and {warp_tiles:,} warp "
        "tiles that run on the {gpu_name}. Bigger tiles reuse more of what they read, until "
        "registers run out. {remarks} Of equally fast tiles the one with the "
        "least shared memory is shown; on {tied_gpus} of {gpus} GPUs the model cannot tell the "
        "fastest block tiles apart."
    ),
    reading=(
        "Bars: share of the tiles of each kernel by the first rule that excludes them; below the "
        "name stands the share that runs. Line: best rate that a block of at most that much shared "
        "memory reaches. Heat maps: best rate of any tile with that shape per block, and per "
        "thread; grey: none runs."
    ),
    needs={
        "tiles": "sweeps/tiles",
        "best": "sweeps/best_tiles",
        "best_warp": "sweeps/best_warp_tiles",
    },
    parameters=("gpu",),
)
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("kernel", "kernel", convert=tag),
    Column("tile", "best tile"),
    Column("gflops", "rate", "TFLOP/s", ",.1f", lambda rate: rate / 1e3),
    Column("bound", "bound", convert=style.resource_name),
    Column("smem_bytes", "shared memory per block", "KiB", ".3g", units.to_kibibytes),
    Column("tied", "equally fast", "", ",d"),
    Column("published_tile", "published tile"),
    Column("published_share", "published of best", "", ".0%"),
)

_BLOCK, _WARP, _THREAD = ("bm", "bn", "bk"), ("wm", "wn", "wniter"), ("tm", "tn")
_NONE = "none"

NEAR = 0.9
"""Share of the best rate that counts as near it."""
_SHAPES = {"block": ("bm", "bn"), "thread": ("tm", "tn")}
_MISSING = "#E2E2E2"

# In the order of the rules; runs stands last.
_RULE_LOOKS = {
    "positive": (message("not positive"), style.BLACK),
    "thread_tile": (message("no such thread tile"), style.PALE),
    "vector_width": (message("vector width"), style.SKY),
    "divisibility": (message("divisibility"), style.BLUE),
    "threads": (message("threads per block"), style.PURPLE),
    "size": (message("matrix size"), style.BLACK),
    "shared_memory": (message("shared memory"), style.RED),
    "registers": (message("registers"), style.ORANGE),
    "occupancy": (message("no resident block"), style.YELLOW),
    NO_RULE: (message("runs"), style.GREEN),
}


def table(best: xr.Dataset, best_warp: xr.Dataset) -> pd.DataFrame:
    """Tabulate the best tiles, a row per GPU and level of tiles.

    Parameters
    ----------
    best, best_warp : (gpu, n)
        The stores of the block tiles and of the warp tiles.
    """
    rows = [
        _row(one.sel(n=one.attrs["n"]).isel(gpu=position))
        for position in range(best.sizes["gpu"])
        for one in (best, best_warp)
    ]
    return pd.DataFrame(rows)


def _row(best: xr.Dataset) -> dict[str, Any]:
    names = ("gflops", "bound", "smem_bytes")
    return {
        "gpu": str(best["gpu"].item()),
        "gpu_name": str(best["gpu_name"].item()),
        "kernel": str(best["best_kernel"].item()),
        "tile": _tile(best, "best"),
        **{name: best[f"best_{name}"].item() for name in names},
        "tied": int(best["tied"]),
        "published_kernel": str(best["published_kernel"].item()),
        "published_tile": _tile(best, "published"),
        "published_share": float(best["published_share"]),
    }


def _tile(best: xr.Dataset, which: str) -> str:
    """Write a tile as block | warp | thread; nothing where there is none."""
    if best[f"{which}_kernel"].item() == _NONE:
        return ""
    levels = (_BLOCK, _WARP, _THREAD) if f"{which}_wm" in best else (_BLOCK, _THREAD)
    return " | ".join(
        "\N{MULTIPLICATION SIGN}".join(str(int(best[f"{which}_{name}"])) for name in level)
        for level in levels
    )


def facts(
    tiles: xr.Dataset, best: xr.Dataset, best_warp: xr.Dataset, gpu: str, say: Say
) -> dict[str, Any]:
    """Find what the caption says of one GPU; ``gpu`` is its id, others as in :func:`table`."""
    here, frame = tiles.sel(gpu=gpu), table(best, best_warp)
    block = frame.iloc[::2]
    front = _front(here, best["on_front"].sel(gpu=gpu))
    return {
        "n": tiles.attrs["n"],
        "gpu_name": str(here["gpu_name"].item()),
        "tiles": int(best["valid_tiles"].sel(gpu=gpu)),
        "warp_tiles": int(best_warp["valid_tiles"].sel(gpu=gpu)),
        "remarks": together(
            [_best_words(front, say), _published_words(frame[frame["gpu"] == gpu], say)], say
        ),
        "tied_gpus": int((block["tied"] > 1).sum()),
        "gpus": len(block),
    }


def _best_words(front: pd.DataFrame, say: Say) -> str:
    """Say what the best block tile reaches, and how little shared memory comes near it."""
    if front.empty:
        return ""
    top = front["gflops"].max()
    near = front[front["gflops"] >= NEAR * top].iloc[0]
    return say(
        "The best block tile reaches {rate:.1f} TFLOP/s; {share:.0%} of that can be had with "
        "{smem:.3g} KiB of shared memory per block."
    ).format(
        rate=top / 1e3, share=near["gflops"] / top, smem=units.to_kibibytes(near["smem_bytes"])
    )


def _published_words(frame: pd.DataFrame, say: Say) -> str:
    """Say how far published choices are from the best, where there are any."""
    there = frame.dropna(subset="published_share")
    shares = [
        say("{share:.0%} of the best for {kernel}").format(share=share, kernel=tag(kernel))
        for kernel, share in zip(there["published_kernel"], there["published_share"], strict=True)
    ]
    if not shares:
        return say("No tile was published for this GPU.")
    return say("The published tiles reach, in the model, {shares}.").format(
        shares=named_together(shares, say)
    )


def drawn(tiles: xr.Dataset, best: xr.Dataset, gpu: str) -> pd.DataFrame:
    """Give heat maps, shares by rule and the front of one GPU, told apart by ``panel``.

    Parameters
    ----------
    tiles, best
        The stores of the block tiles.
    gpu
        Id of the GPU.
    """
    here = tiles.sel(gpu=gpu)
    maps = [_heat_map(here, panel, *shape) for panel, shape in _SHAPES.items()]
    front = _front(here, best["on_front"].sel(gpu=gpu)).assign(panel="front")
    return pd.concat([*maps, _shares(here).assign(panel="rules"), front], ignore_index=True)


def _heat_map(here: xr.Dataset, panel: str, rows: str, columns: str) -> pd.DataFrame:
    """Best rate by two options."""
    others = [dim for dim in here["gflops"].dims if dim not in (rows, columns)]
    best = here["gflops"].max(others).rename({rows: "row", columns: "column"})
    return (
        best.transpose("row", "column").to_dataframe()[["gflops"]].reset_index().assign(panel=panel)
    )


def _shares(here: xr.Dataset) -> pd.DataFrame:
    """Share of the tiles of each kernel by the rule that excludes them."""
    rules = here["excluded_by"].sel(n=here.attrs["n"])
    return pd.DataFrame(
        {"kernel": kernel, "rule": name, "share": float((rules.sel(kernel=kernel) == name).mean())}
        for kernel in here["kernel"].to_numpy()
        for name in (*RULES, NO_RULE)
    )


def _front(here: xr.Dataset, on_front: xr.DataArray) -> pd.DataFrame:
    """Rate by shared memory, of the tiles that nothing beats."""
    frame = here[["gflops", "smem_bytes"]].where(on_front).to_dataframe()
    front = frame.dropna(subset="gflops").sort_values("smem_bytes")
    return front[["smem_bytes", "gflops"]].reset_index(drop=True)


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw two heat maps, the shares and the front."""
    figure.set_figheight(6.4)
    panels = figure.subplots(2, 2, height_ratios=(1, 1.25))
    top = frame.loc[frame["panel"].isin(list(_SHAPES)), "gflops"].max()
    titles = {
        "block": say("Tile of a block: best rate in TFLOP/s"),
        "thread": say("Tile of a thread: best rate in TFLOP/s"),
    }
    for axes, (panel, (rows, columns)) in zip(panels[1], _SHAPES.items(), strict=True):
        _draw_map(axes, frame[frame["panel"] == panel], top)
        axes.set(
            title=titles[panel],
            ylabel=say("rows {option} (elements)").format(option=rows),
            xlabel=say("columns {option} (elements)").format(option=columns),
        )
    _draw_shares(panels[0, 0], frame[frame["panel"] == "rules"], say)
    _draw_front(panels[0, 1], frame[frame["panel"] == "front"], say)
    style.legend_above(figure, [panels[0, 0]], columns=4)


def _draw_map(axes: Axes, cells: pd.DataFrame, top: float) -> None:
    """Draw a grid of cells with their numbers; what has no number is grey."""
    grid = cells.pivot_table(index="row", columns="column", values="gflops", dropna=False)
    values = grid.to_numpy()
    axes.set_facecolor(_MISSING)
    axes.imshow(values, cmap="Blues", vmin=0, vmax=1.15 * top, aspect="auto", origin="lower")
    for (row, column), rate in np.ndenumerate(values):
        if np.isfinite(rate):
            colour = "white" if rate > 0.62 * top else style.BLACK
            text = f"{rate / 1e3:.3g}"
            axes.text(column, row, text, color=colour, fontsize=8, **style.IN_A_CELL)
    for axis, labels in ((axes.yaxis, grid.index), (axes.xaxis, grid.columns)):
        axis.set_ticks(range(len(labels)), [f"{label:g}" for label in labels])
        axis.set_tick_params(length=0)


def _draw_shares(axes: Axes, shares: pd.DataFrame, say: Say) -> None:
    """Draw a bar per kernel, divided by rule."""
    kernels = list(dict.fromkeys(shares["kernel"]))
    running = shares[shares["rule"] == NO_RULE].set_index("kernel")["share"]
    names = [f"{tag(kernel)}\n{running[kernel]:.1%}" for kernel in kernels]
    left = np.zeros(len(kernels))
    for rank, (rule, (label, colour)) in enumerate(_RULE_LOOKS.items()):
        widths = shares[shares["rule"] == rule].set_index("kernel")["share"].reindex(kernels)
        if widths.sum() > 0:
            axes.barh(
                names,
                widths,
                left=left,
                color=colour,
                hatch=style.HATCHES[rank % len(style.HATCHES)],
                edgecolor="white",
                linewidth=0.5,
                label=say(label),
            )
            left = left + widths.to_numpy()
    axes.invert_yaxis()
    axes.set(title=say("What excludes tiles"), xlabel=say("share of all tiles (%)"), xlim=(0, 1))
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}")
    axes.tick_params(axis="y", length=0)


def _draw_front(axes: Axes, front: pd.DataFrame, say: Say) -> None:
    """Draw the best rate by shared memory."""
    smem, rates = units.to_kibibytes(front["smem_bytes"]), front["gflops"] / 1e3
    axes.plot(smem, rates, drawstyle="steps-post", color=style.PALE)
    axes.scatter(smem, rates, color=style.BLUE, zorder=3)
    axes.set(
        title=say("Rate against shared memory"),
        xlabel=say("shared memory per block (KiB)"),
        ylabel=say("best rate (TFLOP/s)"),
        xscale="log",
    )
    if front.empty:
        return
    axes.set_ylim(0, 1.1 * rates.max())
    style.plain_ticks(axes.xaxis, style.spaced(sorted(smem), 1.9))
    axes.grid(True)
