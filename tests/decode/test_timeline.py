"""The timeline: the lecture's values, a slow definition, and laws that hold for every step."""

from dataclasses import fields, replace

import dask.array
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from pipeline.decode.operations import step
from pipeline.decode.timeline import PARTS, TimelineParams, timeline
from tests.decode.generators import formats, lecture_step, models, plans, split_plans

H100 = TimelineParams(
    n_sm=132,
    hbm=3.35e12,
    launch=2.1e-6,
    ramp=1e-6,
    small=2e-6,
    sync=1e-6,
    instr_overhead=0.5e-6,
    eff=0.9,
    smem_buf=13 * 16 * 1024,
)
B200 = replace(H100, n_sm=148, hbm=8e12)
GRAPHS = {"launch": 1.3e-6}
MODES = ("kernels", "pdl", "megakernel")

CHUNKED = ("hbm", "launch", "sync")

seconds = st.floats(0, 1e-4)


@st.composite
def parameters(draw):
    return TimelineParams(
        n_sm=draw(st.integers(1, 300)),
        hbm=draw(st.floats(1e11, 2e13)),
        launch=draw(seconds),
        ramp=draw(seconds),
        small=draw(seconds),
        sync=draw(seconds),
        instr_overhead=draw(seconds),
        eff=draw(st.floats(0.1, 1)),
        smem_buf=draw(st.integers(0, 300_000)),
    )


@st.composite
def steps(draw):
    context, batch = draw(st.sampled_from([0, 1, 160, 100_000])), draw(st.integers(1, 64))
    return step(draw(models()), draw(plans()), draw(formats), context, batch, 16)


def times(plan, mode, p):
    found = timeline(lecture_step(plan), mode, p)
    return {str(name).removeprefix("t_"): found[name].item() for name in found}


# What the lecture shows


@pytest.mark.parametrize(
    ("plan", "mode", "p", "t", "per_second", "utilisation"),
    [
        ("kernels12", "kernels", H100, "1.594e-03", 627, "46%"),
        ("kernels7", "kernels", H100, "1.266e-03", 790, "58%"),
        ("kernels7", "kernels", replace(H100, **GRAPHS), "1.175e-03", 851, "63%"),
        ("fused", "megakernel", replace(H100, smem_buf=0), "9.430e-04", 1060, "78%"),
        ("fused", "megakernel", H100, "8.455e-04", 1183, "87%"),
        ("kernels7", "kernels", replace(B200, **GRAPHS), "6.870e-04", 1456, "45%"),
        ("fused", "megakernel", B200, "3.733e-04", 2678, "83%"),
    ],
)
def test_timeline__has_the_values_of_the_lecture(plan, mode, p, t, per_second, utilisation):
    found = times(plan, mode, p)
    assert f"{found['t']:.3e}" == t
    assert round(1 / found["t"]) == per_second
    assert f"{found['bandwidth_utilisation']:.0%}" == utilisation


def test_timeline__ideal_is_that_of_the_lecture():
    assert f"{times('fused', 'megakernel', H100)['ideal_t']:.3e}" == "7.393e-04"
    assert f"{times('fused', 'megakernel', B200)['ideal_t']:.3e}" == "3.096e-04"


def test_timeline__parts_of_the_lecture_by_hand():
    found = times("kernels12", "kernels", H100)
    assert found["launch"] == pytest.approx(194 * 2.1e-6)
    assert found["ramp"] == pytest.approx((4 * 16 + 1) * 1e-6)
    assert found["small"] == pytest.approx((8 * 16 + 1) * 2e-6)
    assert found["stall"] == 0
    # Of the waves: QKV 2 for 192 blocks, gate/up 8 for 1024, the others 1 for 128, the head 61.
    tail = 16 * (12582912 * 72 / 192 + (8388608 + 33554432) * 4 / 128 + 67108864 * 32 / 1024)
    tail += 525336576 * 36 / 8016
    assert found["tail"] == pytest.approx(tail / (3.35e12 * 0.9))
    assert found["read"] == pytest.approx((2476736512 - 16 * 327680) / (3.35e12 * 0.9))


