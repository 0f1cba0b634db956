"""The user's own compiled kernels: how long they take on every GPU, and what sets the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import marks, style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel
from pipeline.render.column import Column
from pipeline.timing.compiled import METHOD
from pipeline.timing.resources import RESOURCES
from pipeline.words import Say, english, listed, message, named_together, together

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="own_cuda",
    # Shown, in the figure, on the GPU of this lecture.
    lecture=10,
    title="Compiled kernels of your own",
    caption=(
        "Predicted time of one launch: that of the slowest resource, all others overlapped. Every "
        "instruction of the machine code counts; registers and shared memory are those of the "
        "compiler. DRAM traffic takes every array that is read or written once each way. {story} "
        "{remarks}"
    ),
    reading="Time each resource alone would take, the binding one in colour, on {gpu_names}.",
    needs={"counts": "own/cuda_counts", "predictions": "own/cuda_predictions", "gpus": "gpus"},
    parameters=("gpu",),
)
TIMES = tuple(f"t_{resource.id}" for resource in RESOURCES)
LIMITS = {
    "warps": message("warp slots"),
    "registers": message("registers"),
    "shared": message("shared memory"),
    "blocks": message("block slots"),
    "code": message("no code for it"),
}
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("kernel_name", "kernel"),
    Column("arch", "code for"),
    Column("t", "time", "ms", ",.3g", units.to_milliseconds),
    Column("bound", "bound by", convert=style.resource_name),
    Column("share_of_dram", "share of DRAM bandwidth", "", ".0%"),
    Column("gflops", "rate", "GFLOP/s", ",.0f"),
    Column("registers_per_thread", "registers per thread", "", ".0f"),
    Column("occupancy", "occupancy", "", ".0%"),
    Column("blocks_per_sm", "blocks per SM", "", ".0f"),
    Column("limited_by", "limited by"),
    *(
        Column(f"t_{one}", f"{style.resource_name(one)} alone", "ms", ",.3g", units.to_milliseconds)
        for one in ("issue", "l1", "smem", "dram")
    ),
)


def table(predictions: xr.Dataset, gpus: xr.Dataset, say: Say = english) -> pd.DataFrame:
    """Tabulate times and occupancy, one row per GPU and kernel.

    Parameters
    ----------
    predictions : (kernel, gpu, method)
        The store ``own/cuda_predictions``.
    gpus : (gpu,)
        The store of that name.
    say
        Language of what keeps another block out.

    Returns
    -------
    Times in s, rates in GFLOP/s. Where no code is for a GPU, numbers are NaN.
    """
    one = predictions.sel({"method": METHOD}, drop=True)
    known = one["arch"] != ""
    shown = one[[*TIMES, "t", "limited_by"]].assign(
        {
            name: one[name].where(known)
            for name in ("blocks_per_sm", "occupancy", "registers_per_thread")
        }
        | {
            "bound": one["bound"].where(known, ""),
            "gflops": one["gflops"].where(one["gflops"] > 0),
            "share_of_dram": one["dram_bytes"] / one["t"] / gpus["dram_bandwidth"],
        }
    )
    frame = by_kernel(shown.sel(gpu=predictions["gpu"]).transpose("gpu", "kernel"))
    frame["limited_by"] = [
        listed([say(LIMITS.get(name, name)) for name in names.split()], say)
        for names in frame["limited_by"]
    ]
    fields = [column.field for column in COLUMNS]
    return frame[["gpu", "kernel", *fields, *(name for name in TIMES if name not in fields)]]


def facts(
    counts: xr.Dataset, predictions: xr.Dataset, gpus: xr.Dataset, gpu: str, say: Say
) -> dict[str, str]:
    """Say what sets the times on one GPU, which kernels failed, and which GPUs have no code.

    Parameters
    ----------
    counts : (kernel, arch)
        The store ``own/cuda_counts``.
    predictions, gpus
        As in :func:`table`.
    gpu
        GPU of the lecture's figures.
    say
        The language.
    """
    frame = table(predictions, gpus)
    told = _told(frame, gpu)
    failed = [
        say("{kernel} for {arch}").format(kernel=say(str(label)), arch=arch)
        for label, row in zip(counts["kernel_label"].values, counts["failure"], strict=True)
        for arch, why in zip(counts["arch"].values, row.values, strict=True)
        if why
    ]
    known = frame[frame["arch"] != ""]["gpu_name"].unique()
    unknown = [name for name in frame["gpu_name"].unique() if name not in known]
    checked = (
        say("Failed: {kernels}.").format(kernels=listed(failed, say))
        if failed
        else say("All passed their checks.")
    )
    without_code = (
        [say("No kernel has code for {gpus}.").format(gpus=listed(unknown, say))] if unknown else []
    )
    return {
        "gpu_names": named_together(
            [say("the {gpu}").format(gpu=name) for name in told["gpu_name"].unique()], say
        ),
        "story": _story(told, say),
        "remarks": together([checked, *without_code], say),
    }


def _told(frame: pd.DataFrame, gpu: str) -> pd.DataFrame:
    """Rows of the lecture's GPU; of the first one that runs any kernel, if that has no code."""
    runs = frame.dropna(subset="t")
    here = runs[runs["gpu"] == gpu]
    first = runs["gpu"].iloc[0] if len(runs) else gpu
    return here if len(here) else frame[frame["gpu"] == first]


def _story(told: pd.DataFrame, say: Say) -> str:
    runs = told.dropna(subset="t")
    parts = [
        say("{kernel} takes {time:.3g} ms, set by {why}").format(
            kernel=say(str(name)),
            time=units.to_milliseconds(t),
            why=say(style.resource_name(bound)),
        )
        for name, t, bound in zip(runs["kernel_name"], runs["t"], runs["bound"], strict=True)
    ]
    if not parts:
        return say("No kernel runs on any of the GPUs.")
    return say("On the {gpu} {times}.").format(
        gpu=told["gpu_name"].iloc[0], times=say("; ").join(parts)
    )


def drawn(predictions: xr.Dataset, gpus: xr.Dataset, gpu: str) -> pd.DataFrame:
    """Give times (s) on one GPU, one row per kernel; arguments as in :func:`facts`."""
    told = _told(table(predictions, gpus), gpu)
    return told[["gpu_name", "kernel", "kernel_name", *TIMES, "bound"]].reset_index(drop=True)


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw one panel per kernel: a bar per resource."""
    marks.times_by_gpu(figure, frame, say)
