from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.decode import schedule as plain
from pipeline.decode import schedule_fast as fast
from pipeline.decode.instructions import Dealing, program
from pipeline.decode.machine import Machine
from pipeline.decode.program import Program, lists
from tests.decode.generators import LLAMA, lecture_step
from tests.decode.programs import NO_WAIT, dealt, machines, programs, small_model

MOMENTS = ("begin", "ready", "read", "start", "end", "served_at", "served_bytes")
WAITS = ("latency", "setup", "signal", "fetch", "sync", "norm")
LATENCIES = Machine(
    bandwidth=3e12,
    latency=0.3e-6,
    sm_bandwidth=70e9,
    pages=13,
    page_bytes=16384,
    in_flight=2,
    numbers_per_second=44e9,
    setup=1.2e-6,
    signal=1e-6,
    fetch=1e-6,
    sync=0.6e-6,
    norm=0.3e-6,
)


@given(programs, machines)
@settings(max_examples=150)
def test_schedule__compiled_twin_agrees(made, machine):
    one, two = plain.schedule(made, machine), fast.schedule(made, machine)
    for name in MOMENTS:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    for done in (one, two):
        waited = done.waited_for >= 0
        np.testing.assert_array_equal(
            done.end[done.waited_for[waited]] + machine.signal, done.ready[waited]
        )


@given(programs, st.integers(2, 6))
@settings(max_examples=60)
def test_schedule__without_waits_reading_takes_the_whole_time(made, pages):
    time = fast.schedule(made, replace(NO_WAIT, pages=pages)).time
    assert time == pytest.approx(made.bytes / NO_WAIT.bandwidth, rel=1e-9)


@given(programs, machines)
@settings(max_examples=100)
def test_schedule__is_never_faster_than_its_ideal(made, machine):
    done = fast.schedule(made, machine)
    per_sm = np.bincount(made.sm, made.numbers, minlength=made.n_sm) / machine.numbers_per_second
    assert done.time >= made.bytes / machine.bandwidth * (1 - 1e-9)
    assert done.time >= per_sm.max() * (1 - 1e-9)
    np.testing.assert_allclose(done.served_bytes.sum(), made.bytes)


@given(programs, machines)
@settings(max_examples=60)
def test_schedule__a_machine_twice_as_fast_in_everything_takes_half_the_time(made, machine):
    half = {name: getattr(machine, name) / 2 for name in WAITS}
    rates = ("bandwidth", "sm_bandwidth", "numbers_per_second")
    twice = {name: getattr(machine, name) * 2 for name in rates}
    faster = fast.schedule(made, replace(machine, **half, **twice))
    assert faster.time == pytest.approx(fast.schedule(made, machine).time / 2, rel=1e-9)


# Where SMs stand in line for DRAM this is not so: docs/MODEL.md, section on the megakernel.
@given(programs, machines, st.sampled_from([*WAITS, "numbers_per_second"]))
@settings(max_examples=100)
def test_schedule__where_nobody_stands_in_line_shorter_waits_are_never_slower(
    made, machine, figure
):
    machine = replace(machine, bandwidth=float("inf"), sm_bandwidth=float("inf"))
    factor = 1.7 if figure == "numbers_per_second" else 0.6
    better = replace(machine, **{figure: getattr(machine, figure) * factor})
    more = replace(machine, pages=machine.pages + 1, in_flight=machine.in_flight + 1)
    before = fast.schedule(made, machine).time * (1 + 1e-12)
    assert fast.schedule(made, better).time <= before
    assert fast.schedule(made, more).time <= before


@pytest.fixture(scope="module")
def llama():
    return program(LLAMA, lecture_step("fused"), Dealing(132, "contiguous", 16, 160, 1))


@pytest.mark.parametrize(
    ("figure", "values"),
    [
        ("bandwidth", [1e12, 2e12, 3e12, 4e12, 8e12]),
        ("numbers_per_second", [10e9, 44e9, 80e9, 1e12]),
        ("pages", [2, 4, 8, 13, 20]),
        *((name, [4e-6, 2e-6, 1e-6, 0.3e-6, 0.0]) for name in WAITS),
    ],
)
def test_schedule__of_a_real_step_gains_from_every_better_figure(llama, figure, values):
    times = [fast.schedule(llama, replace(LATENCIES, **{figure: one})).time for one in values]
    assert times == sorted(times, reverse=True)
    assert times[-1] < times[0]


