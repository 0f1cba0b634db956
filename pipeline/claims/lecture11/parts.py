"""Where the time of a step goes."""

import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, at_most, between, claim
from pipeline.claims.lecture11.steps import (
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
from pipeline.claims.pick import largest, pick
from pipeline.units import to_microseconds
from pipeline.vocab.decode_spans import INSTRUCTIONS
from pipeline.words import message


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
    ("timeline_trace",),
    message(
        "Counters, inputs and stragglers, which the timeline does not have, make the layers shown "
        "{ratio:.2f} times as long when the megakernel is followed instruction by instruction: "
        "{instructions:.0f} µs instead of {lecture:.0f}, and still less than {way} ({kernels:.0f} "
        "µs)."
    ),
)
def instructions_take_a_little_longer(spans: xr.Dataset) -> Finding:
    """Compare when the layers shown end, by the timeline and instruction by instruction."""
    instructions, lecture, kernels = (
        to_microseconds(largest(spans["end"].where(spans["span_execution"] == name)))
        for name in (INSTRUCTIONS, PREFETCH, GRAPHS)
    )
    way = pick(spans, execution=GRAPHS)["execution_label"].item()
    return Finding(
        {
            "ratio": between(instructions / lecture, 1, 1.2),
            "instructions": at_most(instructions, kernels),
        },
        {"lecture": lecture, "kernels": kernels, "way": way},
    )


CLAIMS: tuple[Claim, ...] = (
    a_kernel_costs_microseconds,
    graphs_leave_gaps,
    launches_and_small_kernels_waste_most,
    reading_ahead_hides_waiting,
    instructions_take_a_little_longer,
)
