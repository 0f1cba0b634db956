"""Tiles by the roofline and by a replay: what an autotuner would gain from either."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray as xr

from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import stall_name, tag
from pipeline.render.column import Column
from pipeline.words import Say, together

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="tile_replay",
    lecture=10,
    title="Tiles, by the roofline and by a replay",
    caption=(
        "{tilings} tilings of {kernel} on the {gpu_name} at n = {n}, spread evenly over those that "
        "run, each compiled and replayed on one SM. {pick_words}"
    ),
    reading=(
        "A mark per tiling, in the shape of what bounds it by the roofline; the scales of the two "
        "axes differ. Circled: the fastest by the roofline and by the replay, and the published "
        "one."
    ),
    needs={"tiles": "sm_tiles"},
)
COLUMNS = (
    Column("tile", "block | warp | thread"),
    Column("threads", "threads per block", "", ",d"),
    Column("registers", "registers", "", ",d"),
    Column("blocks_per_sm", "blocks per SM", "", ",d"),
    Column("roofline_gflops", "roofline", "GFLOP/s", ",.0f"),
    Column("replay_gflops", "replay", "GFLOP/s", ",.0f"),
    Column("roofline_rank", "rank by roofline", "", ",.3g"),
    Column("replay_rank", "rank by replay", "", ",.3g"),
    Column("roofline_bound", "bound by roofline", convert=style.resource_name),
    Column("busiest", "busiest in the replay", convert=style.pipe_name),
    Column("stall", "warps mostly", convert=stall_name),
)
_LEVELS = (("bm", "bn", "bk"), ("wm", "wn", "wniter"), ("tm", "tn"))
_WARP = 32


def table(tiles: xr.Dataset) -> pd.DataFrame:
    """Tabulate tilings, the fastest by the replay first.

    Parameters
    ----------
    tiles : (tiling,)
        The store ``sm_tiles``.
    """
    frame = tiles.reset_coords(drop=True).to_dataframe().reset_index(drop=True)
    levels = [_level(frame, names) for names in _LEVELS]
    frame["tile"] = [" | ".join(row) for row in zip(*levels, strict=True)]
    frame["threads"] = _WARP * (frame["bm"] // frame["wm"]) * (frame["bn"] // frame["wn"])
    for model in ("roofline", "replay"):
        frame[f"{model}_rank"] = frame[f"{model}_gflops"].rank(ascending=False)
    order = ["replay_gflops", "roofline_gflops"]
    return frame.sort_values(order, ascending=False, kind="stable").reset_index(drop=True)


def _level(frame: pd.DataFrame, names: tuple[str, ...]) -> list[str]:
    rows = frame[list(names)].to_numpy().tolist()
    return ["\N{MULTIPLICATION SIGN}".join(map(str, row)) for row in rows]


def facts(tiles: xr.Dataset, say: Say) -> dict[str, Any]:
    """Say what the picks of both are worth by the replay."""
    frame = table(tiles)
    replayed = frame.dropna(subset="replay_gflops")
    return {
        "tilings": len(frame),
        "kernel": tag(str(tiles["kernel"].item())),
        "gpu_name": str(tiles["gpu_name"].item()),
        "n": int(tiles["n"]),
        "pick_words": together([_pick_words(replayed, say), _spilled_words(frame, say)], say),
    }


def _pick_words(frame: pd.DataFrame, say: Say) -> str:
    """Compare the picks, and the published tiling where it is among them."""
    if frame.empty:
        return say("None of them runs here.")
    best = frame["replay_gflops"].max()
    picked = frame[frame["roofline_gflops"] == frame["roofline_gflops"].max()]
    ranks = frame[["roofline_rank", "replay_rank"]]
    words = say(
        "An autotuner that trusts the roofline takes {roofline_tile}, which reaches {share:.0%} of "
        "the replay's best, {replay_tile}; a tiling taken blindly reaches {blind:.0%} in the "
        "middle. The rates have a rank correlation of {rank:.2f}."
    ).format(
        roofline_tile=picked["tile"].iloc[0],
        share=picked["replay_gflops"].iloc[0] / best,
        replay_tile=frame["tile"].iloc[0],
        blind=frame["replay_gflops"].median() / best,
        rank=ranks["roofline_rank"].corr(ranks["replay_rank"]),
    )
    published = frame[frame["measured_here"]]
    if published.empty:
        return words
    more = say("The published tiling, {tile}, reaches {share:.0%}: rank {place:.0f}.").format(
        tile=published["tile"].iloc[0],
        share=published["replay_gflops"].iloc[0] / best,
        place=published["replay_rank"].iloc[0],
    )
    return together([words, more], say)


def _spilled_words(frame: pd.DataFrame, say: Say) -> str:
    spilled = int(frame["replay_gflops"].isna().sum())
    if not spilled:
        return ""
    return say(
        "{count} of them run out of registers and keep addresses in local memory; they are not "
        "replayed."
    ).format(count=spilled)


def drawn(tiles: xr.Dataset) -> pd.DataFrame:
    """Give both rates (GFLOP/s) of every tiling; arguments as in :func:`table`."""
    columns = ["tile", "roofline_gflops", "replay_gflops", "roofline_bound", "measured_here"]
    return table(tiles).dropna(subset="replay_gflops")[columns].reset_index(drop=True)


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw the rates of the replay over those of the roofline."""
    figure.set_figheight(4.6)
    if frame.empty:
        figure.text(0.5, 0.5, say("nothing is replayed for this architecture"), ha="center")
        return
    axes = figure.subplots()
    rates = frame.assign(
        roofline=frame["roofline_gflops"] / 1e3, replay=frame["replay_gflops"] / 1e3
    )
    for bound, rows in rates.groupby("roofline_bound", sort=True):
        axes.scatter(
            rows["roofline"], rows["replay"], s=26, zorder=3,
            color=style.resource_colour(str(bound)), marker=style.resource_marker(str(bound)),
            edgecolors="white",
            linewidths=0.6,
            label=say("bound by {resource}").format(resource=say(style.resource_name(str(bound)))),
        )  # fmt: skip
    picks = {
        say("roofline's pick"): rates.loc[rates["roofline"] == rates["roofline"].max()].iloc[0],
        say("replay's pick"): rates.iloc[0],
    }
    if rates["measured_here"].any():
        picks[say("published")] = rates[rates["measured_here"]].iloc[0]
    for label, row in picks.items():
        place = (float(row["roofline"]), float(row["replay"]))
        axes.scatter(
            *place, s=110, facecolors="none", edgecolors=style.BLACK, linewidths=1, zorder=4
        )
        axes.annotate(
            label, place, xytext=(9, 7), textcoords="offset points", fontsize=8.5, zorder=5
        )
    ends = rates[["roofline", "replay"]].agg(["min", "max"])
    axes.set(
        xlim=(0.9 * ends["roofline"]["min"], 1.12 * ends["roofline"]["max"]),
        ylim=(0.9 * ends["replay"]["min"], 1.08 * ends["replay"]["max"]),
    )
    axes.set_xlabel(say("rate by the roofline (TFLOP/s)"))
    axes.set_ylabel(say("rate by the replay (TFLOP/s)"))
    axes.grid(True)
    style.legend_above(figure, [axes], columns=4)
