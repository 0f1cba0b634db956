"""Swept tiles."""

import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, at_most, between, claim
from pipeline.claims.lecture10.ladder import (
    LECTURE,
)
from pipeline.claims.pick import largest, pick, smallest, some
from pipeline.words import message


@claim(
    LECTURE,
    ("tile_sweep",),
    message(
        "Nobody who tuned by hand missed the model's optimum by much: the published warp tiles "
        "reach {least:.1%} of the best rate of {tiles:,} that run, on the {cards} GPUs that have "
        "any."
    ),
)
def published_warp_tiles_are_nearly_best(best_warp_tiles: xr.Dataset, large_n: int) -> Finding:
    """Compare the published tiles of warps with the best ones."""
    share = some(pick(best_warp_tiles, n=large_n)["published_share"])
    return Finding(
        {"least": at_least(smallest(share), 0.98)},
        {"cards": share.size, "tiles": int(best_warp_tiles["valid_tiles"].max())},
    )


@claim(
    LECTURE,
    ("tile_sweep",),
    message(
        "Without a level of warps more can be had: on the {gpu_name} the best block tile is "
        "{gain:.2f} times as fast, in the model, as the published one."
    ),
)
def block_tiles_leave_something(best_tiles: xr.Dataset, gpu: str, large_n: int) -> Finding:
    """Compare the published tiles of blocks with the best ones."""
    one = pick(best_tiles, gpu=gpu, n=large_n)
    gain = float(some(1 / one["published_share"])[0])
    return Finding({"gain": between(gain, 1, 1.6)}, {"gpu_name": one["gpu_name"].item()})


@claim(
    LECTURE,
    ("tile_sweep",),
    message(
        "Bigger tiles reuse more, until registers run out: the best tile of warps comes at most "
        "{gap:.1%} above the best tile of blocks, on any of {gpus} GPUs."
    ),
)
def warps_and_blocks_meet(
    best_tiles: xr.Dataset, best_warp_tiles: xr.Dataset, large_n: int
) -> Finding:
    """Compare the best rates with and without a level of warps."""
    blocks, warps = (pick(best, n=large_n)["best_gflops"] for best in (best_tiles, best_warp_tiles))
    gap = warps / blocks - 1
    return Finding(
        {"gap": at_most(largest(gap), 0.02), "loss": at_least(smallest(gap), 0)},
        {"gpus": gap.sizes["gpu"]},
    )


CLAIMS: tuple[Claim, ...] = (
    published_warp_tiles_are_nearly_best,
    block_tiles_leave_something,
    warps_and_blocks_meet,
)
