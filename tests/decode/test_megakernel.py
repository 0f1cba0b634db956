from itertools import pairwise

import numpy as np
import pytest

from pipeline.decode.gpu_figures import machine
from pipeline.decode.megakernel import (
    ASSIGNMENTS,
    Job,
    activities,
    activity_means,
    critical_path,
    simulate,
    simulate_one,
    trace,
)
from pipeline.decode.schedule_fast import schedule
from tests.decode.evidence import FIGURES, GPUS, LLAMA_ONLY

JOB = Job(LLAMA_ONLY, "llama_3_2_1b", "fused")
SHOWN = ["h100_sxm", "b200"]


@pytest.fixture(scope="module")
def stored():
    return simulate(JOB, FIGURES.sel(gpu=SHOWN), GPUS.dram_bandwidth.sel(gpu=SHOWN))


def test_simulate__counts_the_published_instructions(stored):
    for assignment in ASSIGNMENTS:
        one = stored.sel(assignment=assignment)
        assert one.instructions_per_layer.values.tolist() == [532, 580]
        assert one.instructions.values.tolist() == [8644, 9428]


def test_simulate__comes_close_to_the_published_steps(stored):
    time = stored.t.sel(assignment="contiguous")
    # 78 % of the bandwidth for the weights is 949 us; the breakdown adds up to about 600 us.
    assert float(time.sel(gpu="h100_sxm")) == pytest.approx(949e-6, rel=0.07)
    assert float(time.sel(gpu="b200")) == pytest.approx(600e-6, rel=0.05)


def test_simulate__activities_of_every_sm_add_up_to_the_step(stored):
    whole = stored.sm_t.sum("activity", skipna=False)
    there = whole.notnull()
    np.testing.assert_array_equal(there.sum("sm"), [[132, 132], [148, 148]])
    np.testing.assert_allclose(whole.where(there, stored.t), stored.t.broadcast_like(whole))
    kinds = stored.busy_t + stored.wait_t + stored.load_t + stored.sm_t.sel(activity="idle")
    np.testing.assert_allclose(kinds.where(there, stored.t), stored.t.broadcast_like(kinds))


def test_simulate__critical_path_adds_up_to_the_step(stored):
    np.testing.assert_allclose(stored.critical_t.sum("activity"), stored.t, rtol=1e-9)


def test_simulate__is_never_faster_than_reading(stored):
    assert (stored.t > stored.ideal_t).all()
    assert ((stored.bandwidth_utilisation > 0) & (stored.bandwidth_utilisation < 1)).all()


def test_simulate__has_units_and_names(stored):
    assert all(v.attrs["units"] and v.attrs["long_name"] for v in stored.variables.values())


def test_simulate_one__and_means_are_those_of_all(stored):
    one = stored.sel(gpu="b200", assignment="contiguous")
    figures = FIGURES.sel(gpu="b200")
    assert simulate_one(JOB, figures) == float(one.t)
    means = activity_means(JOB, figures)
    assert sum(means.values()) == pytest.approx(float(one.t))
    assert means["weights"] == pytest.approx(float(one.sm_t.sel(activity="weights").mean("sm")))


def test_critical_path__every_instruction_begins_when_the_one_before_lets_it():
    figures = machine(FIGURES.sel(gpu="h100_sxm"))
    dealt = JOB.program(132, "contiguous")
    done = schedule(dealt, figures)
    path = critical_path(dealt, done)
    assert done.end[path[-1]] == done.time
    for before, one in pairwise(path):
        let_go = max(done.ready[one], done.begin[one])
        handed_on = done.end[before] + (figures.signal if done.ready[one] > done.begin[one] else 0)
        assert let_go == handed_on
    assert done.begin[path[0]] == 0.0
    spent = activities(dealt, done, figures)
    whole = sum(spent.values())
    np.testing.assert_allclose(whole, done.end - done.begin, atol=1e-12)


def test_trace__holds_every_instruction_and_every_byte(stored):
    made = trace(JOB, FIGURES.sel(gpu="h100_sxm"), "contiguous")
    assert made.sizes["instruction"] == 8644
    width = float(made.interval_begin[1])
    assert float(made.served_bandwidth.sum()) * width == pytest.approx(float(made.bytes.sum()))
    moments = [made[name] for name in ("begin", "set_up", "read", "loaded", "start", "end")]
    for first, second in pairwise(moments):
        assert (first <= second + 1e-15).all()
    assert float(made.served_bandwidth.max()) <= 1.02 * 3.073e12
    assert bool(made.is_critical.any())
