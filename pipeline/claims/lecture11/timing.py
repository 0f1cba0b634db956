"""Where the time of a step goes, and how much of it is gaps."""

from itertools import pairwise

import numpy as np
import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, at_most, between, claim, exactly, near
from pipeline.claims.lecture11.steps import (
    B200,
    GRAPHS,
    H100,
    KERNELS7,
    KERNELS12,
    LECTURE,
    NO_PREFETCH,
    PREFETCH,
    part,
    step,
)
from pipeline.claims.pick import largest, pick, smallest
from pipeline.units import to_microseconds, to_milliseconds
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
    ("timeline_parts",),
    message(
        "Besides reading, a kernel of a step ({way}, {gpu_name}) costs {us:.1f} µs on average: "
        "launch, ramp-up and last wave. A few microseconds a hundred times are the time that is "
        "missing."
    ),
)
def a_kernel_costs_microseconds(timeline: xr.Dataset) -> Finding:
    """Divide what is not reading by the number of kernels."""
    one = step(timeline, H100, GRAPHS)
    gap = (float(one["t"]) - part(one, "read")) / float(one["launches"])
    return Finding(
        {"us": between(to_microseconds(gap), 2, 5)},
        {"way": one["execution_label"].item(), "gpu_name": one["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("timeline_parts",),
    message(
        "A graph cannot do away with the gaps between kernels: on the {gpu_name} it leaves "
        "{share:.0%} of the launch time of a stream."
    ),
)
def graphs_leave_gaps(timeline: xr.Dataset) -> Finding:
    """Compare launch gaps of the same kernels on a stream and in a graph."""
    stream, graph = (step(timeline, H100, execution) for execution in (KERNELS7, GRAPHS))
    share = part(graph, "launch") / part(stream, "launch")
    return Finding({"share": between(share, 0.6, 0.65)}, {"gpu_name": graph["gpu_name"].item()})


@claim(
    LECTURE,
    ("timeline_parts",),
    message(
        "Launch gaps are the largest part of what is not reading, {launch:.0f} µs on the "
        "{gpu_name} with {way}; small kernels that read next to nothing are the second, "
        "{small:.0f} µs."
    ),
)
def launches_and_small_kernels_waste_most(timeline: xr.Dataset) -> Finding:
    """Compare the parts of the plainest way to run a step."""
    one = step(timeline, H100, KERNELS12)
    launch, small = (to_microseconds(part(one, name)) for name in ("launch", "small"))
    others = sum(to_microseconds(part(one, name)) for name in ("ramp", "tail", "stall"))
    return Finding(
        {"launch": at_least(launch, small), "small": at_least(small, others)},
        {"gpu_name": one["gpu_name"].item(), "way": one["execution_label"].item()},
    )


@claim(
    LECTURE,
    ("timeline_parts",),
    message(
        "What a megakernel still loses are stalls: {stall:.0f} µs of a step on the {gpu_name}, "
        "{saved:.0%} less than without reading ahead."
    ),
)
def reading_ahead_hides_waiting(timeline: xr.Dataset) -> Finding:
    """Compare stalls with and without pages to read ahead into."""
    without, ahead = (step(timeline, H100, execution) for execution in (NO_PREFETCH, PREFETCH))
    stall = part(ahead, "stall")
    return Finding(
        {
            "stall": at_most(to_microseconds(stall), 30),
            "saved": at_least(1 - stall / part(without, "stall"), 0.75),
        },
        {"gpu_name": ahead["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("sensitivity",),
    message(
        "The conclusion hangs on no single assumption: whichever is changed, the megakernel stays "
        "{least:.2f} to {most:.2f} times faster than {way}."
    ),
)
def speedup_is_robust(sensitivity: xr.Dataset) -> Finding:
    """Find the least and the largest speed-up over all variants."""
    speedup = pick(sensitivity, execution=PREFETCH)["speedup"]
    reference = pick(sensitivity, execution=GRAPHS)
    return Finding(
        {"least": at_least(smallest(speedup), 1.3), "most": at_most(largest(speedup), 1.5)},
        {"way": reference["execution_label"].item()},
    )


@claim(
    LECTURE,
    ("sensitivity",),
    message(
        "The megakernel uses {least:.0f} to {most:.0f} percentage points more of the DRAM "
        "bandwidth, whichever assumption is changed."
    ),
)
def bandwidth_gain_is_robust(sensitivity: xr.Dataset) -> Finding:
    """Find the least and the largest gain in bandwidth over all variants."""
    used = sensitivity["bandwidth_utilisation"]
    kernels, megakernel = (
        pick(sensitivity, execution=execution)["bandwidth_utilisation"].reset_coords(drop=True)
        for execution in (GRAPHS, PREFETCH)
    )
    points = 100 * (megakernel - kernels)
    return Finding(
        {
            "least": at_least(smallest(points), 20),
            "most": at_most(largest(points), 29),
            "used": at_most(largest(used), 1),
        }
    )


@claim(
    LECTURE,
    ("sensitivity",),
    message(
        "Separate kernels pay for ramp-up and small kernels once each: twice the ramp-up makes a "
        "step {kernels:.1%} longer, and that of the megakernel {megakernel:.1%}."
    ),
)
def kernels_pay_for_every_start(sensitivity: xr.Dataset) -> Finding:
    """Compare how a longer ramp-up lengthens both ways to run a step."""
    return _lengthened(sensitivity, "ramp_long", {"kernels": (0.03, 1), "megakernel": (0, 0)})


@claim(
    LECTURE,
    ("sensitivity",),
    message(
        "When the gaps are gone, what remains is reading: a lower share of the bandwidth that can "
        "be reached makes the megakernel's step {megakernel:.1%} longer, and that of the kernels "
        "{kernels:.1%}."
    ),
)
def megakernel_depends_on_bandwidth(sensitivity: xr.Dataset) -> Finding:
    """Compare how a lower bandwidth lengthens both ways to run a step."""
    return _lengthened(sensitivity, "eff_low", {"kernels": (0, 0.11), "megakernel": (0.11, 0.14)})


def _lengthened(
    sensitivity: xr.Dataset, variant: str, bounds: dict[str, tuple[float, float]]
) -> Finding:
    """Bound how much longer a step becomes under a variant, for both ways to run it."""
    ways = {"kernels": GRAPHS, "megakernel": PREFETCH}
    measures = {}
    for name, execution in ways.items():
        times = pick(sensitivity, execution=execution, variant=["base", variant])["t"].to_numpy()
        measures[name] = between(times[1] / times[0] - 1, *bounds[name])
    return Finding(measures)


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


@claim(
    LECTURE,
    ("timeline_sweep",),
    message(
        "Over all {points:,} sets of assumptions per GPU the megakernel hardly ever loses: in "
        "{losing:.2%} of them at most, and never by more than {loss:.0%}."
    ),
)
def megakernel_hardly_ever_loses(timeline_gain: xr.Dataset) -> Finding:
    """Find how often, and by how much, the swept megakernel is slower."""
    return Finding(
        {
            "losing": at_most(largest(timeline_gain["losing"] / timeline_gain["points"]), 0.02),
            "loss": at_most(1 - smallest(timeline_gain["least_gain"]), 0.1),
        },
        {"points": int(timeline_gain["points"].max())},
    )


@claim(
    LECTURE,
    ("timeline_sweep",),
    message(
        "In the middle of all assumptions the megakernel is ahead on each of {gpus} GPUs, from "
        "{least:.2f} to {most:.2f} times, and most where memory is fastest ({fastest})."
    ),
)
def megakernel_wins_in_the_middle(timeline_gain: xr.Dataset, gpus: xr.Dataset) -> Finding:
    """Find the least and the largest gain in the middle of the swept space."""
    gain = timeline_gain["gain"]
    known = pick(gpus, gpu=gain["gpu"].to_numpy().tolist())["dram_bandwidth"]
    fastest = known["gpu"][int(np.argmax(known.to_numpy()))].item()
    return Finding(
        {
            "least": at_least(smallest(gain), 1.05),
            "most": exactly(float(gain.sel(gpu=fastest)), largest(gain)),
        },
        {"gpus": gain.size, "fastest": gain.sel(gpu=fastest)["gpu_name"].item()},
    )


CLAIMS: tuple[Claim, ...] = (
    plainest_way_wastes_half,
    fusing_small_kernels_helps,
    graphs_help_a_little,
    megakernel_without_prefetch,
    megakernel_reads_without_pause,
    kernels_on_b200,
    megakernel_on_b200,
    each_idea_pays,
    faster_memory_shows_gaps,
    a_kernel_costs_microseconds,
    graphs_leave_gaps,
    launches_and_small_kernels_waste_most,
    reading_ahead_hides_waiting,
    speedup_is_robust,
    bandwidth_gain_is_robust,
    kernels_pay_for_every_start,
    megakernel_depends_on_bandwidth,
    megakernel_hardly_ever_loses,
    megakernel_wins_in_the_middle,
)
