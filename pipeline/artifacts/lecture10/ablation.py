"""Which mechanism of the replay matters for which kernel."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import mean_absolute_error, tag
from pipeline.render.column import Column
from pipeline.words import Say, listed, message

ARTIFACT = Artifact(
    id="ablation",
    lecture=10,
    title="What of the machine matters, and for which kernel",
    caption=(
        "Every mechanism of the replay left out in turn. On the {gpu_name} rates change as shown; "
        "a mechanism that holds a kernel back makes it faster when it is missing. {errors_words} "
        "{rank_words}"
    ),
    needs={"ablation": "sm_ablation", "gpus": "gpus"},
    parameters=("gpu",),
)
TAGS = tuple(f"k{number:02d}" for number in range(1, 13))

WORDS = {
    "none": message("nothing left out"),
    "wavefronts": message("wavefronts in the data stage"),
    "lsu_acceptance": message("pace at which the load/store unit accepts"),
    "scoreboards": message("scoreboards"),
    "stall_counts": message("stall counts of the compiler"),
    "yield_hint": message("yield hints of the compiler"),
    "greedy": message("greedy scheduling"),
    "youngest": message("the youngest warp first"),
    "register_banks": message("banks of registers"),
    "reuse_cache": message("reuse cache of operands"),
    "queue_limit": message("short queues of accesses"),
    "loads_pending": message("loads under way"),
    "pipes": message("pace of the pipes"),
    "tags": message("tags of L1"),
    "l1": message("L1"),
    "beyond_l1": message("latency beyond L1"),
    "l2_bandwidth": message("L2 bandwidth"),
    "dram_bandwidth": message("DRAM bandwidth"),
    "barriers": message("cost of barriers"),
    "async_copies": message("asynchronous copies"),
    "local_memory": message("local memory"),
    "instruction_cache": message("instruction cache"),
    "launch": message("cost of launch and blocks"),
    "wave_quantisation": message("whole waves"),
    "power_clock": message("clock under power"),
}
COLUMNS = (
    Column("words", "left out"),
    Column("mean_error", "mean error", "", ".1%"),
    Column("study_error", "in the study", "", ".1%"),
    *(Column(one, one, "", "+.0%") for one in TAGS),
)
NOTHING = "none"


def table(ablation: xr.Dataset, gpus: xr.Dataset, gpu: str, say: Say) -> pd.DataFrame:
    """Tabulate mechanisms, the most important first, with nothing left out above them.

    Parameters
    ----------
    ablation : (mechanism, measurement)
        The store ``sm_ablation``.
    gpus : (gpu,)
        The store of that name.
    gpu
        GPU whose kernels are shown; mean errors are over all published rates that are replayed.
    """
    measured = ablation["measured_gflops"]
    ratios = (ablation["predicted_gflops"] / measured).to_pandas()
    known = ablation["gpu"].isin(gpus["gpu"].to_numpy()).to_numpy()
    frame = pd.DataFrame({"mechanism": ratios.index})
    frame["words"] = [say(WORDS.get(one, one)) for one in ratios.index]
    frame["mean_error"] = [mean_absolute_error(row[known]) for _, row in ratios.iterrows()]
    frame["study_error"] = ablation["study_error"].to_numpy()
    every = ablation["predicted_gflops"]
    change = (every / every.sel(mechanism=NOTHING) - 1).to_pandas()
    kernels = {
        tag(kernel): place
        for place, (kernel, where) in enumerate(
            zip(ablation["kernel"].to_numpy(), ablation["gpu"].to_numpy(), strict=True)
        )
        if where == gpu
    }
    for one in TAGS:
        values = change[change.columns[kernels[one]]].to_numpy() if one in kernels else np.nan
        frame[one] = pd.Series(values, frame.index, dtype=float)
    order = frame.assign(first=frame["mechanism"] != NOTHING, worst=-frame["mean_error"])
    order = order.sort_values(["first", "worst"], kind="stable")
    return frame.loc[order.index].reset_index(drop=True)


def facts(ablation: xr.Dataset, gpus: xr.Dataset, gpu: str, say: Say) -> dict[str, Any]:
    """Say what matters most, and whether the study found the same order."""
    frame = table(ablation, gpus, gpu, say)
    return {
        "gpu_name": str(gpus["gpu_name"].sel(gpu=gpu).item()),
        "errors_words": _errors_words(frame.dropna(subset="mean_error"), say),
        "rank_words": _rank_words(frame[frame["mechanism"] != NOTHING], say),
    }


def _errors_words(frame: pd.DataFrame, say: Say) -> str:
    if len(frame) < 2:
        return say("No published rate is replayed.")
    top = frame.iloc[1:4]
    hardly = frame.iloc[1:]["mean_error"] < frame["mean_error"].iloc[0] + HARDLY
    return say(
        "The mean error over all published rates is {all_on:.1%} with everything; without {what} "
        "it is {errors}. {hardly} of the {count} mechanisms change it by less than {limit:.1%}."
    ).format(
        all_on=frame["mean_error"].iloc[0],
        what=listed(top["words"].to_list(), say),
        errors=listed([f"{error:.0%}" for error in top["mean_error"]], say),
        hardly=int(hardly.sum()),
        count=len(hardly),
        limit=HARDLY,
    )


HARDLY = 0.005
"""A change of the mean error that is said to be hardly one."""


def _rank_words(frame: pd.DataFrame, say: Say) -> str:
    both = frame.dropna(subset=["mean_error", "study_error"])
    if len(both) < 3:
        return say("Too few of them are in the study to compare the order.")
    ranks = both[["mean_error", "study_error"]].rank()
    return say(
        "The order of the {count} that mattered in the study is the same to a rank correlation of "
        "{rank:.2f}."
    ).format(count=len(both), rank=ranks["mean_error"].corr(ranks["study_error"]))
