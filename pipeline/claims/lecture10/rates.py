"""What is predicted: which resource sets the pace, how fast that is, and how that compares."""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.claims.claim import (
    Claim,
    Finding,
    at_least,
    at_most,
    between,
    claim,
    exactly,
    near,
)
from pipeline.claims.pick import largest, pick, present, smallest, some
from pipeline.timing.compare import MODEL
from pipeline.timing.resources import RESOURCES
from pipeline.units import to_giga
from pipeline.words import message

LECTURE = 10
GPU = "rtx_a6000"
"""The GPU of the published ladder."""
TIMES = {resource.id: f"t_{resource.id}" for resource in RESOURCES}
SCALED, EXACT = "per_fma", "polynomial"
"""How counts were carried to the size: as the lecture does it, and exactly."""

PACE = {
    "l1": (
        message(
            "On the {gpu_name}, lines of L1 set the pace of {kernel}: {rate:,.0f} GFLOP/s, "
            "{lead:.2f} times the time of any other resource."
        )
    ),
    "smem": (
        message(
            "On the {gpu_name}, shared memory sets the pace of {kernel}: {rate:,.0f} GFLOP/s, "
            "{lead:.2f} times the time of any other resource."
        )
    ),
    "issue": (
        message(
            "On the {gpu_name}, issuing instructions sets the pace of {kernel}: {rate:,.0f} "
            "GFLOP/s, {lead:.2f} times the time of any other resource."
        )
    ),
    "fma": (
        message(
            "On the {gpu_name}, the multiply-adds themselves set the pace of {kernel}: {rate:,.0f} "
            "GFLOP/s, {lead:.2f} times the time of any other resource."
        )
    ),
    "tensor": (
        message(
            "On the {gpu_name}, the tensor cores themselves set the pace of {kernel}: {rate:,.0f} "
            "GFLOP/s, {lead:.2f} times the time of any other resource."
        )
    ),
}


def _one(predictions: xr.Dataset, kernel: str, gpu: str, n: int, method: str = EXACT) -> xr.Dataset:
    return pick(predictions, kernel=kernel, gpu=gpu, n=n).sel({"method": method})


def _gflops(predictions: xr.Dataset, kernel: str, gpu: str, n: int) -> float:
    return float(_one(predictions, kernel, gpu, n)["gflops"])


def _published(measured: xr.Dataset, kernel: str, gpu: str, n: int) -> float:
    """Rate (GFLOP/s) that was published for a kernel."""
    rows = (measured["kernel"] == kernel) & (measured["gpu"] == gpu) & (measured["n"] == n)
    return float(some(measured["measured_gflops"].where(rows))[0])


def _pace(kernel: str, resource: str, rate: float, gpu: str, method: str) -> Claim:
    """Claim which resource binds a kernel, and the rate of the lecture's text (GFLOP/s)."""

    def check(predictions: xr.Dataset, large_n: int) -> Finding:
        one = _one(predictions, kernel, gpu, large_n, method)
        others = [float(one[time]) for name, time in TIMES.items() if name != resource]
        return Finding(
            {
                "rate": near(float(one["gflops"]), rate),
                "lead": at_least(float(one[TIMES[resource]]) / max(others), 1),
            },
            {
                "gpu_name": one["gpu_name"].item(),
                "kernel": f"{kernel[:3]} {one['kernel_label'].item()}",
            },
        )

    return Claim(f"pace_of_{kernel[:3]}_on_{gpu}", LECTURE, ("bottlenecks",), PACE[resource], check)


