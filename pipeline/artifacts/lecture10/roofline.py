"""All kernels on the roofline of every GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import marks, style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel, tag, tags, uses_tensor_cores, with_published
from pipeline.words import Say

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="roofline",
    lecture=10,
    title="Rooflines",
    caption=(
        "The ladder on the roofline of each GPU at n = {n}. The kernels do {lowest:.0f} to "
        "{highest:.0f} FLOP per byte of DRAM traffic, from {least_margin:.1f} to "
        "{most_margin:.1f} times what their GPU needs to reach its peak{on_tensor_cores}. DRAM "
        "binds {by_dram} of {total} predictions; what holds the others back is inside the SM, "
        "where a roofline of DRAM alone does not look."
    ),
    reading=(
        "Filled marks: predicted, in the colour of the binding resource. Hollow marks: published. "
        "Both axes are logarithmic."
    ),
    needs={"predictions": "predictions", "gpus": "gpus", "measured": "measured"},
    parameters=("large_n", "shown_gpus"),
)

FP32, TENSOR = "FP32", "tensor"
PEAKS = {FP32: "peak_fp32_flops", TENSOR: "peak_tensor_fp16_flops"}
DASHES = {FP32: "-", TENSOR: "--"}


def drawn(
    predictions: xr.Dataset,
    gpus: xr.Dataset,
    measured: xr.Dataset,
    large_n: int,
    shown_gpus: Sequence[str],
) -> pd.DataFrame:
    """Give the kernels, one row per GPU and kernel, and the corners of each roof.

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
    shown_gpus
        GPUs that are shown, in this order.

    Returns
    -------
    ``arithmetic_intensity`` in FLOP/B, rates in GFLOP/s. Rows of a roof have no ``kernel`` and say
    in ``roof`` what is at its top; that of the tensor cores is there if a kernel uses them.
    """
    kernels = _kernels(predictions, measured, large_n, shown_gpus)
    roofs = _roofs(gpus.sel(gpu=list(shown_gpus)), kernels)
    return pd.concat([roofs, kernels], ignore_index=True)


def _kernels(
    predictions: xr.Dataset, measured: xr.Dataset, large_n: int, shown_gpus: Sequence[str]
) -> pd.DataFrame:
    shown = predictions[["arithmetic_intensity", "gflops", "bound", "t_tensor"]]
    one = shown.sel({"n": large_n, "method": "polynomial"})
    roof = xr.where(uses_tensor_cores(one["t_tensor"]), TENSOR, FP32)
    one = one.assign(roof=roof).sel(gpu=list(shown_gpus)).transpose("gpu", "kernel")
    frame = by_kernel(one).rename(columns={"gflops": "predicted_gflops"})
    columns = ["gpu", "gpu_name", "kernel", "arithmetic_intensity", "bound", "predicted_gflops"]
    return with_published(frame[[*columns, "roof"]], measured, large_n)


def _roofs(gpus: xr.Dataset, kernels: pd.DataFrame) -> pd.DataFrame:
    """Three corners per GPU and roof: left of all marks, at the ridge, right of all marks."""
    used = pd.Index([FP32, TENSOR] if (kernels["roof"] == TENSOR).any() else [FP32], name="roof")
    peak = units.to_giga(xr.concat([gpus[PEAKS[roof]] for roof in used], used))
    bandwidth = units.to_giga(gpus["dram_bandwidth"])
    ridge = peak / bandwidth
    intensities = [*kernels["arithmetic_intensity"].dropna(), *ridge.to_numpy().ravel()]
    corners = xr.concat(
        [
            xr.full_like(ridge, min(intensities) / 4),
            ridge,
            xr.full_like(ridge, 4 * max(intensities)),
        ],
        "corner",
    )
    roof = xr.Dataset(
        {
            "arithmetic_intensity": corners,
            "roof_gflops": np.minimum(peak, bandwidth * corners),
        }
    )
    frame = roof.transpose("gpu", "roof", "corner").to_dataframe().reset_index()
    return frame[["gpu", "gpu_name", "roof", "arithmetic_intensity", "roof_gflops"]]


def facts(
    predictions: xr.Dataset,
    gpus: xr.Dataset,
    measured: xr.Dataset,
    large_n: int,
    shown_gpus: Sequence[str],
    say: Say,
) -> dict[str, float | str]:
    """Compare the intensity of every kernel with what its GPU needs."""
    frame = _kernels(predictions, measured, large_n, shown_gpus)
    balance = {
        (gpu, roof): float(gpus[figure].sel(gpu=gpu) / gpus["dram_bandwidth"].sel(gpu=gpu))
        for roof, figure in PEAKS.items()
        for gpu in shown_gpus
    }
    needed = [balance[key] for key in zip(frame["gpu"], frame["roof"], strict=True)]
    margin = frame["arithmetic_intensity"] / needed
    on_tensor_cores = frame.loc[frame["roof"] == TENSOR, "kernel"].unique()
    by_dram = int((frame["bound"] == "dram").sum())
    return {
        "n": large_n,
        "lowest": frame["arithmetic_intensity"].min(),
        "highest": frame["arithmetic_intensity"].max(),
        "least_margin": margin.min(),
        "most_margin": margin.max(),
        "by_dram": by_dram,
        "total": len(frame),
        "on_tensor_cores": say(", {kernels} that of its tensor cores").format(
            kernels=tags(on_tensor_cores, say)
        )
        if len(on_tensor_cores)
        else "",
    }


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw one panel per GPU: its roof, and the marks of the kernels below."""
    names = frame["gpu_name"].unique()
    panels = style.panels(figure, len(names), columns=3, height=3.5, sharex=True, sharey=True)
    binding = marks.bounds(frame)
    for axes, name in zip(panels, names, strict=True):
        one = frame[frame["gpu_name"] == name]
        roof, kernels = one[one["kernel"].isna()], one[one["kernel"].notna()]
        for name_, corners in roof.groupby("roof", sort=False):
            axes.plot(
                corners["arithmetic_intensity"],
                corners["roof_gflops"],
                color=style.GREY,
                linestyle=DASHES[str(name_)],
                label=say("{peak} roof").format(peak=say(str(name_))),
            )
        axes.vlines(
            kernels["arithmetic_intensity"],
            kernels["predicted_gflops"],
            kernels["measured_gflops"],
            style.PALE,
        )
        marks.predicted(axes, kernels, "arithmetic_intensity", "predicted_gflops", binding, say)
        marks.published(axes, kernels, "arithmetic_intensity", "measured_gflops", say)
        axes.set(title=name, xscale="log", yscale="log")
        style.rate_ticks(axes.xaxis, times=(1,))
        style.rate_ticks(axes.yaxis)
        axes.grid(True)
        _tag_kernels(axes, kernels)
    style.outer_labels(panels, say("arithmetic intensity (FLOP/B)"), say("rate (GFLOP/s)"))
    style.legend_above(figure, panels, columns=5)


def _tag_kernels(axes: Axes, kernels: pd.DataFrame) -> None:
    """Name the kernels in a column at the right, each joined to its prediction."""
    shown = kernels.dropna(subset="predicted_gflops")
    style.tag_at_the_right(
        axes,
        [tag(kernel) for kernel in shown["kernel"]],
        shown["arithmetic_intensity"].to_list(),
        shown["predicted_gflops"].to_list(),
        gap=0.165,
    )
