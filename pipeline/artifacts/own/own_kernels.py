"""The user's own kernels: how long they take on every GPU, what sets the time, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import marks, style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel
from pipeline.counting.own_fit import unfit
from pipeline.render.column import Column
from pipeline.timing.resources import RESOURCES
from pipeline.words import Say, listed, message, named_together, together

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARTIFACT = Artifact(
    id="own_kernels",
    # Shown at the size and, in the figure, on the GPU of this lecture.
    lecture=10,
    title="Kernels of your own",
    caption=(
        "Predicted time at n = {n}: that of the slowest resource, all others overlapped. Effective "
        "bandwidth is DRAM traffic over that time, if every array passes once for each way it is "
        "used. A request is one load or store of a warp: the closer its lanes lie together, the "
        "fewer sectors it touches. Shared-memory wavefronts beyond the ideal are bank conflicts. "
        "{story} {checked}"
    ),
    reading=(
        "Time each resource alone would take, the binding one in colour, on {gpu_names}; one "
        "scale for each."
    ),
    needs={
        "counts": "own/counts",
        "extrapolation": "own/extrapolation",
        "occupancy": "own/occupancy",
        "predictions": "own/predictions",
        "gpus": "gpus",
    },
    parameters=("gpu", "large_n"),
)
TIMES = tuple(f"t_{resource.id}" for resource in RESOURCES)
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("kernel_name", "kernel"),
    Column("t", "time", "ms", ",.3g", units.to_milliseconds),
    Column("bound", "bound by", convert=style.resource_name),
    Column("effective_bandwidth", "effective bandwidth", "GB/s", ",.0f", units.to_giga),
    Column("share_of_dram", "share of DRAM bandwidth", "", ".0%"),
    Column("gflops", "rate", "GFLOP/s", ",.0f"),
    Column("load_sectors", "sectors per load request", "", ".1f"),
    Column("store_sectors", "sectors per store request", "", ".1f"),
    Column("load_wavefronts", "wavefronts per shared load", "", ".1f"),
    Column("store_wavefronts", "wavefronts per shared store", "", ".1f"),
    Column("conflicts", "shared wavefronts / ideal", "", ".1f"),
    *(
        Column(f"t_{one}", f"{style.resource_name(one)} alone", "ms", ",.3g", units.to_milliseconds)
        for one in ("l1", "smem", "dram")
    ),
    Column("occupancy", "occupancy", "", ".0%"),
)
# What loads a resource: ending of the columns that say how much, and the words for each.
LOADED_BY = {"l1": "_sectors", "smem": "_wavefronts"}
PATTERNS = {
    "load_sectors": message("{resource} ({ways:.3g} sectors per load request)"),
    "store_sectors": message("{resource} ({ways:.3g} sectors per store request)"),
    "load_wavefronts": message("{resource} ({ways:.3g} wavefronts per load of shared memory)"),
    "store_wavefronts": message("{resource} ({ways:.3g} wavefronts per store of shared memory)"),
}
RATIOS = {
    "load_sectors": ("gld_sectors", "gld_instr"),
    "store_sectors": ("gst_sectors", "gst_instr"),
    "load_wavefronts": ("lds_wavefronts", "lds_instr"),
    "store_wavefronts": ("sts_wavefronts", "sts_instr"),
    "conflicts": ("smem_wavefronts", "ideal_smem_wavefronts"),
}


def table(
    extrapolation: xr.Dataset,
    occupancy: xr.Dataset,
    predictions: xr.Dataset,
    gpus: xr.Dataset,
    large_n: int,
) -> pd.DataFrame:
    """Tabulate times and what explains them, one row per GPU and kernel.

    Parameters
    ----------
    extrapolation : (kernel, n, method)
        The store ``own/extrapolation``.
    occupancy : (kernel, gpu)
        The store ``own/occupancy``.
    predictions : (kernel, gpu, n, method)
        The store ``own/predictions``.
    gpus : (gpu,)
        The store of that name.
    large_n
        Size that times were predicted at.

    Returns
    -------
    Times in s, bandwidth in B/s, rates in GFLOP/s. What a kernel does not do, or cannot run, is
    NaN.
    """
    at = {"n": large_n, "method": "polynomial"}
    one, counts = predictions.sel(at), extrapolation.sel(at)
    shown = one[[*TIMES, "t", "bound"]].assign(
        {name: _ratio(counts, *of) for name, of in RATIOS.items()}
        | {
            "gflops": one["gflops"].where(one["gflops"] > 0),
            "effective_bandwidth": one["dram_bytes"] / one["t"],
            "occupancy": occupancy["occupancy"],
        }
    )
    shown["share_of_dram"] = shown["effective_bandwidth"] / gpus["dram_bandwidth"]
    # The stores list GPUs in one order; alignment must not sort them.
    frame = by_kernel(shown.sel(gpu=predictions["gpu"]).transpose("gpu", "kernel"))
    fields = [column.field for column in COLUMNS]
    return frame[["gpu", "kernel", *fields, *(name for name in TIMES if name not in fields)]]


def _ratio(counts: xr.Dataset, part: str, whole: str) -> xr.DataArray:
    """Divide two counters; NaN where there is nothing to divide by."""
    return counts[part] / counts[whole].where(counts[whole] > 0)


def facts(
    counts: xr.Dataset,
    extrapolation: xr.Dataset,
    occupancy: xr.Dataset,
    predictions: xr.Dataset,
    gpus: xr.Dataset,
    gpu: str,
    large_n: int,
    say: Say,
) -> dict[str, float | str]:
    """Compare the slowest kernel with the fastest, and name those that failed or do not fit.

    Parameters
    ----------
    counts : (kernel, n)
        The store ``own/counts``; its attribute ``failed`` is used.
    extrapolation, occupancy, predictions, gpus, large_n
        As in :func:`table`.
    gpu
        GPU of the lecture's figures.
    say
        The language.
    """
    frame = table(extrapolation, occupancy, predictions, gpus, large_n)
    told = _told(frame, gpu)
    failed = listed(list(counts.attrs["failed"]), say)
    checked = (
        say("Not shown, because they failed their check: {kernels}.").format(kernels=failed)
        if failed
        else say("All kernels passed their check.")
    )
    out = [
        say("{kernel} {reason}.").format(kernel=kernel, reason=reason)
        for kernel, reason in unfit(occupancy, gpus, say).items()
    ]
    return {
        "n": large_n,
        "gpu_names": named_together(
            [
                say("the {gpu}").format(gpu=predictions["gpu_name"].sel(gpu=one).item())
                for one in told
            ],
            say,
        ),
        "story": together([_story(frame[frame["gpu"] == one], say) for one in told], say),
        "checked": together([checked, *out], say),
    }


def _told(frame: pd.DataFrame, gpu: str) -> list[str]:
    """Choose the GPU of the lecture's figures, and the one on which kernels differ most."""
    times = frame.groupby("gpu", sort=False)["t"]
    return list(dict.fromkeys([gpu, str((times.max() / times.min()).fillna(0).idxmax())]))