def test_timeline__megakernel_stalls_by_hand():
    found = times("fused", "megakernel", H100)
    bw = 3.35e12 * 0.9
    # Attention has no weights to read ahead; O's take longer than waiting does.
    assert found["stall"] == pytest.approx(16 * 1.5e-6)
    assert found["read"] == pytest.approx(2476736512 / bw)
    slow = times("fused", "megakernel", replace(H100, sync=6e-6))
    waits = [6.5e-6 - min(13 * 16384 * 132, weights) / bw for weights in (12582912, 0, 8388608)]
    assert slow["stall"] == pytest.approx(16 * sum(max(0, wait) for wait in waits))


# A slow definition: kernel after kernel, on a clock


def clock(step, mode, p):
    """End of the last operation, when each is started one after the other."""
    bw, end, slack = p.hbm * p.eff, 0.0, 0.0
    for one in [*step.layers * step.layer, *step.head]:
        reading = one.bytes / bw
        ahead = min(p.smem_buf * p.n_sm, one.weight_bytes) / bw
        if mode == "megakernel":
            end += reading + max(0, p.sync + p.instr_overhead - ahead)
            continue
        waves = -(-one.blocks // p.n_sm)
        if one.rows:
            before, after = p.launch + p.ramp, reading * waves * p.n_sm / one.blocks
            tail = after - reading
        else:
            before, after, ahead = p.launch, max(p.small, reading), 0.0
            tail = after
        if mode == "pdl":
            # It starts early, as far as there is room, but cannot know its input sooner.
            begun = max(end - slack, end + p.sync - before - ahead)
            begun = min(begun, end)
            end = begun + before + ahead + (after - ahead)
        else:
            end += before + after
        slack = tail
    return end


@given(steps(), st.sampled_from(MODES), parameters())
def test_timeline__agrees_with_a_clock(whole, mode, p):
    assert timeline(whole, mode, p)["t"].item() == pytest.approx(clock(whole, mode, p), rel=1e-9)


# Laws


@given(steps(), st.sampled_from(MODES), parameters())
def test_timeline__parts_are_not_negative_and_sum_to_the_total(whole, mode, p):
    found = timeline(whole, mode, p)
    total = found["t"].item()
    assert sum(found[f"t_{part}"].item() for part in PARTS) == pytest.approx(total, rel=1e-12)
    assert all(found[f"t_{part}"].item() >= -1e-12 * total for part in PARTS)


@given(steps(), st.sampled_from(MODES), parameters(), st.floats(1, 10))
def test_timeline__more_bandwidth_is_never_slower(whole, mode, p, factor):
    one, other = (
        timeline(whole, mode, replace(p, hbm=p.hbm * scale))["t"].item() for scale in (1, factor)
    )
    assert other <= one * (1 + 1e-12)


@given(
    steps(),
    st.sampled_from(MODES),
    parameters(),
    st.sampled_from(["launch", "ramp", "small", "sync", "instr_overhead"]),
    seconds,
)
def test_timeline__longer_waits_are_never_faster(whole, mode, p, name, more):
    longer = replace(p, **{name: getattr(p, name) + more})
    one, other = (timeline(whole, mode, each)["t"].item() for each in (p, longer))
    assert other >= one * (1 - 1e-12)


@given(split_plans(), models(), formats, st.sampled_from(MODES), parameters(), st.data())
def test_timeline__more_launches_are_never_faster(two, model, kinds, mode, p, data):
    """But for reading ahead, of which PDL does more the more tails there are to hide it behind."""
    batch = data.draw(st.integers(1, 64))
    if mode == "pdl":
        p = replace(p, smem_buf=0)
    one, other = (timeline(step(model, plan, kinds, 160, batch, 16), mode, p) for plan in two)
    assert other["launches"] >= one["launches"]
    assert other["t"].item() >= one["t"].item() * (1 - 1e-12)


@given(steps(), parameters())
def test_timeline__order_of_the_modes(whole, p):
    """PDL hides launches and never adds; prefetch hides stalls; nothing beats reading alone."""
    kernels, pdl, megakernel = (timeline(whole, mode, p)["t"].item() for mode in MODES)
    blind = timeline(whole, "megakernel", replace(p, smem_buf=0))["t"].item()
    read = whole.bytes / (p.hbm * p.eff)
    waits = whole.launches * (p.sync + p.instr_overhead)
    assert pdl <= kernels * (1 + 1e-12)
    assert read * (1 - 1e-12) <= megakernel <= blind * (1 + 1e-12)
    assert blind == pytest.approx(read + waits)


@given(steps(), st.sampled_from(MODES), parameters())
def test_timeline__utilisation_is_a_share(whole, mode, p):
    found = timeline(whole, mode, p)
    assert 0 < found["bandwidth_utilisation"] <= 1
    assert found["ideal_t"] <= found["t"]


@given(steps(), parameters())
def test_timeline__without_any_waiting_a_megakernel_is_the_ideal(whole, p):
    free = replace(p, sync=0.0, instr_overhead=0.0, eff=1.0)
    found = timeline(whole, "megakernel", free)
    assert found["t"].item() == pytest.approx(found["ideal_t"].item(), rel=1e-12)


def test_timeline__a_long_context_makes_attention_a_reading_kernel():
    def part(context, name):
        return timeline(lecture_step("kernels7", context=context), "kernels", H100)[
            f"t_{name}"
        ].item()

    bw = 3.35e12 * 0.9
    assert part(160, "read") == part(2000, "read")
    longer = 16 * (2048 * 100_000 / bw - 2e-6)
    assert part(100_000, "read") - part(160, "read") == pytest.approx(longer)
    assert part(100_000, "small") == part(160, "small")


# Arrays


def grid(lazy):
    """Every parameter with a dimension of its own, and two sizes of the workload as well."""
    p = {}
    for field in fields(TimelineParams):
        # Halves of whole numbers are whole here.
        values = np.array([getattr(H100, field.name)] * 2)
        values[0] = values[0] / 2
        data = (
            dask.array.from_array(values, chunks=1 if field.name in CHUNKED else 2)
            if lazy
            else values
        )
        p[field.name] = xr.DataArray(data, dims=field.name)
    return TimelineParams(**p)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("plan", ["fused", "kernels7", "kernels12"])
def test_timeline__arrays_give_what_numbers_give(plan, mode):
    context = xr.DataArray([160, 200_000], dims="context")
    whole = timeline(lecture_step(plan, context=context), mode, grid(lazy=False))
    rng = np.random.default_rng(0)
    for _ in range(20):
        at = {name: int(rng.integers(size)) for name, size in whole.sizes.items()}
        p = TimelineParams(
            **{f.name: getattr(grid(False), f.name).values[at.get(f.name, 0)].item()
               for f in fields(TimelineParams)}
        )  # fmt: skip
        one = timeline(lecture_step(plan, context=context.values[at["context"]].item()), mode, p)
        for name in ("t", "bandwidth_utilisation", *(f"t_{part}" for part in PARTS)):
            there = whole[name].isel({d: i for d, i in at.items() if d in whole[name].dims})
            assert there.item() == pytest.approx(one[name].item(), rel=1e-12, abs=1e-18)


def refuse(dsk, keys, **kwargs):
    raise AssertionError("a lazy timeline was computed")


@pytest.mark.parametrize("mode", MODES)
def test_timeline__lazy_arrays_stay_lazy_and_give_the_same_bits(mode):
    context = xr.DataArray(
        dask.array.from_array(np.array([160, 200_000]), chunks=1), dims="context"
    )
    with dask.config.set(scheduler=refuse):
        lazy = timeline(lecture_step("kernels7", context=context), mode, grid(lazy=True))
    eager = timeline(lecture_step("kernels7", context=context.compute()), mode, grid(lazy=False))
    with dask.config.set(scheduler="synchronous"):
        xr.testing.assert_identical(lazy.compute(), eager)


def test_timeline__parts_have_only_the_dimensions_that_they_depend_on():
    found = timeline(lecture_step("kernels12"), "kernels", grid(lazy=False))
    dims = {name: set(found[f"t_{name}"].dims) for name in PARTS}
    bandwidth = {"hbm", "eff"}
    assert dims == {
        "read": bandwidth | {"small"},
        "launch": {"launch"},
        "ramp": {"ramp"},
        "small": {"small"},
        "tail": bandwidth | {"n_sm"},
        "stall": set(),
    }
    mega = timeline(lecture_step("fused"), "megakernel", grid(lazy=False))
    assert set(mega["t_read"].dims) == bandwidth
    waits = {"sync", "instr_overhead"}
    assert set(mega["t_stall"].dims) == bandwidth | waits | {"smem_buf", "n_sm"}


def test_timeline__an_sm_too_few_costs_a_wave():
    def tail(sms):
        return timeline(lecture_step("kernels7"), "kernels", replace(H100, n_sm=sms))["t_tail"]

    assert tail(128) < tail(127)
    assert tail(128) < tail(129)
