"""The same ladder on every GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import marks, style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import (
    by_kernel,
    mean_absolute_error,
    tag,
    uses_tensor_cores,
    with_published,
)
from pipeline.render.column import Column
from pipeline.words import Say, listed, message, together

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="across_gpus",
    lecture=10,
    title="The ladder on every GPU",
    caption=(
        "Predicted rate of every kernel on every GPU at n = {n}, and published rates where there "
        "are any. {last_name} reaches from {lowest:.0%} of the {peak} peak ({lowest_gpu}) to "
        "{highest:.0%} ({highest_gpu}). {remarks} Some publications have tiles of their own, which "
        "are not those predicted here."
    ),
    reading=(
        "Filled marks: predicted, in the colour of the binding resource. Hollow marks: published. "
        "Dashed: FP32 peak. Dotted: peak of the tensor cores. Rates on a logarithmic axis."
    ),
    needs={"predictions": "predictions", "gpus": "gpus", "measured": "measured"},
    parameters=("large_n",),
)
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("kernel_name", "kernel"),
    Column("bound", "bound by", convert=style.resource_name),
    Column("predicted_gflops", "predicted", "GFLOP/s", ",.0f"),
    Column("share_of_peak", "share of FP32 or tensor peak", "", ".1%"),
    Column("measured_gflops", "published", "GFLOP/s", ",.1f"),
    Column("ratio", "predicted / published", "", ".2f"),
)

# Column -> figure of the GPU, and what its line in the figure looks like.
PEAKS = {"peak_gflops": "peak_fp32_flops", "tensor_gflops": "peak_tensor_fp16_flops"}
LINES = {
    "peak_gflops": (message("FP32 peak"), "--"),
    "tensor_gflops": (message("tensor peak"), ":"),
}


def table(
    predictions: xr.Dataset, gpus: xr.Dataset, measured: xr.Dataset, large_n: int
) -> pd.DataFrame:
    """Tabulate rates (GFLOP/s), one row per GPU and kernel.

    Parameters
    ----------
    predictions : (kernel, gpu, n, method)
        The store of that name.
    gpus : (gpu,)
        The store of that name.
    measured : (measurement,)
        The store of that name.
    large_n
        Size that times were predicted at.
    """
    one = predictions[["bound", "gflops", "t_tensor"]].sel({"n": large_n, "method": "polynomial"})
    one["on_tensor_cores"] = uses_tensor_cores(one["t_tensor"])
    frame = by_kernel(one.transpose("gpu", "kernel")).rename(columns={"gflops": "predicted_gflops"})
    frame = with_published(frame, measured, large_n)
    for column, figure in PEAKS.items():
        frame[column] = frame["gpu"].map(units.to_giga(gpus[figure]).to_series())
    peak = frame["tensor_gflops"].where(frame["on_tensor_cores"], frame["peak_gflops"])
    frame["share_of_peak"] = frame["predicted_gflops"] / peak
    frame["ratio"] = frame["predicted_gflops"] / frame["measured_gflops"]
    shown = [column.field for column in COLUMNS]
    return frame[["gpu", "kernel", *shown, *PEAKS, "on_tensor_cores"]]


def facts(
    predictions: xr.Dataset, gpus: xr.Dataset, measured: xr.Dataset, large_n: int, say: Say
) -> dict[str, float | str]:
    """Compare the last kernel of the ladder over the GPUs, and predictions with publications."""
    frame = table(predictions, gpus, measured, large_n)
    runs = frame.dropna(subset="predicted_gflops")
    ladder = [kernel for kernel in frame["kernel"].unique() if kernel in set(runs["kernel"])]
    last = runs[runs["kernel"].isin(ladder[-1:])].sort_values("share_of_peak")
    return {
        "n": large_n,
        "peak": message("tensor") if last["on_tensor_cores"].iloc[0] else message("FP32"),
        "last_name": last["kernel_name"].iloc[0],
        "lowest": last["share_of_peak"].min(),
        "lowest_gpu": last["gpu_name"].iloc[0],
        "highest": last["share_of_peak"].max(),
        "highest_gpu": last["gpu_name"].iloc[-1],
        "remarks": together([_absent(frame, say), _comparison(frame, say)], say),
    }


def _absent(frame: pd.DataFrame, say: Say) -> str:
    """Say which kernels run nowhere on which GPUs."""
    nowhere = frame[frame["predicted_gflops"].isna()]
    return together(
        [
            say("{kernel} does not run on {gpus}.").format(
                kernel=say(str(name)), gpus=listed(rows["gpu_name"].to_list(), say)
            )
            for name, rows in nowhere.groupby("kernel_name", sort=False)
        ],
        say,
    )


def _comparison(frame: pd.DataFrame, say: Say) -> str:
    errors = [
        say("{error:.0%} on {gpu}").format(error=mean_absolute_error(rows["ratio"]), gpu=gpu)
        for gpu, rows in frame.groupby("gpu_name", sort=False)
        if rows["ratio"].notna().any()
    ]
    if not errors:
        return say("Nobody has published rates of these kernels on these GPUs at this size.")
    return say("The predictions are off from published rates by {errors} on average.").format(
        errors=listed(errors, say)
    )


def drawn(
    predictions: xr.Dataset, gpus: xr.Dataset, measured: xr.Dataset, large_n: int
) -> pd.DataFrame:
    """Give rates (GFLOP/s), one row per GPU and kernel; arguments as in :func:`table`."""
    columns = ["gpu", "gpu_name", "kernel", "kernel_name", "bound"]
    rates = ["predicted_gflops", "measured_gflops", *PEAKS]
    return table(predictions, gpus, measured, large_n)[[*columns, *rates]]


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw one panel per GPU: rates along the ladder, below the peak."""
    frame = frame.assign(tag=[tag(kernel) for kernel in frame["kernel"]])
    names = frame["gpu_name"].unique()
    panels = style.panels(figure, len(names), columns=3, height=2.6, sharey=True)
    for axes, name in zip(panels, names, strict=True):
        _draw_gpu(axes, frame[frame["gpu_name"] == name], marks.bounds(frame), say)
        axes.set(title=name, yscale="log")
        style.rate_ticks(axes.yaxis)
        axes.tick_params(axis="x", rotation=90)
        axes.grid(True, axis="y")
    style.outer_labels(panels, "", say("rate (GFLOP/s)"))
    style.legend_above(figure, panels, columns=5)


def _draw_gpu(axes: Axes, ladder: pd.DataFrame, binding: list[str], say: Say) -> None:
    axes.plot(ladder["tag"], ladder["predicted_gflops"], color=style.PALE)
    axes.plot(ladder["tag"], ladder["measured_gflops"], color=style.BLACK, linewidth=0.7)
    marks.predicted(axes, ladder, "tag", "predicted_gflops", binding, say)
    marks.published(axes, ladder, "tag", "measured_gflops", say)
    for kernel in ladder.loc[ladder["predicted_gflops"].isna(), "tag"]:
        axes.text(
            kernel,
            0.04,
            say("does not run"),
            transform=axes.get_xaxis_transform(),
            rotation=90,
            ha="center",
            color=style.GREY,
        )
    # A column without a mark would be cut off.
    axes.set_xlim(-0.6, len(ladder) - 0.4)
    for column, (label, dash) in LINES.items():
        peak = ladder[column].iloc[0]
        axes.axhline(peak, color=style.GREY, linestyle=dash, linewidth=1, label=say(label))
