"""What the order of the blocks does to DRAM traffic."""

import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, at_most, claim
from pipeline.claims.lecture10.ladder import (
    LECTURE,
)
from pipeline.claims.pick import largest, pick, smallest, two_ends
from pipeline.vocab.tile_order import ORDER
from pipeline.words import message


def _saved(tile_order: xr.Dataset, n: int) -> xr.DataArray:
    """Share of the DRAM traffic of row-major order that the best band saves, by GPU."""
    traffic = pick(tile_order, n=n)["dram_bytes"]
    return 1 - traffic.sel(group=slice(1, None)).min("group") / traffic.sel(group=0)


@claim(
    LECTURE,
    ("tile_order",),
    message(
        "Blocks that run together share what they read, so their order counts: bands of tile rows "
        "save {least:.0%} to {most:.0%} of the DRAM traffic of row-major order at n = {n:,}."
    ),
)
def bands_save_traffic(tile_order: xr.Dataset, shown_gpus: list[str]) -> Finding:
    """Compare the best bands with row-major order at the largest size."""
    n = int(tile_order["n"].max())
    saved = _saved(pick(tile_order, gpu=shown_gpus), n)
    return Finding(
        {"least": at_least(smallest(saved), 0.05), "most": at_most(largest(saved), 0.95)}, {"n": n}
    )


@claim(
    LECTURE,
    ("tile_order",),
    message(
        "The larger the matrix, the more there is to save: on the {gpu_name} {small:.0%} at n = "
        "{smallest:,} and {large:.0%} at n = {largest:,}, because a wave in row-major order "
        "becomes one thin strip."
    ),
)
def bands_save_more_of_larger_matrices(tile_order: xr.Dataset, gpu: str) -> Finding:
    """Compare what bands save at the smallest and the largest size."""
    one = pick(tile_order, gpu=gpu)
    sizes = two_ends(one["n"], one["n"])
    small, large = (float(_saved(one, n)) for n in sizes)
    return Finding(
        {"small": at_most(small, 0.4), "large": at_least(large, small)},
        {"smallest": int(sizes[0]), "largest": int(sizes[1]), "gpu_name": one["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("tile_order",),
    message(
        "What bands save, they save by being square: at n = {n:,} on the {gpu_name} a wave touches "
        "{share:.0%} of the rows and columns of tiles that it touches in row-major order."
    ),
)
def bands_touch_fewer_tiles(tile_order: xr.Dataset, gpu: str) -> Finding:
    """Compare rows and columns of tiles per wave."""
    n = int(tile_order["n"].max())
    one = pick(tile_order, gpu=gpu, n=n)
    touched = one["rows_per_wave"] + one["cols_per_wave"]
    best = touched.sel(group=one["dram_bytes"].sel(group=slice(1, None)).idxmin("group"))
    share = float(best / touched.sel(group=0))
    return Finding({"share": at_most(share, 0.9)}, {"n": n, "gpu_name": one["gpu_name"].item()})


@claim(
    LECTURE,
    ("tile_order",),
    message(
        "Hilbert's curve needs no height to be chosen and comes close: over all GPUs and sizes it "
        "takes {least:.2f} to {most:.2f} times the traffic of the best band."
    ),
)
def hilbert_needs_no_choice(tile_order: xr.Dataset) -> Finding:
    """Compare Hilbert's curve with the best band."""
    curve = tile_order[f"{ORDER}dram_bytes"].sel(order="hilbert")
    ratio = curve / tile_order["dram_bytes"].sel(group=slice(1, None)).min("group")
    return Finding({"least": at_least(smallest(ratio), 0.9), "most": at_most(largest(ratio), 1.25)})


CLAIMS: tuple[Claim, ...] = (
    bands_save_traffic,
    bands_save_more_of_larger_matrices,
    bands_touch_fewer_tiles,
    hilbert_needs_no_choice,
)
