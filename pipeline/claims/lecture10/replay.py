"""Machine code replayed cycle by cycle: how near it comes to published rates, and what warps do."""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.claims.claim import Claim, Finding, at_least, at_most, between, claim
from pipeline.claims.lecture10.ladder import GPU, LECTURE
from pipeline.claims.lecture10.validation import ROOFLINE
from pipeline.claims.pick import largest, pick, some
from pipeline.words import message

REPLAY = "sm_replay"
"""The model that follows instructions, among those that are validated."""
FAR = 0.1
"""Published rates that differ by less are close: errors of 5 % each way can exchange them."""
GLOBAL_MEMORY = ("long_scoreboard", "lg_throttle")
"""Reasons to wait for global memory: for its answer, and for room in its queue."""


def _errors(validation: xr.Dataset, model: str) -> NDArray[np.float64]:
    """Mean errors of a model, one per GPU."""
    return some(pick(validation, model=model)["mape"])


@claim(
    LECTURE,
    ("validation", "sm_replay"),
    message(
        "What the roofline cannot know, instructions can tell: followed cycle by cycle, machine "
        "code is off from published rates by {replay:.0%} on average on the worst of {gpus} GPUs, "
        "the roofline by {roofline:.0%}."
    ),
)
def replay_explains_the_rates(validation: xr.Dataset) -> Finding:
    """Compare the mean errors of both models on the GPU where they are largest."""
    replay, roofline = (_errors(validation, model) for model in (REPLAY, ROOFLINE))
    return Finding(
        {
            "replay": at_most(largest(replay), 0.1),
            "roofline": at_least(largest(roofline), 3 * largest(replay)),
        },
        {"gpus": replay.size},
    )


@claim(
    LECTURE,
    ("validation", "sm_replay"),
    message(
        "The replay knows why the coalesced kernel is slow on the RTX A6000, where the roofline "
        "expects {roofline:.2f} times its rate: its warps wait, and with that it is predicted at "
        "{replay:.2f} times."
    ),
)
def replay_knows_that_warps_wait(validation: xr.Dataset) -> Finding:
    """Compare what both models predict of the coalesced kernel."""
    rows = (validation["kernel"] == "k02_coalesced") & (validation["gpu"] == GPU)
    replay, roofline = (
        float(some(pick(validation, model=model)["ratio"].where(rows))[0])
        for model in (REPLAY, ROOFLINE)
    )
    return Finding({"replay": between(replay, 0.85, 1.15), "roofline": at_least(roofline, 2)})


def _ordered(validation: xr.Dataset) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Take pairs of kernels of one GPU and size that both models predict.

    Returns
    -------
    Which pairs are ``FAR`` apart by their published rates, (pair,), and which come out in the
    order of those, (model, pair): replay and roofline.
    """
    rates = pick(validation, model=[REPLAY, ROOFLINE])
    known = rates["predicted_gflops"].notnull().all("model").to_numpy()
    rates = rates.isel(measurement=known)
    one, other = np.triu_indices(rates.sizes["measurement"], 1)
    place = list(zip(rates["gpu"].to_numpy(), rates["n"].to_numpy(), strict=True))
    alike = np.array([place[i] == place[j] for i, j in zip(one, other, strict=True)], dtype=bool)
    one, other = one[alike], other[alike]
    published = rates["measured_gflops"].to_numpy()
    predicted = rates["predicted_gflops"].transpose("model", "measurement").to_numpy()
    apart = published[one] - published[other]
    far = np.abs(apart) >= FAR * np.minimum(published[one], published[other])
    return far, apart * (predicted[:, one] - predicted[:, other]) > 0


@claim(
    LECTURE,
    ("validation", "sm_replay"),
    message(
        "It also gets the order right where there is one: kernels whose published rates differ by "
        "{far:.0%} or more come out in their order in {replay:.0%} of {pairs} pairs, by the "
        "roofline in {roofline:.0%}; closer ones in {close:.0%}."
    ),
)
def replay_orders_kernels(validation: xr.Dataset) -> Finding:
    """Compare the shares of pairs in the right order."""
    far, (replay, roofline) = _ordered(validation)
    pairs = int(np.count_nonzero(far))
    share, by_roofline = (
        float(np.count_nonzero(far & right)) / pairs for right in (replay, roofline)
    )
    close = float(np.count_nonzero(~far & replay)) / int(np.count_nonzero(~far))
    return Finding(
        {"replay": at_least(share, max(0.95, by_roofline)), "close": at_most(close, share)},
        {"far": FAR, "pairs": pairs, "roofline": by_roofline},
    )


def _waiting(sm_predictions: xr.Dataset, kernel: str, gpu: str, n: int, *reasons: str) -> float:
    """Share of the cycles of resident warps that goes to some reasons."""
    one = pick(sm_predictions, kernel=kernel, gpu=gpu, n=n, stall_reason=list(reasons))
    return float(one["stall_cycles"].sum("stall_reason") / one["warp_cycles"])


@claim(
    LECTURE,
    ("stalls", "sm_replay"),
    message(
        "Along the ladder warps stop waiting for global memory: in the naive kernel that takes "
        "{before:.0%} of their cycles, in the one with a tile for each warp {after:.0%}."
    ),
)
def waiting_for_global_memory_goes(sm_predictions: xr.Dataset, gpu: str, large_n: int) -> Finding:
    """Compare waits for global memory at both ends of the ladder."""
    before, after = (
        _waiting(sm_predictions, kernel, gpu, large_n, *GLOBAL_MEMORY)
        for kernel in ("k01_naive", "k10_warptiled")
    )
    return Finding({"before": at_least(before, 0.5), "after": at_most(after, 0.15)})


@claim(
    LECTURE,
    ("stalls",),
    message(
        "What is left in the end is work: warps of k10 issue in {after:.0%} of their cycles, those "
        "of the naive kernel in {before:.1%}."
    ),
)
def warps_come_to_issue(sm_predictions: xr.Dataset, gpu: str, large_n: int) -> Finding:
    """Compare the share of cycles in which warps issue at both ends of the ladder."""
    before, after = (
        _waiting(sm_predictions, kernel, gpu, large_n, "selected")
        for kernel in ("k01_naive", "k10_warptiled")
    )
    return Finding({"before": at_most(before, 0.05), "after": at_least(after, 0.15)})


CLAIMS: tuple[Claim, ...] = (
    replay_explains_the_rates,
    replay_knows_that_warps_wait,
    replay_orders_kernels,
    waiting_for_global_memory_goes,
    warps_come_to_issue,
)
