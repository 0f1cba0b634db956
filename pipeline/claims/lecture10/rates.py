"""What is predicted: which resource sets the pace, and how fast that is."""

import xarray as xr

from pipeline.claims.claim import (
    Claim,
    Finding,
    at_least,
    at_most,
    between,
    claim,
    near,
)
from pipeline.claims.lecture10.ladder import (
    EXACT,
    GPU,
    LECTURE,
    SCALED,
    gflops,
    prediction,
    published_gflops,
)
from pipeline.claims.pick import largest, pick, present, smallest
from pipeline.timing.resources import RESOURCES
from pipeline.units import to_giga
from pipeline.words import message

TIMES = {resource.id: f"t_{resource.id}" for resource in RESOURCES}


PACE = {
    "l1": message(
        "On the {gpu_name}, lines of L1 set the pace of {kernel}: {rate:,.0f} GFLOP/s, at least "
        "{lead:.2f} times the time of any other resource."
    ),
    "smem": message(
        "On the {gpu_name}, shared memory sets the pace of {kernel}: {rate:,.0f} GFLOP/s, at least "
        "{lead:.2f} times the time of any other resource."
    ),
    "issue": message(
        "On the {gpu_name}, issuing instructions sets the pace of {kernel}: {rate:,.0f} GFLOP/s, "
        "at least {lead:.2f} times the time of any other resource."
    ),
    "fma": message(
        "On the {gpu_name}, the multiply-adds themselves set the pace of {kernel}: {rate:,.0f} "
        "GFLOP/s, at least {lead:.2f} times the time of any other resource."
    ),
    "tensor": message(
        "On the {gpu_name}, the tensor cores themselves set the pace of {kernel}: {rate:,.0f} "
        "GFLOP/s, at least {lead:.2f} times the time of any other resource."
    ),
}


def _pace(kernel: str, resource: str, rate: float, gpu: str, method: str) -> Claim:
    """Claim which resource binds a kernel, and the rate of the lecture's text (GFLOP/s)."""

    def check(predictions: xr.Dataset, large_n: int) -> Finding:
        one = prediction(predictions, kernel, gpu, large_n, method)
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
    predicted = [gflops(predictions, kernel, GPU, large_n) for kernel in pair]
    published = [published_gflops(measured, kernel, GPU, large_n) for kernel in pair]
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
        gflops(predictions, kernel, gpu, large_n) for kernel in ("k02_coalesced", "k03_smem")
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
        gflops(predictions, kernel, gpu, large_n)
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
    one = prediction(predictions, "k01_naive", gpu, large_n)
    figures = pick(gpus, gpu=gpu)
    slope = float(one["arithmetic_intensity"] * figures["dram_bandwidth"])
    roof = to_giga(min(slope, float(figures["peak_fp32_flops"])))
    return Finding(
        {"gap": between(roof / float(one["gflops"]), 20, 150)},
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
    rate = gflops(predictions, "k13_tensor_core", gpu, large_n)
    others = pick(predictions, gpu=gpu, n=large_n).sel({"method": EXACT})
    slower = others.drop_sel(kernel="k13_tensor_core")["gflops"]
    return Finding(
        {"gain": at_least(rate / largest(slower), 3)},
        {"gpu_name": others["gpu_name"].item()},
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
    first, last = (gflops(predictions, kernel, gpu, large_n) for kernel in kernels)
    before, after = resident.to_numpy()
    return Finding(
        {"after": at_most(after, before / 2), "gain": at_least(last / first, 4)},
        {"before": before, "gpu_name": resident["gpu_name"].item()},
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


CLAIMS: tuple[Claim, ...] = (
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
)
