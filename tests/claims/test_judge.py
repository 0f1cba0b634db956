import math

import pytest
import xarray as xr

from pipeline.claims import pick
from pipeline.claims.claim import (
    Claim,
    Finding,
    NotApplicableError,
    at_least,
    at_most,
    between,
    claim,
    exactly,
    near,
)
from pipeline.claims.judge import FAILS, HOLDS, NOT_APPLICABLE, judge
from pipeline.render.column import MISSING
from pipeline.words import english

COUNTS = xr.Dataset(
    {"fma": ("kernel", [1.0, 2.0]), "simulated": (("kernel", "n"), [[True], [False]])},
    coords={"kernel": ["a", "b"], "n": [8]},
)


@claim(10, ("counters",), "{kernel} does {fma:.0f} at n = {small_n}.")
def does_two(counts, small_n):
    """Look at one kernel."""
    one = pick.pick(counts, kernel="b")
    return Finding({"fma": exactly(float(one["fma"]), 2)}, {"kernel": "b", "small_n": small_n})


def verdict(counts, one=does_two):
    (judged,) = judge([one], {"counts": counts}, {10: {"small_n": 8}})
    return judged


def test_claim__takes_its_name_and_needs_from_its_function():
    assert does_two.id == "does_two"
    assert does_two.needs == {"counts": "counts"}
    assert does_two.parameters == ("small_n",)


def test_judge__holds():
    judged = verdict(COUNTS)
    assert judged.verdict == HOLDS
    assert judged.statement(english) == "b does 2 at n = 8."
    assert judged.why_not(english) == ""
    assert judged.parameters == {"small_n": 8}


def test_judge__fails_with_the_numbers_that_there_are():
    judged = verdict(COUNTS + 1)
    assert judged.verdict == FAILS
    assert judged.statement(english) == "b does 3 at n = 8."


def test_judge__not_applicable_without_its_kernel():
    judged = verdict(COUNTS.sel(kernel=["a"]))
    assert judged.verdict == NOT_APPLICABLE
    assert judged.why_not(english) == "The ladder has no b."
    assert judged.statement(english) == f"{MISSING} does {MISSING} at n = {MISSING}."
    assert judged.measures == {}


def test_judge__not_applicable_without_a_number():
    judged = verdict(COUNTS * math.nan)
    assert judged.verdict == NOT_APPLICABLE
    assert judged.why_not(english) == "The results hold no number for it."


def test_judge__names_are_translated_and_templates_too():
    judged = verdict(COUNTS)
    words = {"b": "乙", does_two.statement: "{small_n} 时 {kernel} 做 {fma:.0f} 次。"}
    assert judged.statement(words.get) == "8 时 乙 做 2 次。"


@pytest.mark.parametrize(
    ("measure", "inside", "outside"),
    [
        (between, (1, 1, 2), (2.1, 1, 2)),
        (exactly, (3, 3), (3.0001, 3)),
        (near, (99, 100), (98.9, 100)),
        (at_least, (1, 1), (0.99, 1)),
        (at_most, (1, 1), (1.01, 1)),
    ],
)
def test_measures__include_their_bounds(measure, inside, outside):
    assert measure(*inside).holds
    assert not measure(*outside).holds
    assert not measure(math.nan, *outside[1:]).holds


def test_finding__holds_if_all_measures_do():
    assert Finding({"a": exactly(1, 1), "b": exactly(2, 2)}).holds
    assert not Finding({"a": exactly(1, 1), "b": exactly(2, 3)}).holds


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: pick.pick(COUNTS, kernel="c"), "The ladder has no c."),
        (lambda: pick.pick(COUNTS, kernel=["a", "c"]), "The ladder has no c."),
        (lambda: pick.pick(COUNTS, n=9), "There are no results for n = 9."),
        (lambda: pick.present(COUNTS, "kernel", ["c", "d"]), "The ladder has no c."),
        (lambda: pick.counted(COUNTS, 8, kernel="b"), "b was not simulated at n = 8."),
        (lambda: pick.counted(COUNTS, 8, kernel=["a", "b"]), "b was not simulated at n = 8."),
        (lambda: pick.some([math.nan]), "The results hold no number for it."),
        (lambda: pick.largest([]), "The results hold no number for it."),
    ],
)
def test_pick__says_what_is_missing(call, reason):
    with pytest.raises(NotApplicableError) as raised:
        call()
    assert str(raised.value) == reason


def test_pick__takes_what_is_there():
    assert pick.pick(COUNTS, kernel=("b", "a"))["fma"].values.tolist() == [2, 1]
    assert pick.present(COUNTS, "kernel", ["c", "b"])["fma"].values.tolist() == [2]
    assert pick.counted(COUNTS, 8, kernel="a")["fma"] == 1
    assert (pick.smallest([2, math.nan, 1]), pick.largest([2, math.nan, 1])) == (1, 2)
    assert pick.farthest([2, math.nan, 9, -3], 2) == 9


def test_judge__a_mistake_in_a_check_is_no_verdict():
    def wrong(counts):
        return counts["no such variable"]

    with pytest.raises(KeyError):
        verdict(COUNTS, Claim("wrong", 10, ("counters",), "{x}.", wrong))
