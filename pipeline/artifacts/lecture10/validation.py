"""Predictions against published measurements, and what the model leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import gpus_in_order, kernel_names, mean_absolute_error, tag
from pipeline.render.column import Column
from pipeline.timing.resources import RESOURCES
from pipeline.words import Say, english, listed, message

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

ARTIFACT = Artifact(
    id="validation",
    lecture=10,
    title="Predictions against published rates",
    caption=(
        "{compared} published rates at n = {sizes}, and what the roofline predicts for the tiles "
        "that were measured. {plainly} Mean error and rank correlation are {by_gpu}. The model "
        "takes the slowest of {resources} resources and lets nothing wait, so it is often right "
        "about the order of the kernels and seldom about their distance; the table says for each "
        "kernel what is left out. {replay_words}"
    ),
    reading=(
        "Above: a mark per kernel, in the colour of the resource that binds it; on the dashed line "
        "predicted and published rate are equal. Below: their ratio, per kernel and GPU. Rates and "
        "ratios on logarithmic axes."
    ),
    needs={"validation": "validation", "gpus": "gpus"},
    parameters=("gpu",),
)
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("kernel_name", "kernel"),
    Column("tiling", "tiles, where not the ladder's"),
    Column("bound", "bound by", convert=style.resource_name),
    Column("predicted_gflops", "predicted", "GFLOP/s", ",.0f"),
    Column("measured_gflops", "published", "GFLOP/s", ",.1f"),
    Column("ratio", "predicted / published", "", ".2f"),
    Column("error", "error", "", "+.0%"),
    Column("mean_error", "mean absolute error", "", ".1%"),
    Column("replay_error", "error of the replay", "", "+.0%"),
    Column("replay_mean_error", "mean absolute error of the replay", "", ".1%"),
    Column("rank_correlation", "rank correlation", "", ".2f"),
    Column("left_out", "what the model leaves out"),
)
MODEL = "roofline"
REPLAY = "sm_replay"

# The kernels of the lecture script; the others are the published ladder beyond it.
FIRST, LAST = "k01", "k06"

# What hardware and compilers do that a roofline of counts from source code does not have. The
# evidence is listed in docs/MODEL.md, section 6.
LEFT_OUT = {
    "k01": message("little: the lines of its loads set the pace everywhere; the clock under load"),
    "k02": message(
        "how fast an SM accepts requests, slower on GA10x and AD10x; the long wait for sectors "
        "scattered over rows of DRAM"
    ),
    "k03": message(
        "the compiler, which widens loads of A: too slow without; how fast an SM accepts requests, "
        "slower on GA10x and AD10x: too fast without"
    ),
    "k04": message(
        "the compiler, which widens loads of A; waiting at two barriers in each short step"
    ),
    "k05": message(
        "the compiler, which widens the loads of both operands: they take fewer wavefronts"
    ),
    "k06": message(
        "latency: a step loads, waits and multiplies in turn; conflicts of registers; the clock "
        "under a power limit"
    ),
    "k07": message("as for k06; how fast an SM accepts its many narrow loads of B"),
    "k08": message(
        "lanes that share an address of A are served in pairs (the hardware rule), so its reads "
        "take fewer wavefronts"
    ),
    "k09": message("as for k06: latency between barriers, conflicts of registers, power"),
    "k10": message(
        "latency of instructions that depend on each other, conflicts of registers, power: nothing "
        "that is counted holds it back"
    ),
    "k11": message("as for k10; one half of the block waits for the other at barriers"),
    "k12": message("as for k10; how fast an SM accepts copies of single values"),
    "k13": message(
        "latency, as for k06; where wgmma or tcgen05 feed tensor cores, mma reaches only a part of "
        "their peak"
    ),
}
RATIO_TICKS = (0.25, 0.5, 0.7, 1, 1.4, 2, 4, 8)
MARKERS = ("o", "s", "D", "^", "v", "P", "X")


def table(validation: xr.Dataset, gpus: xr.Dataset, say: Say) -> pd.DataFrame:
    """Tabulate every published rate with its prediction, and the mean errors of every GPU.

    Parameters
    ----------
    validation : (measurement, model), (validated_gpu, model)
        The store of that name.
    gpus : (gpu,)
        The store of that name.
    say
        Language of what is left out.

    Returns
    -------
    One row per GPU and kernel, rates in GFLOP/s, and two more for each GPU: mean absolute error
    and rank correlation over the kernels of the lecture, and over all.
    """
    frame = _rates(validation, gpus, say)
    parts = []
    for gpu, rows in frame.groupby("gpu", sort=False):
        parts += [rows, _summary(rows, validation, str(gpu), say)]
    shown = [column.field for column in COLUMNS]
    every = pd.concat(parts, ignore_index=True) if parts else frame
    return every[["gpu", "kernel", *shown]]


def _rates(validation: xr.Dataset, gpus: xr.Dataset, say: Say) -> pd.DataFrame:
    """One row per published rate, GPUs in their order, steps of the ladder before libraries."""
    per_rate = [name for name, held in validation.data_vars.items() if "measurement" in held.dims]
    frame = validation[per_rate].sel(model=MODEL, drop=True).to_dataframe().reset_index(drop=True)
    frame["replay_error"] = validation["ratio"].sel(model=REPLAY).to_numpy() - 1
    frame["library"] = frame["kernel_label"] == ""
    frame = gpus_in_order(frame, gpus, ["library", "kernel", "n"]).drop(columns="library")
    frame["kernel_name"] = kernel_names(frame)
    frame["gpu_name"] = frame["gpu"].map(gpus["gpu_name"].to_series())
    frame["error"] = frame["ratio"] - 1
    frame["mean_error"] = frame["replay_mean_error"] = frame["rank_correlation"] = np.nan
    reasons = [LEFT_OUT.get(tag(kernel), "") for kernel in frame["kernel"]]
    frame["left_out"] = [
        say(note) if np.isnan(ratio) else say("; ").join(map(say, filter(None, (reason, note))))
        for reason, note, ratio in zip(reasons, frame["note"], frame["ratio"], strict=True)
    ]
    return frame


def _summary(rows: pd.DataFrame, validation: xr.Dataset, gpu: str, say: Say) -> pd.DataFrame:
    """Errors of one GPU: of the kernels of the lecture, and of all that were compared."""
    compared = rows.dropna(subset="ratio")
    lecture = compared[_of_lecture(compared)]
    if compared.empty:
        return rows.iloc[:0]
    of_all = validation[["mape", "rank_correlation"]].sel(validated_gpu=gpu, model=MODEL)
    ranks = lecture[["predicted_gflops", "measured_gflops"]].rank()
    by_replay = validation["mape"].sel(validated_gpu=gpu, model=REPLAY)
    means = {
        say("{first} to {last}").format(first=FIRST, last=LAST): (
            mean_absolute_error(lecture["ratio"]),
            mean_absolute_error(lecture["replay_error"] + 1),
            ranks["predicted_gflops"].corr(ranks["measured_gflops"]),
        ),
        say("all"): (float(of_all["mape"]), float(by_replay), float(of_all["rank_correlation"])),
    }
    texts = dict.fromkeys(("kernel", "tiling", "bound", "left_out"), "")
    return pd.DataFrame(
        [
            {
                **texts,
                "gpu": gpu,
                "gpu_name": rows["gpu_name"].iloc[0],
                "kernel_name": what,
                "mean_error": error,
                "replay_mean_error": replay_error,
                "rank_correlation": correlation,
            }
            for what, (error, replay_error, correlation) in means.items()
        ]
    )


def _of_lecture(frame: pd.DataFrame) -> pd.Series:
    tags = frame["kernel"].map(tag)
    return (tags >= FIRST) & (tags <= LAST)


def facts(validation: xr.Dataset, gpus: xr.Dataset, gpu: str, say: Say) -> dict[str, float | str]:
    """Say how far off the model is, plainly for the kernels of the lecture on one GPU."""
    frame = _rates(validation, gpus, say)
    compared = frame.dropna(subset="ratio")
    names = gpus["gpu_name"].to_series()
    errors = validation.sel(model=MODEL)[["mape", "rank_correlation"]]
    by_gpu = [
        say("{error:.0%} and {correlation:.2f} on {gpu}").format(
            error=float(errors["mape"].sel(validated_gpu=one)),
            correlation=float(errors["rank_correlation"].sel(validated_gpu=one)),
            gpu=names[one],
        )
        for one in compared["gpu"].unique()
    ]
    return {
        "compared": len(compared),
        "sizes": listed([f"{n}" for n in compared["n"].unique()], say) or message("any size"),
        "plainly": _plainly(compared[compared["gpu"] == gpu], str(names[gpu]), say),
        "by_gpu": say("; ").join(by_gpu)
        or message("not known, as nobody has published rates on these GPUs"),
        "resources": len(RESOURCES),
        "replay_words": _replay_words(validation, compared, say),
    }


def _replay_words(validation: xr.Dataset, rows: pd.DataFrame, say: Say) -> str:
    """Say how far off a replay of the machine code is, which the table has beside."""
    replayed = rows.dropna(subset="replay_error")
    if replayed.empty:
        return say("None of these rates is replayed.")
    ranks = validation["rank_correlation"].sel(model=REPLAY, validated_gpu=replayed["gpu"].unique())
    return say(
        "A replay of the machine code, cycle by cycle, knows what instructions wait for: it is off "
        "by {error:.1%} on average, with a rank correlation of at least {rank:.2f} on each GPU."
    ).format(
        error=mean_absolute_error(replayed["replay_error"] + 1),
        rank=float(np.nan_to_num(ranks.min())),
    )


def _plainly(rows: pd.DataFrame, gpu: str, say: Say) -> str:
    lecture = rows[_of_lecture(rows)]
    if lecture.empty:
        return say("Of the kernels {first} to {last} no rate is published on {gpu}.").format(
            first=FIRST, last=LAST, gpu=gpu
        )
    worst = lecture.iloc[lecture["error"].abs().argmax()]
    return say(
        "On {gpu} the roofline is off by {error:.1%} on average over {first} to {last}, worst for "
        "{worst}, whose predicted rate is {ratio:.2f} times the published one."
    ).format(
        gpu=gpu,
        error=mean_absolute_error(lecture["ratio"]),
        first=FIRST,
        last=LAST,
        worst=tag(worst["kernel"]),
        ratio=worst["ratio"],
    )


def drawn(validation: xr.Dataset, gpus: xr.Dataset) -> pd.DataFrame:
    """Give rates (GFLOP/s) and their ratio, one row per published rate that is predicted.

    Arguments as in :func:`table`.
    """
    columns = ["gpu", "gpu_name", "kernel", "bound", "predicted_gflops", "measured_gflops", "ratio"]
    return _rates(validation, gpus, english).dropna(subset="ratio")[columns].reset_index(drop=True)


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw predicted against published rates, a panel per GPU, and the ratios below."""
    names = list(frame["gpu_name"].unique())
    if not names:
        figure.text(0.5, 0.5, say("no published rates on these GPUs"), ha="center")
        return
    above, below = 2.8 * -(-len(names) // 2) + 0.5, 2.9
    figure.set_figheight(above + below)
    rates, ratios = figure.subfigures(2, 1, squeeze=False, height_ratios=[above, below]).flat
    _draw_rates(rates, frame, names, say)
    _draw_ratios(ratios, frame, names, say)


def _draw_rates(part: SubFigure, frame: pd.DataFrame, names: list[str], say: Say) -> None:
    panels = style.panels(part, len(names), columns=2, height=2.8, sharex=True, sharey=True)
    rates = frame[["predicted_gflops", "measured_gflops"]]
    ends = [float(rates.min().min()) / 1.6, float(rates.max().max()) * 1.6]
    for axes, name_ in zip(panels, names, strict=True):
        axes.plot(ends, ends, color=style.GREY, linestyle="--", linewidth=1)
        one = frame[frame["gpu_name"] == name_]
        for resource in RESOURCES:
            rows = one[one["bound"] == resource.id]
            if len(rows):
                axes.scatter(
                    rows["measured_gflops"],
                    rows["predicted_gflops"],
                    color=style.resource_colour(resource.id),
                    marker=style.resource_marker(resource.id),
                    label=say("bound by {resource}").format(
                        resource=say(style.resource_name(resource.id))
                    ),
                    zorder=3,
                )
        axes.set(title=name_, xscale="log", yscale="log", xlim=ends, ylim=ends)
        style.rate_ticks(axes.xaxis)
        style.rate_ticks(axes.yaxis)
        axes.grid(True)
        style.tag_at_the_right(
            axes,
            [tag(kernel) for kernel in one["kernel"]],
            one["measured_gflops"].to_list(),
            one["predicted_gflops"].to_list(),
            gap=0.19,
        )
    style.outer_labels(panels, say("published rate (GFLOP/s)"), say("predicted rate (GFLOP/s)"))
    style.legend_above(part, panels, columns=5)


def _draw_ratios(part: SubFigure, frame: pd.DataFrame, names: list[str], say: Say) -> None:
    axes = part.subplots()
    tags = sorted({tag(kernel) for kernel in frame["kernel"]})
    axes.axhline(1, color=style.GREY, linestyle="--", linewidth=1)
    for number, name_ in enumerate(names):
        rows = frame[frame["gpu_name"] == name_]
        axes.scatter(
            [
                tags.index(tag(kernel)) + 0.14 * (number - (len(names) - 1) / 2)
                for kernel in rows["kernel"]
            ],
            rows["ratio"],
            s=26,
            color=style.gpu_colour(str(rows["gpu"].iloc[0]), number),
            marker=MARKERS[number % len(MARKERS)],
            label=name_,
            zorder=3,
        )
    axes.set_yscale("log")
    shown = [
        tick
        for tick in RATIO_TICKS
        if frame["ratio"].min() / 1.5 < tick < frame["ratio"].max() * 1.5
    ]
    style.plain_ticks(axes.yaxis, shown)
    axes.set_xticks(range(len(tags)), tags)
    axes.set_ylabel(say("predicted / published (1)"))
    axes.grid(True, axis="y")
    style.legend_above(part, [axes], columns=4)
