"""Published times beside those of the roofline and those of a replay of the machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import gpus_in_order, kernel_names, mean_absolute_error, tag
from pipeline.render.column import Column
from pipeline.words import Say, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="sm_replay",
    lecture=10,
    title="Machine code, replayed cycle by cycle",
    caption=(
        "{compared} published times at n = {sizes}, beside those of the roofline and those of a "
        "replay: what the compiler made of each kernel, with the tiles that were measured, run "
        "cycle by cycle on one SM. Rates are off by {roofline:.0%} on average by the roofline and "
        "by {replay:.1%} by the replay; {by_gpu}. {worst_words}"
    ),
    reading=(
        "Above, for each GPU: time on a logarithmic axis, hollow diamonds published, crosses by "
        "the roofline, dots by the replay. Below: predicted over published rate; within the band a "
        "rate is off by less than {band:.0%}."
    ),
    needs={"validation": "validation", "gpus": "gpus"},
)
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("kernel_name", "kernel"),
    Column("tiling", "tiles, where not the ladder's"),
    Column("measured_t", "published", "ms", ",.3g", units.to_milliseconds),
    Column("roofline_t", "roofline", "ms", ",.3g", units.to_milliseconds),
    Column("replay_t", "replay", "ms", ",.3g", units.to_milliseconds),
    Column("roofline_error", "error of the rate, roofline", "", "+.0%"),
    Column("replay_error", "error of the rate, replay", "", "+.0%"),
    Column("roofline_mean", "mean error, roofline", "", ".1%"),
    Column("replay_mean", "mean error, replay", "", ".1%"),
    Column("roofline_rank", "rank correlation, roofline", "", ".2f"),
    Column("replay_rank", "rank correlation, replay", "", ".2f"),
    Column("busiest", "busiest in the replay"),
)
MODELS = {"roofline": "roofline", "replay": "sm_replay"}
"""Name in columns -> model."""

BAND = 0.1
_FLOP_PER_FMA = 2
_SUMMED = {"mean": "mape", "rank": "rank_correlation"}
_RATIO_TICKS = (0.25, 0.5, 0.7, 1, 1.4, 2, 4, 8)


def table(validation: xr.Dataset, gpus: xr.Dataset) -> pd.DataFrame:
    """Tabulate published and predicted times, and for every GPU the mean errors.

    Parameters
    ----------
    validation : (measurement, model), (validated_gpu, model)
        The store of that name.
    gpus : (gpu,)
        The store of that name.

    Returns
    -------
    A row per GPU and kernel that any of the two models predicts, times in s; another for each GPU.
    """
    frame = _rates(validation, gpus)
    parts = [
        part
        for gpu, rows in frame.groupby("gpu", sort=False)
        for part in (rows, _summary(rows.iloc[0], validation.sel(validated_gpu=str(gpu))))
    ]
    return pd.concat(parts, ignore_index=True) if parts else frame


def _rates(validation: xr.Dataset, gpus: xr.Dataset) -> pd.DataFrame:
    """One row per published rate that is predicted, GPUs and kernels in their order."""
    alone = ["kernel", "gpu", "n", "measured_gflops", "tiling", "kernel_label"]
    frame = validation[alone].to_dataframe().reset_index(drop=True)
    flop = _FLOP_PER_FMA * frame["n"].astype(float) ** 3
    frame["measured_t"] = flop / (frame["measured_gflops"] * 1e9)
    for column, model in MODELS.items():
        here = validation.sel(model=model)
        frame[f"{column}_ratio"] = here["ratio"].to_numpy()
        frame[f"{column}_t"] = flop / (here["predicted_gflops"].to_numpy() * 1e9)
        frame[f"{column}_error"] = frame[f"{column}_ratio"] - 1
        frame[f"{column}_mean"] = frame[f"{column}_rank"] = np.nan
    bound = validation["bound"].sel(model=MODELS["replay"]).to_numpy()
    frame["busiest"] = [style.pipe_name(one) for one in bound]
    frame["kernel_name"] = kernel_names(frame)
    frame["gpu_name"] = frame["gpu"].map(gpus["gpu_name"].to_series())
    frame = frame.drop(columns="kernel_label").dropna(
        subset=[f"{column}_ratio" for column in MODELS], how="all"
    )
    return gpus_in_order(frame, gpus, ["kernel", "n"])


def _summary(first: pd.Series, validation: xr.Dataset) -> pd.DataFrame:
    """Mean error and rank correlation of one GPU."""
    texts = dict.fromkeys(("kernel", "tiling", "busiest"), "")
    errors = {
        f"{column}_{short}": float(validation[of].sel(model=model))
        for column, model in MODELS.items()
        for short, of in _SUMMED.items()
    }
    same = {column: first[column] for column in ("gpu", "gpu_name")}
    return pd.DataFrame([{**same, "kernel_name": "all", **texts, **errors}])


def facts(validation: xr.Dataset, gpus: xr.Dataset, say: Say) -> dict[str, Any]:
    """Say how far off both models are, and where the replay is worst."""
    frame = _rates(validation, gpus)
    by_gpu = [
        say("{gpu} {roofline:.0%} and {replay:.1%}").format(
            gpu=rows["gpu_name"].iloc[0],
            **{column: mean_absolute_error(rows[f"{column}_ratio"]) for column in MODELS},
        )
        for _, rows in frame.dropna(subset="replay_ratio").groupby("gpu", sort=False)
    ]
    return {
        "compared": len(frame),
        "sizes": listed([f"{n}" for n in frame["n"].unique()], say) or say("any size"),
        **{
            column: np.nan_to_num(mean_absolute_error(frame[f"{column}_ratio"]))
            for column in MODELS
        },
        "by_gpu": say("; ").join(by_gpu) or say("nothing is replayed for these GPUs"),
        "worst_words": _worst_words(frame.dropna(subset="replay_ratio"), say),
        "band": BAND,
    }


def _worst_words(frame: pd.DataFrame, say: Say) -> str:
    if frame.empty:
        return say("No published rate is replayed.")
    worst = frame.iloc[int(frame["replay_error"].abs().to_numpy().argmax())]
    within = (frame["replay_error"].abs() <= BAND).mean()
    return say(
        "The replay is within {band:.0%} for {within:.0%} of them and worst for {kernel} on the "
        "{gpu}, whose rate is off by {error:+.0%}."
    ).format(
        band=BAND,
        within=within,
        kernel=tag(worst["kernel"]),
        gpu=worst["gpu_name"],
        error=worst["replay_error"],
    )


def drawn(validation: xr.Dataset, gpus: xr.Dataset) -> pd.DataFrame:
    """Give times (s) and ratios, one row per published rate; arguments as in :func:`table`."""
    columns = [f"{column}_{what}" for what in ("t", "ratio") for column in MODELS]
    return _rates(validation, gpus)[["gpu", "gpu_name", "kernel", "n", "measured_t", *columns]]


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw times, and ratios below them, for each GPU."""
    names = list(frame["gpu_name"].unique())
    if not names:
        figure.text(0.5, 0.5, say("no published rates on these GPUs"), ha="center")
        return
    columns = min(2, len(names))
    rows = -(-len(names) // columns)
    figure.set_figheight(3.3 * rows + 0.4)
    grid = figure.subplots(
        2 * rows, columns, squeeze=False, sharex=True, height_ratios=[1.9, 1] * rows
    )
    tags = sorted({tag(kernel) for kernel in frame["kernel"]})
    ends = _ends(frame)
    for number, gpu in enumerate(names):
        row, column = divmod(number, columns)
        above, below = grid[2 * row, column], grid[2 * row + 1, column]
        one = frame[frame["gpu_name"] == gpu]
        places = [tags.index(tag(kernel)) for kernel in one["kernel"]]
        _draw_times(above, one, places, say)
        above.set(title=gpu, ylim=ends["t"])
        _draw_ratios(below, one, places)
        below.set(ylim=ends["ratio"])
        below.set_xticks(range(len(tags)), tags)
        below.tick_params(labelbottom=True)
        for axes in (above, below):
            axes.tick_params(labelleft=column == 0)
        if column == 0:
            above.set_ylabel(say("time (ms)"))
            below.set_ylabel(say("rate ratio (1)"))
    for spare in grid.T.reshape(columns, rows, 2)[:, -1][len(names) - columns * (rows - 1) :].flat:
        spare.remove()
    style.legend_above(figure, [grid[0, 0]], columns=3)


def _ends(frame: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Give all GPUs the same limits, so that they compare."""
    times = frame[["measured_t", *(f"{column}_t" for column in MODELS)]]
    ratios = frame[[f"{column}_ratio" for column in MODELS]]
    return {
        "t": (
            float(units.to_milliseconds(times.min().min())) / 1.5,
            float(units.to_milliseconds(times.max().max())) * 1.5,
        ),
        "ratio": (
            min(0.9 * float(ratios.min().min()), 0.8),
            max(1.1 * float(ratios.max().max()), 1.25),
        ),
    }


_LOOKS: dict[str, dict[str, Any]] = {
    "roofline": {"marker": "x", "color": style.RED, "s": 30, "linewidths": 1.4},
    "replay": {"marker": "o", "color": style.BLUE, "s": 20},
}


def _draw_times(axes: Axes, one: pd.DataFrame, places: list[int], say: Say) -> None:
    labels = {"roofline": say("roofline"), "replay": say("replay")}
    published = units.to_milliseconds(one["measured_t"])
    axes.scatter(
        places, published, s=58, marker="D", facecolors="none", edgecolors=style.BLACK,
        label=say("published"),
    )  # fmt: skip
    for column, look in _LOOKS.items():
        times = units.to_milliseconds(one[f"{column}_t"])
        axes.scatter(places, times, label=labels[column], zorder=3, **look)
    axes.set_yscale("log")
    style.rate_ticks(axes.yaxis)
    axes.grid(True)


def _draw_ratios(axes: Axes, one: pd.DataFrame, places: list[int]) -> None:
    axes.axhspan(1 - BAND, 1 + BAND, color="#EDEDED", zorder=0)
    axes.axhline(1, color=style.GREY, linewidth=1)
    for column, look in _LOOKS.items():
        axes.scatter(places, one[f"{column}_ratio"], zorder=3, **look)
    axes.set_yscale("log")
    style.plain_ticks(axes.yaxis, _RATIO_TICKS)
    axes.grid(True, axis="x")