def _story(frame: pd.DataFrame, say: Say) -> str:
    """Say on one GPU what sets the time of the slowest and of the fastest kernel."""
    gpu, runs = frame["gpu_name"].iloc[0], frame.dropna(subset="t")
    if runs.empty:
        return say("On the {gpu} no kernel can run.").format(gpu=gpu)
    slowest, fastest = (runs[runs["t"] == t].iloc[0] for t in (runs["t"].max(), runs["t"].min()))
    if np.isclose(slowest["t"], fastest["t"]):
        return say("On the {gpu} all take {time:.3g} ms, set by {resource}.").format(
            gpu=gpu,
            time=units.to_milliseconds(fastest["t"]),
            resource=say(style.resource_name(fastest["bound"])),
        )
    first, last = (
        say("{kernel} takes {time:.3g} ms, set by {why}").format(
            kernel=say(one["kernel_name"]),
            time=units.to_milliseconds(one["t"]),
            why=_why(one, say),
        )
        for one in (slowest, fastest)
    )
    return say("On the {gpu} {first}; {last}.").format(gpu=gpu, first=first, last=last)


def _why(row: pd.Series, say: Say) -> str:
    """Name the binding resource, and the pattern that loads it."""
    name = say(style.resource_name(row["bound"]))
    columns = [column for column in PATTERNS if column.endswith(LOADED_BY.get(row["bound"], " "))]
    if not columns:
        return name
    ways = row[columns].astype(float)
    worst = str(ways.idxmax())
    return say(PATTERNS[worst]).format(resource=name, ways=ways[worst])


def drawn(
    extrapolation: xr.Dataset,
    occupancy: xr.Dataset,
    predictions: xr.Dataset,
    gpus: xr.Dataset,
    gpu: str,
    large_n: int,
) -> pd.DataFrame:
    """Give times (s) on one or two GPUs, one row per kernel; arguments as in :func:`facts`."""
    frame = table(extrapolation, occupancy, predictions, gpus, large_n)
    wanted = pd.concat([frame[frame["gpu"] == one] for one in _told(frame, gpu)])
    return wanted[["gpu_name", "kernel", "kernel_name", *TIMES, "bound"]].reset_index(drop=True)


def draw(frame: pd.DataFrame, figure: Figure, say: Say) -> None:
    """Draw one part per GPU, and in it one panel per kernel: a bar per resource."""
    marks.times_by_gpu(figure, frame, say)