def chain(n_sm, operations, weight_bytes):
    """Operations of one equal instruction per SM, each of which needs all of the one before."""
    size = n_sm * operations
    operation = np.repeat(np.arange(operations), n_sm)
    return Program(
        operations=tuple(f"op{i}" for i in range(operations)),
        n_sm=n_sm,
        n_counters=operations - 1,
        operation=operation,
        layer=np.zeros(size, np.int64),
        sm=np.arange(size) % n_sm,
        weight_bytes=np.full(size, float(weight_bytes)),
        late_bytes=np.zeros(size),
        numbers=np.zeros(size),
        norms=np.zeros(size, np.int64),
        waits=lists([[op - 1] if op else [] for op in operation]),
        raises=lists([[op] if op < operations - 1 else [] for op in operation]),
    )


@pytest.mark.parametrize("wait", [0.0, 2e-6, 20e-6, 100e-6])
@pytest.mark.parametrize("pages", [1, 4, 16])
def test_schedule__equal_instructions_stall_as_long_as_the_closed_form_says(wait, pages):
    n_sm, operations, page = 4, 5, 512.0
    weight_bytes = 32 * page
    machine = replace(NO_WAIT, pages=pages, page_bytes=page, fetch=wait, in_flight=pages)
    time = fast.schedule(chain(n_sm, operations, weight_bytes), machine).time
    read_ahead = pages * page * n_sm / machine.bandwidth
    stalls = wait + (operations - 1) * max(0.0, wait - read_ahead)
    # What is read before the first instruction begins is read ahead of it.
    stalls -= min(wait, read_ahead)
    whole = operations * n_sm * weight_bytes / machine.bandwidth
    # Pages are whole: at each hand-over one page per SM more or less.
    assert time == pytest.approx(whole + stalls, abs=operations * n_sm * page / machine.bandwidth)


def test_schedule__by_hand():
    made = chain(n_sm=1, operations=2, weight_bytes=1000)
    machine = replace(
        NO_WAIT,
        page_bytes=1000.0,
        pages=1,
        latency=1e-6,
        setup=10e-6,
        fetch=20e-6,
        signal=100e-6,
        sync=3e-6,
    )
    done = plain.schedule(made, machine)
    # 1000 B take 1 us and arrive 1 us later, long before the first instruction has its inputs.
    np.testing.assert_allclose(done.start, [33e-6, 33e-6 + 100e-6 + 33e-6])
    np.testing.assert_allclose(done.ready, [0.0, 133e-6])
    np.testing.assert_allclose(done.served_at, [1e-6, 34e-6])
    np.testing.assert_allclose(done.end, done.start)


def test_schedule__one_page_under_way_at_a_time_is_littles_law():
    made = chain(n_sm=1, operations=1, weight_bytes=64 * 512)
    machine = replace(NO_WAIT, latency=2e-6, pages=8)
    rates = [
        made.bytes / fast.schedule(made, replace(machine, in_flight=pages)).time
        for pages in (1, 2, 4)
    ]
    np.testing.assert_allclose(
        rates, [pages * 512 / (2e-6 + 512e-9) for pages in (1, 2, 4)], rtol=0.05
    )


def test_schedule__every_figure_of_the_machine_matters():
    made = dealt(small_model(), n_sm=2)
    machine = Machine(1e9, 1e-6, 0.4e9, 2, 512.0, 1, 1e9, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6)
    worse = {name: 3e-6 for name in WAITS} | {
        "bandwidth": 0.3e9,
        "sm_bandwidth": 0.1e9,
        "numbers_per_second": 1e8,
        "pages": 1,
        "page_bytes": 128.0,
        "in_flight": 2,
    }
    assert set(worse) == {field.name for field in fields(Machine)}
    before = fast.schedule(made, machine).time
    for name, value in worse.items():
        base = replace(machine, pages=1) if name == "page_bytes" else machine
        assert fast.schedule(made, replace(base, **{name: value})).time != before, name
