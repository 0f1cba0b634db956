"""What GPUs offer, and how many blocks fit on them."""

import xarray as xr

from pipeline.claims.claim import (
    Claim,
    Finding,
    at_least,
    between,
    claim,
    exactly,
    near,
)
from pipeline.claims.lecture10.ladder import (
    GPU,
    LECTURE,
)
from pipeline.claims.pick import pick
from pipeline.words import message


@claim(
    LECTURE,
    ("gpus", "across_gpus"),
    message(
        "The A100 has {lanes:.1f} times the FP32 lanes per SM of the RTX A6000 and {peak:.2f} "
        "times its FP32 peak: there multiply-adds run out before shared memory does."
    ),
)
def a100_has_half_the_lanes(gpus: xr.Dataset) -> Finding:
    """Compare lanes and peaks of two GPUs."""
    a100, a6000 = (pick(gpus, gpu=gpu) for gpu in ("a100_sxm_40gb", GPU))
    lanes, peak = (
        float(a100[name] / a6000[name]) for name in ("fp32_lanes_per_sm", "peak_fp32_flops")
    )
    return Finding({"lanes": exactly(lanes, 0.5), "peak": between(peak, 0.49, 0.52)})


@claim(
    LECTURE,
    ("gpus", "roofline"),
    message(
        "To keep the FP32 units of the RTX A6000 busy, a kernel must do {balance:.0f} FLOP for "
        "every byte of DRAM traffic."
    ),
)
def a6000_needs_fifty_flop_per_byte(gpus: xr.Dataset) -> Finding:
    """Divide the peak by the bandwidth."""
    one = pick(gpus, gpu=GPU)
    return Finding(
        {"balance": near(float(one["peak_fp32_flops"] / one["dram_bandwidth"]), 50, 0.03)}
    )


@claim(
    LECTURE,
    ("occupancy",),
    message(
        "On the RTX A6000 one block of {threads} threads is resident, {warps:.0f} of {all:.0f} "
        "warps: a second one would need more threads than an SM has."
    ),
)
def tiles_fill_two_thirds_of_an_sm(occupancy: xr.Dataset, gpus: xr.Dataset) -> Finding:
    """Look at the kernel with tiles in shared memory, as it was profiled."""
    one = pick(occupancy, kernel="k03_smem", gpu=GPU)
    return Finding(
        {
            "warps": exactly(float(one["warps_per_sm"]), 32),
            "all": exactly(float(pick(gpus, gpu=GPU)["max_warps_per_sm"]), 48),
        },
        {"threads": int(one["threads_per_block"])},
    )


@claim(
    LECTURE,
    ("occupancy",),
    message(
        "A square of C per thread is paid for in registers: {registers:.0f} per thread leave room "
        "for {blocks:.0f} blocks on an SM of the {gpu_name}, and registers alone are what keeps "
        "another out."
    ),
)
def squares_are_paid_in_registers(occupancy: xr.Dataset, gpu: str) -> Finding:
    """Look at what limits the kernel with squares in registers."""
    one = pick(occupancy, kernel="k05_blocktile_2d", gpu=gpu)
    return Finding(
        {
            "registers": at_least(float(one["registers_per_thread"]), 96),
            "blocks": exactly(float(one["blocks_per_sm"]), 2),
            "by_registers": exactly(float(one["limited_by"].item() == "registers"), 1),
        },
        {"gpu_name": one["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("kernels",),
    message(
        "From k01 to k10 a thread goes from {first:.0f} element of C to {last:.0f}: reuse moves "
        "from the caches into registers, where it costs nothing to read."
    ),
)
def threads_take_on_more_elements(occupancy: xr.Dataset) -> Finding:
    """Divide the tiles of two kernels by their threads."""
    elements = [
        float(one["tile_m"] * one["tile_n"] / one["threads_per_block"])
        for one in (pick(occupancy, kernel=name) for name in ("k01_naive", "k10_warptiled"))
    ]
    return Finding({"first": exactly(elements[0], 1), "last": exactly(elements[1], 128)})


CLAIMS: tuple[Claim, ...] = (
    a100_has_half_the_lanes,
    a6000_needs_fifty_flop_per_byte,
    threads_take_on_more_elements,
    tiles_fill_two_thirds_of_an_sm,
    squares_are_paid_in_registers,
)
