"""The user's own compiled kernels, replayed on one SM: how long, and what their warps wait for."""

import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts import style
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel, stall_name
from pipeline.render.column import Column
from pipeline.timing.compiled import METHOD
from pipeline.timing.predict import NO_BOUND
from pipeline.words import Say, english, listed, message, together

ARTIFACT = Artifact(
    id="own_cuda_replay",
    lecture=10,
    title="Compiled kernels of your own, replayed on one SM",
    caption=(
        "Time of one launch from its start to its end, by a replay of the machine code cycle by "
        "cycle on one SM, beside the time of the slowest resource alone. Reasons are shares of "
        "the cycles of the resident warps, with Nsight Compute's names; a warp that issues is "
        "selected. {story} {remarks}"
    ),
    needs={"replays": "own/cuda_replays", "predictions": "own/cuda_predictions"},
)
REASONS = 3
"""Reasons that are shown of every launch."""
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("kernel_name", "kernel"),
    Column("arch", "code for"),
    Column("roofline_t", "roofline", "ms", ",.3g", units.to_milliseconds),
    Column("t", "replay", "ms", ",.3g", units.to_milliseconds),
    Column("launch_t", "launch alone", "ms", ",.3g", units.to_milliseconds),
    Column("cycles", "SM cycles", "", ",.0f"),
    Column("clock_hz", "clock", "GHz", ".2f", units.to_giga),
    Column("ipc", "instructions per cycle", "", ".2f"),
    Column("busiest", "busiest pipe", convert=style.pipe_name),
    Column("busy", "busy", "", ".0%"),
    Column("reasons", "what warps do most"),
)


def table(replays: xr.Dataset, predictions: xr.Dataset, say: Say = english) -> pd.DataFrame:
    """Tabulate replays beside the roofline, one row per GPU and kernel that has code for it.

    Parameters
    ----------
    replays : (kernel, gpu)
        The store ``own/cuda_replays``.
    predictions : (kernel, gpu, method)
        The store ``own/cuda_predictions``.
    say
        Language of the list of reasons.

    Returns
    -------
    Times in s. What cannot be replayed has no numbers.
    """
    ran, used = replays["t"] > 0, replays["utilisation"].fillna(0)
    shares = replays["stall_cycles"] / replays["warp_cycles"]
    shown = replays[["t", "launch_t", "cycles", "clock_hz", "ipc"]].assign(
        roofline_t=predictions["t"].sel({"method": METHOD}, drop=True).reset_coords(drop=True),
        pipe_number=used.argmax("pipe"),
        busy=used.max("pipe").where(ran),
        known=ran | (replays["not_replayed"] != ""),
    )
    frame = by_kernel(shown.sel(gpu=replays["gpu"]).transpose("gpu", "kernel"))
    frame["reasons"] = [
        _largest(shares.sel(gpu=gpu, kernel=kernel).to_series(), say)
        for gpu, kernel in zip(frame["gpu"], frame["kernel"], strict=True)
    ]
    pipes = replays["pipe"].to_numpy()[frame["pipe_number"]]
    frame["busiest"] = [
        str(pipe) if has else NO_BOUND for pipe, has in zip(pipes, frame["t"].notna(), strict=True)
    ]
    fields = [column.field for column in COLUMNS]
    return frame.loc[frame["known"], ["gpu", "kernel", *fields]].reset_index(drop=True)


def _largest(shares: pd.Series, say: Say) -> str:
    largest = shares.dropna().nlargest(REASONS)
    return listed([f"{stall_name(str(name))} {share:.0%}" for name, share in largest.items()], say)


def facts(replays: xr.Dataset, predictions: xr.Dataset, say: Say) -> dict[str, str]:
    """Say how both times compare, and what is not replayed; arguments as in :func:`table`."""
    frame = table(replays, predictions)
    ran, refused = frame[frame["t"].notna()], frame[frame["t"].isna()]
    names = [
        say("{kernel} for {arch}").format(kernel=say(str(name)), arch=arch)
        for name, arch in dict.fromkeys(zip(refused["kernel_name"], refused["arch"], strict=True))
    ]
    left_out = say("Not replayed: {kernels}; their pages say why.")
    return {
        "story": _story(ran, say),
        "remarks": together([left_out.format(kernels=listed(names, say)) if names else ""], say),
    }


def _story(ran: pd.DataFrame, say: Say) -> str:
    if ran.empty:
        return message("Nothing is replayed for these GPUs.")
    ratio = (ran["t"] - ran["launch_t"]) / ran["roofline_t"]
    told = say(
        "Without what a launch costs, which the roofline leaves out, replays take {low:.3g} to "
        "{high:.3g} times as long as it says."
    )
    return told.format(low=ratio.min(), high=ratio.max())