# Rates as the lecture's text has them.
PACES = tuple(
    _pace(kernel, resource, rate, gpu, method)
    for kernel, resource, rate, gpu, method in (
        ("k01_naive", "l1", 291, GPU, SCALED),
        ("k02_coalesced", "l1", 4820, GPU, SCALED),
        ("k03_smem", "smem", 4692, GPU, SCALED),
        ("k04_blocktile_1d", "smem", 8369, GPU, SCALED),
        ("k05_blocktile_2d", "smem", 12639, GPU, SCALED),
        ("k06_vectorized", "smem", 24287, GPU, SCALED),
        ("k10_warptiled", "issue", 36462, GPU, EXACT),
        ("k13_tensor_core", "tensor", 154800, GPU, EXACT),
        ("k06_vectorized", "fma", 19492, "a100_sxm_40gb", SCALED),
        ("k06_vectorized", "smem", 41982, "h100_sxm", SCALED),
    )
)


@claim(
    LECTURE,
    ("bottlenecks",),
    message(
        "Coalescing is the cheapest step of all: one line of code, and the model is "
        "{predicted:.1f} times faster. On the card it brought {measured:.1f} times: waiting, which "
        "the model leaves out, has become the larger part."
    ),
)
def coalescing_pays_most(predictions: xr.Dataset, measured: xr.Dataset, large_n: int) -> Finding:
    """Compare the first two kernels, predicted and published."""
    pair = ("k02_coalesced", "k01_naive")
    predicted = [_gflops(predictions, kernel, GPU, large_n) for kernel in pair]
    published = [_published(measured, kernel, GPU, large_n) for kernel in pair]
    return Finding(
        {
            "predicted": between(predicted[0] / predicted[1], 16, 17),
            "measured": between(published[0] / published[1], 6, 7),
        }
    )


@claim(
    LECTURE,
    ("bottlenecks", "smem_reads"),
    message(
        "Tiles in shared memory take the load off L1 and put it on shared memory: in the model the "
        "rate becomes {gain:.2f} times that without them."
    ),
)
def tiles_alone_gain_nothing(predictions: xr.Dataset, gpu: str, large_n: int) -> Finding:
    """Compare the kernel with tiles with the coalesced one."""
    before, after = (
        _gflops(predictions, kernel, gpu, large_n) for kernel in ("k02_coalesced", "k03_smem")
    )
    return Finding({"gain": between(after / before, 0.9, 1.05)})


@claim(
    LECTURE,
    ("bottlenecks", "smem_reads"),
    message(
        "Reuse in registers is what lifts the bottleneck of shared memory: a column per thread "
        "gives {column:.2f} times the rate, a square again {square:.2f} times."
    ),
)
def registers_relieve_shared_memory(predictions: xr.Dataset, gpu: str, large_n: int) -> Finding:
    """Compare tiles, columns per thread and squares per thread."""
    tiles, column, square = (
        _gflops(predictions, kernel, gpu, large_n)
        for kernel in ("k03_smem", "k04_blocktile_1d", "k05_blocktile_2d")
    )
    return Finding(
        {
            "column": between(column / tiles, 1.7, 1.9),
            "square": between(square / column, 1.4, 1.6),
        }
    )


@claim(
    LECTURE,
    ("across_gpus", "bottlenecks"),
    message(
        "What is bound by L1 or shared memory grows with SMs times clock and knows nothing of "
        "DRAM: between the GPUs shown, the rates of {kernels} kernels per SM and cycle differ by "
        "{spread:.1%} at most."
    ),
)
def rates_follow_sms_and_clock(
    predictions: xr.Dataset, gpus: xr.Dataset, shown_gpus: list[str], large_n: int
) -> Finding:
    """Compare rates per SM and cycle of kernels that are bound inside the SM everywhere."""
    shown = pick(predictions, gpu=shown_gpus, n=large_n).sel({"method": EXACT})
    figures = pick(gpus, gpu=shown_gpus)
    inside = shown["bound"].isin(["l1", "smem"]).all("gpu")
    rates = shown["gflops"] / (figures["sm_count"] * figures["clock_hz"])
    spread = (rates.max("gpu") / rates.min("gpu") - 1).where(inside)
    return Finding({"spread": at_most(largest(spread), 0.02)}, {"kernels": int(inside.sum())})


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
    ("roofline", "bottlenecks"),
    message(
        "DRAM holds nobody back: on the GPUs shown it takes {share:.0%} of the time of a kernel at "
        "most. A roofline of DRAM alone sees none of the bottlenecks."
    ),
)
def dram_binds_nothing(predictions: xr.Dataset, shown_gpus: list[str], large_n: int) -> Finding:
    """Compare the time of DRAM with the time of every kernel."""
    shown = pick(predictions, gpu=shown_gpus, n=large_n).sel({"method": EXACT})
    return Finding({"share": at_most(largest(shown["t_dram"] / shown["t"]), 0.95)})


