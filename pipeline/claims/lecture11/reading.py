"""What a decode step reads, and how long reading it once takes."""

import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, at_most, between, claim, exactly, near
from pipeline.claims.lecture11.steps import B200, GRAPHS, H100, KERNELS7, LECTURE, MODEL, step
from pipeline.claims.pick import largest, pick, two_ends
from pipeline.units import to_mega, to_microseconds, to_milliseconds
from pipeline.words import message


@claim(
    LECTURE,
    ("ideal",),
    message(
        "At batch 1 every weight is used once, so reading is all there is to it: {model_name} "
        "cannot take less than {ms:.2f} ms on the {gpu_name}, {rate:,.0f} steps a second."
    ),
)
def h100_could_read_in_under_a_millisecond(timeline: xr.Dataset) -> Finding:
    """Divide bytes by bandwidth, on the H100."""
    return _ideal(timeline, H100, 0.739, 1353)


@claim(
    LECTURE,
    ("ideal",),
    message(
        "With the faster memory of the {gpu_name} the same bytes take {ms:.2f} ms, {rate:,.0f} "
        "steps a second."
    ),
)
def b200_could_read_in_a_third_of_a_millisecond(timeline: xr.Dataset) -> Finding:
    """Divide bytes by bandwidth, on the B200."""
    return _ideal(timeline, B200, 0.310, 3230)


def _ideal(timeline: xr.Dataset, gpu: str, ms: float, rate: float) -> Finding:
    one = step(timeline, gpu, GRAPHS)
    seconds = float(one["ideal_t"])
    return Finding(
        {"ms": near(to_milliseconds(seconds), ms), "rate": near(1 / seconds, rate)},
        {"model_name": one["model_name"].item(), "gpu_name": one["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("ledger",),
    message(
        "The largest piece of a layer is gate/up with {megabytes:.1f} MB; nothing in the whole "
        "step takes a larger share than its {share:.0%}."
    ),
)
def gate_and_up_are_the_largest(ledger: xr.Dataset) -> Finding:
    """Compare gate/up with all other operations."""
    one = pick(ledger, model=MODEL)
    largest_one = pick(one, operation="gate_up")
    share = float(largest_one["share"])
    return Finding(
        {
            "megabytes": near(to_mega(float(largest_one["bytes_per_layer"])), 67.1, 0.001),
            "share": at_least(share, largest(one["share"])),
        }
    )


@claim(
    LECTURE,
    ("ledger",),
    message(
        "The head, which projects on a large vocabulary, reads {megabytes:.0f} MB: {share:.1%} of "
        "all, a fifth of the step in one operation."
    ),
)
def head_is_a_fifth(ledger: xr.Dataset) -> Finding:
    """Look at the head's bytes and share."""
    one = pick(ledger, model=MODEL, operation="lm_head")
    return Finding(
        {
            "megabytes": near(to_mega(float(one["bytes_total"])), 525, 0.005),
            "share": between(float(one["share"]), 0.2, 0.22),
        }
    )


@claim(
    LECTURE,
    ("ledger",),
    message(
        "With {context} tokens of context, keys and values are {share:.1%} of what is read: a step "
        "at batch 1 reads weights."
    ),
)
def keys_and_values_hardly_count(ledger: xr.Dataset) -> Finding:
    """Look at the share of attention, the only operation that reads no weights."""
    one = pick(ledger, model=MODEL, operation="attention")
    return Finding({"share": at_most(float(one["share"]), 0.01)}, {"context": int(one["context"])})


@claim(
    LECTURE,
    ("ledger",),
    message(
        "The smaller the model, the more its head weighs: {small:.0%} in {small_name}, {large:.0%} "
        "in {large_name}."
    ),
)
def heads_weigh_most_in_small_models(ledger: xr.Dataset) -> Finding:
    """Compare the share of the head in the smallest and the largest model."""
    heads = pick(ledger, operation="lm_head")
    ends = two_ends(ledger["model"], ledger["parameters"])
    small, large = (heads.sel(model=model) for model in ends)
    shares = float(small["share"]), float(large["share"])
    return Finding(
        {"small": between(shares[0], 0.15, 0.5), "large": at_most(shares[1], shares[0] / 2)},
        {"small_name": small["model_name"].item(), "large_name": large["model_name"].item()},
    )


@claim(
    LECTURE,
    ("ledger", "timeline"),
    message(
        "Reading the {megabytes:.1f} MB of an O projection takes {read:.1f} µs on the {gpu_name}, "
        "and launching an empty kernel {launch:.1f} µs: the work takes hardly longer than the way "
        "to it."
    ),
)
def projection_is_as_short_as_a_launch(ledger: xr.Dataset, timeline: xr.Dataset) -> Finding:
    """Compare the time to read one projection with the time between two kernels."""
    read = float(pick(ledger, model=MODEL, operation="o")["bytes_per_layer"])
    one = step(timeline, H100, KERNELS7)
    seconds, launch = read / float(one["dram_bandwidth"]), float(one["launch_t"])
    return Finding(
        {
            "read": near(to_microseconds(seconds), 2.5, 0.02),
            "launch": between(to_microseconds(launch), to_microseconds(seconds) / 2, 5),
        },
        {"megabytes": to_mega(read), "gpu_name": one["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("timeline",),
    message(
        "A model of a billion weights becomes {fine:.0f} kernels in the plainest way, {fused:.0f} "
        "when small ones are fused into their neighbours, and {instructions:.0f} instructions in a "
        "megakernel."
    ),
)
def step_is_a_hundred_pieces(timeline: xr.Dataset) -> Finding:
    """Count kernels and instructions of one step."""
    launches = {
        "fine": ("kernels12_stream", 194),
        "fused": ("kernels7_graphs", 114),
        "instructions": ("megakernel_prefetch", 81),
    }
    return Finding(
        {
            name: exactly(float(step(timeline, H100, execution)["launches"]), wanted)
            for name, (execution, wanted) in launches.items()
        }
    )


CLAIMS: tuple[Claim, ...] = (
    gate_and_up_are_the_largest,
    head_is_a_fifth,
    keys_and_values_hardly_count,
    heads_weigh_most_in_small_models,
    h100_could_read_in_under_a_millisecond,
    b200_could_read_in_a_third_of_a_millisecond,
    projection_is_as_short_as_a_launch,
    step_is_a_hundred_pieces,
)
