"""How long a step takes in each way to run it."""

from itertools import pairwise

import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, between, claim, near
from pipeline.claims.lecture11.steps import (
    B200,
    GRAPHS,
    H100,
    KERNELS7,
    KERNELS12,
    LECTURE,
    NO_PREFETCH,
    PDL,
    PREFETCH,
    step,
)
from pipeline.units import to_milliseconds
from pipeline.words import message

ORDER = (KERNELS12, KERNELS7, GRAPHS, NO_PREFETCH, PREFETCH)
"""Ways to run a step, as the lecture goes through them."""


def _takes(name: str, gpu: str, execution: str, ms: float, share: float, statement: str) -> Claim:
    """Claim the time (ms) of a step, and the share of the DRAM bandwidth that it uses."""

    def check(timeline: xr.Dataset) -> Finding:
        one = step(timeline, gpu, execution)
        return Finding(
            {
                "ms": near(to_milliseconds(float(one["t"])), ms, 0.005),
                "share": between(float(one["bandwidth_utilisation"]), share - 0.01, share + 0.01),
            },
            {
                "gpu_name": one["gpu_name"].item(),
                "way": one["execution_label"].item(),
                "rate": float(one["per_second"]),
            },
        )

    return Claim(name, LECTURE, ("timeline",), statement, check)


plainest_way_wastes_half = _takes(
    "plainest_way_wastes_half",
    H100,
    KERNELS12,
    1.594,
    0.46,
    message(
        "The plainest way, {way}, takes {ms:.2f} ms on the {gpu_name}: {share:.0%} of the DRAM "
        "bandwidth, less than half of what is there."
    ),
)


fusing_small_kernels_helps = _takes(
    "fusing_small_kernels_helps",
    H100,
    KERNELS7,
    1.266,
    0.58,
    message(
        "Fusing the small kernels into their neighbours ({way}) brings a step down to {ms:.2f} ms, "
        "{share:.0%} of the bandwidth, {rate:,.0f} steps a second."
    ),
)


graphs_help_a_little = _takes(
    "graphs_help_a_little",
    H100,
    GRAPHS,
    1.175,
    0.63,
    message(
        "Launching them together ({way}) shortens the gaps and no more: {ms:.2f} ms, {share:.0%} "
        "of the bandwidth."
    ),
)


megakernel_without_prefetch = _takes(
    "megakernel_without_prefetch",
    H100,
    NO_PREFETCH,
    0.943,
    0.78,
    message(
        "One kernel for the whole step has no gaps, but without reading ahead ({way}) it waits "
        "before every instruction: {ms:.2f} ms, {share:.0%} of the bandwidth."
    ),
)


megakernel_reads_without_pause = _takes(
    "megakernel_reads_without_pause",
    H100,
    PREFETCH,
    0.8455,
    0.87,
    message(
        "Weights depend on nothing, so a megakernel reads them while it waits for its input: "
        "{ms:.3f} ms on the {gpu_name}, {share:.0%} of the bandwidth."
    ),
)


megakernel_on_b200 = _takes(
    "megakernel_on_b200",
    B200,
    PREFETCH,
    0.3733,
    0.83,
    message("On the {gpu_name} the megakernel takes {ms:.3f} ms, {share:.0%} of the bandwidth."),
)


kernels_on_b200 = _takes(
    "kernels_on_b200",
    B200,
    GRAPHS,
    0.687,
    0.45,
    message(
        "Faster memory makes the gaps weigh more: on the {gpu_name} the same kernels ({way}) use "
        "only {share:.0%} of the bandwidth, {ms:.3f} ms a step."
    ),
)


@claim(
    LECTURE,
    ("timeline",),
    message(
        "Each idea pays, in the order of the lecture: fewer kernels, a graph, one kernel, reading "
        "ahead. The least of them makes a step {least:.2f} times faster on the {gpu_name}, all "
        "together {whole:.2f} times."
    ),
)
def each_idea_pays(timeline: xr.Dataset) -> Finding:
    """Compare every way to run a step with the one before."""
    steps = [step(timeline, H100, execution) for execution in ORDER]
    times = [float(one["t"]) for one in steps]
    gains = [before / after for before, after in pairwise(times)]
    return Finding(
        {"least": at_least(min(gains), 1.05), "whole": between(times[0] / times[-1], 1.8, 2)},
        {"gpu_name": steps[0]["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("timeline",),
    message(
        "Letting a kernel begin while the one before it drains ({way}) hides a part of the gaps: "
        "{gain:.2f} times faster than a graph alone, but a step still takes {behind:.2f} times as "
        "long as in the megakernel, for every kernel still waits for all of its input."
    ),
)
def pdl_hides_a_part_of_the_gaps(timeline: xr.Dataset) -> Finding:
    """Compare kernels that overlap with kernels in a graph, and with the megakernel."""
    graph, overlapped, megakernel = (
        step(timeline, H100, execution) for execution in (GRAPHS, PDL, PREFETCH)
    )
    return Finding(
        {
            "gain": between(float(graph["t"] / overlapped["t"]), 1.05, 1.2),
            "behind": between(float(overlapped["t"] / megakernel["t"]), 1.15, 1.35),
        },
        {"way": overlapped["execution_label"].item()},
    )


@claim(
    LECTURE,
    ("timeline", "timeline_parts"),
    message(
        "The faster the hardware, the more its software's gaps show: the {b200} reads "
        "{bandwidth:.2f} times as fast as the {h100}, and the gain of the megakernel grows from "
        "{before:.2f} to {after:.2f}."
    ),
)
def faster_memory_shows_gaps(timeline: xr.Dataset) -> Finding:
    """Compare the speed-up of the megakernel on two GPUs."""
    gains, bandwidths, names = [], [], []
    for gpu in (H100, B200):
        kernels, megakernel = (step(timeline, gpu, one) for one in (GRAPHS, PREFETCH))
        gains.append(float(kernels["t"] / megakernel["t"]))
        bandwidths.append(float(kernels["dram_bandwidth"]))
        names.append(kernels["gpu_name"].item())
    return Finding(
        {
            "bandwidth": near(bandwidths[1] / bandwidths[0], 2.4, 0.02),
            "after": between(gains[1], 1.2 * gains[0], 2),
        },
        {"before": gains[0], "h100": names[0], "b200": names[1]},
    )


CLAIMS: tuple[Claim, ...] = (
    plainest_way_wastes_half,
    fusing_small_kernels_helps,
    graphs_help_a_little,
    pdl_hides_a_part_of_the_gaps,
    megakernel_without_prefetch,
    megakernel_reads_without_pause,
    kernels_on_b200,
    megakernel_on_b200,
    each_idea_pays,
    faster_memory_shows_gaps,
)