@claim(
    LECTURE,
    ("roofline",),
    message(
        "A roofline of DRAM would let the naive kernel reach {roof:,.0f} GFLOP/s on the "
        "{gpu_name}, {gap:.0f} times what it does reach: what holds it back is inside the SM."
    ),
)
def naive_is_far_below_its_roof(
    predictions: xr.Dataset, gpus: xr.Dataset, gpu: str, large_n: int
) -> Finding:
    """Compare the rate of the naive kernel with the roofline over its DRAM traffic."""
    one = _one(predictions, "k01_naive", gpu, large_n)
    figures = pick(gpus, gpu=gpu)
    slope = float(one["arithmetic_intensity"] * figures["dram_bandwidth"])
    roof = to_giga(min(slope, float(figures["peak_fp32_flops"])))
    return Finding(
        {"gap": at_least(roof / float(one["gflops"]), 10)},
        {"roof": roof, "gpu_name": figures["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("bottlenecks", "mma_fragments"),
    message(
        "Tensor cores change the scale: {gain:.1f} times the rate of the best kernel without them "
        "on the {gpu_name}."
    ),
)
def tensor_cores_change_the_scale(predictions: xr.Dataset, gpu: str, large_n: int) -> Finding:
    """Compare the tensor-core kernel with the fastest other one."""
    rate = _gflops(predictions, "k13_tensor_core", gpu, large_n)
    others = pick(predictions, gpu=gpu, n=large_n).sel({"method": EXACT})
    slower = others.drop_sel(kernel="k13_tensor_core")["gflops"]
    return Finding(
        {"gain": at_least(rate / largest(slower), 3)},
        {"gpu_name": others["gpu_name"].item()},
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
    ("occupancy", "bottlenecks"),
    message(
        "Occupancy is not speed: from k03 to k10 it falls from {before:.0%} to {after:.0%} on the "
        "{gpu_name}, while the predicted rate grows {gain:.1f}-fold."
    ),
)
def occupancy_is_not_speed(
    occupancy: xr.Dataset, predictions: xr.Dataset, gpu: str, large_n: int
) -> Finding:
    """Compare occupancy and rate of the kernels with tiles in shared memory and in warps."""
    kernels = ("k03_smem", "k10_warptiled")
    resident = pick(occupancy, kernel=list(kernels), gpu=gpu)["occupancy"]
    first, last = (_gflops(predictions, kernel, gpu, large_n) for kernel in kernels)
    before, after = resident.to_numpy()
    return Finding(
        {"after": at_most(after, before / 2), "gain": at_least(last / first, 4)},
        {"before": before, "gpu_name": resident["gpu_name"].item()},
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


def _ratios(validation: xr.Dataset, kernel: str) -> NDArray[np.float64]:
    """Predicted over published rate of one kernel, on every GPU."""
    ratios = validation["ratio"].sel({"model": MODEL})
    return some(ratios.where(validation["kernel"] == kernel))


@claim(
    LECTURE,
    ("validation", "bottlenecks"),
    message(
        "Where one resource is hopelessly overloaded the model is right: the naive kernel is "
        "predicted at {least:.2f} to {most:.2f} times its published rates on {cards} GPUs."
    ),
)
def naive_is_predicted_right(validation: xr.Dataset) -> Finding:
    """Compare predicted and published rates of the naive kernel."""
    ratios = _ratios(validation, "k01_naive")
    return Finding(
        {"least": at_least(smallest(ratios), 0.9), "most": at_most(largest(ratios), 1.1)},
        {"cards": ratios.size},
    )


@claim(
    LECTURE,
    ("validation", "bottlenecks"),
    message(
        "On the RTX A6000 the coalesced kernel is overestimated most, {ratio:.2f} times, "
        "{lead:.2f} times as far as any other: its warps wait, and the model lets nothing wait."
    ),
)
def coalesced_is_overestimated_most(validation: xr.Dataset) -> Finding:
    """Compare the ratio of the coalesced kernel with that of all others."""
    ratios = validation["ratio"].sel({"model": MODEL}).where(validation["gpu"] == GPU)
    is_it = validation["kernel"] == "k02_coalesced"
    ratio = largest(ratios.where(is_it))
    return Finding(
        {
            "ratio": between(ratio, 2.3, 2.6),
            "lead": at_least(ratio / largest(ratios.where(~is_it)), 1),
        }
    )


@claim(
    LECTURE,
    ("validation",),
    message(
        "The model is better at order than at distance: over the GPUs the rank correlation with "
        "published rates is at least {order:.2f}, while the mean error goes up to {error:.0%}."
    ),
)
def model_orders_kernels(validation: xr.Dataset) -> Finding:
    """Compare rank correlation and mean error over the GPUs."""
    model = validation.sel({"model": MODEL})
    return Finding(
        {
            "order": at_least(smallest(model["rank_correlation"]), 0.8),
            "error": between(largest(model["mape"]), 0.2, 0.6),
        }
    )


@claim(
    LECTURE,
    ("validation", "bottlenecks"),
    message(
        "By hand one comes close to the library: on the RTX A6000 the published warp tiling "
        "reaches {best:.0%} of cuBLAS, where the naive kernel reached {naive:.1%}."
    ),
)
def ladder_comes_close_to_cublas(measured: xr.Dataset, large_n: int) -> Finding:
    """Compare published rates with that of the library."""
    naive, best, library = (
        _published(measured, kernel, GPU, large_n)
        for kernel in ("k01_naive", "k10_warptiled", "cublas")
    )
    return Finding(
        {"best": between(best / library, 0.9, 1), "naive": between(naive / library, 0.01, 0.02)}
    )


@claim(
    LECTURE,
    ("across_gpus",),
    message(
        "Every step that the lecture counts, but the one to tiles in shared memory, makes the "
        "ladder faster on every GPU: at least {least:.2f} times, over {gpus} GPUs."
    ),
)
def each_step_is_faster_everywhere(predictions: xr.Dataset, large_n: int) -> Finding:
    """Find the least gain of a step over all GPUs."""
    steps = ("k01_naive", "k02_coalesced", "k04_blocktile_1d", "k05_blocktile_2d", "k06_vectorized")
    shown = present(pick(predictions, n=large_n).sel({"method": EXACT}), "kernel", steps)
    rates = shown["gflops"].transpose("kernel", "gpu")
    gains = rates.copy(data=rates.to_numpy()).shift(kernel=-1) / rates
    return Finding({"least": at_least(smallest(gains), 1.2)}, {"gpus": rates.sizes["gpu"]})


CLAIMS = (
    a100_has_half_the_lanes,
    a6000_needs_fifty_flop_per_byte,
    tiles_fill_two_thirds_of_an_sm,
    squares_are_paid_in_registers,
    occupancy_is_not_speed,
    *PACES,
    coalescing_pays_most,
    tiles_alone_gain_nothing,
    registers_relieve_shared_memory,
    tensor_cores_change_the_scale,
    each_step_is_faster_everywhere,
    rates_follow_sms_and_clock,
    dram_binds_nothing,
    naive_is_far_below_its_roof,
    naive_is_predicted_right,
    coalesced_is_overestimated_most,
    model_orders_kernels,
    ladder_comes_close_to_cublas,
)
