"""What is left of the conclusions when assumptions change."""

import numpy as np
import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, at_most, between, claim, exactly
from pipeline.claims.lecture11.steps import (
    GRAPHS,
    LECTURE,
    PREFETCH,
)
from pipeline.claims.pick import largest, pick, smallest
from pipeline.words import message


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
        times = (
            pick(sensitivity, execution=execution, variant=["base", variant])["t"]
            .to_numpy()
            .tolist()
        )
        measures[name] = between(times[1] / times[0] - 1, *bounds[name])
    return Finding(measures)


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
    speedup_is_robust,
    bandwidth_gain_is_robust,
    kernels_pay_for_every_start,
    megakernel_depends_on_bandwidth,
    megakernel_hardly_ever_loses,
    megakernel_wins_in_the_middle,
)
