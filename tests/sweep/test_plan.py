import io
import re

import pytest

from pipeline.errors import SweepError
from pipeline.sweep.plan import Budget, Plan
from pipeline.sweep.progress import Progress

# Distinct primes: no two numbers can stand for one another.
PLAN = Plan(
    name="toy",
    unit="points",
    lengths={"a": 7, "b": 13},
    considered=91,
    points=83,
    excluded={"registers": 5, "size": 3, "threads": 0},
    regions=2,
    size=1699,
    seconds=97,
)
ENOUGH = Budget(points=83, size=1699, seconds=97)


def test_statement__says_everything_before_it_runs():
    said = PLAN.statement()
    assert "toy: 7 a x 13 b = 91 points" in said
    assert "excluded: registers 5, size 3" in said
    assert "computed: 83, in 2 regions" in said
    assert "writes 1.7 kB" in said
    assert "1 min 37 s" in said
    assert "threads" not in said


def test_require__what_just_fits_passes():
    PLAN.require(ENOUGH)


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(82, 1699, 97), "points 83 of at most 82"),
        (Budget(83, 1698, 97), "bytes 1.7 kB of at most 1.7 kB"),
        (Budget(83, 1699, 48.5), "time 1 min 37 s of at most 48 s. Cut the space to 1/2 of it"),
    ],
)
def test_require__too_much_stops_and_says_what_to_cut(budget, said):
    with pytest.raises(SweepError, match=re.escape(said)) as stopped:
        PLAN.require(budget)
    assert "fewer values of b (13 values), a (7 values)" in str(stopped.value)
    assert "sweeps.budget" in str(stopped.value)


def test_progress__a_line_per_step_in_the_log_and_one_line_on_a_terminal():
    log, terminal = io.StringIO(), io.StringIO()
    ticks = iter([0.0, 2.0, 4.0])
    progress = Progress(log, terminal, clock=lambda: next(ticks))
    progress.begin("a plan", 40)
    progress.found(10, 1)
    progress.step("region 2", 10)
    progress.step("region 3", 20)
    progress.end()
    lines = log.getvalue().splitlines()
    assert lines == [
        "a plan",
        "found 1 finished regions, 10 points",
        "region 2: 50.0%, 20 of 40 points, 5 per second, 4 s left",
        "region 3: 100.0%, 40 of 40 points, 7.5 per second, 0 s left",
    ]
    assert terminal.getvalue().count("\r") == 2
    assert terminal.getvalue().count("\n") == 2
