"""What the lectures say about their results: it holds, and each sentence could be wrong."""

import inspect
import re
import string

import numpy as np
import pytest

from pipeline.artifacts.catalog import CATALOG
from pipeline.claims.catalog import CLAIMS
from pipeline.claims.claim import STORES
from pipeline.claims.judge import FAILS, HOLDS, NOT_APPLICABLE, judge
from pipeline.words import english
from tests.claims.held import SETTINGS, stores

# In one process: making the results takes longer than judging them.
pytestmark = pytest.mark.xdist_group("claims")

EACH = [pytest.param(one, id=one.id) for one in CLAIMS]
# Numbers that are names, or that a sentence cannot do without.
NAMES = re.compile(
    r"\{[^}]*\}|k\d\d|float64|FP32|L1|A100|RTX A6000|n = |batch 1|[Oo]ne|QKV|from 1 to|FP32"
)


def judged(claim, changed=None, **settings):
    (one,) = judge(
        [claim],
        stores() | (changed or {}),
        {lecture: held | settings for lecture, held in SETTINGS.items()},
    )
    return one


@pytest.mark.parametrize("claim", EACH)
def test_claim__holds(claim):
    one = judged(claim)
    assert one.verdict == HOLDS, (one.statement(english), one.why_not(english), one.measures)


def test_claims__are_many_in_both_lectures():
    assert sum(one.lecture == 10 for one in CLAIMS) >= 50
    assert sum(one.lecture == 11 for one in CLAIMS) >= 40


def test_claims__have_ids_of_their_own():
    ids = [one.id for one in CLAIMS]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[a-z0-9_]+", one) for one in ids)


@pytest.mark.parametrize("lecture", CATALOG)
def test_claims__stand_beside_artifacts_of_their_lecture(lecture):
    beside = {name for one in CLAIMS if one.lecture == lecture for name in one.artifacts}
    assert beside <= set(CATALOG[lecture])


def test_stores__are_all_taken():
    assert {name for one in CLAIMS for name in one.needs} == set(STORES)


@pytest.mark.parametrize("claim", EACH)
def test_claim__is_a_sentence_with_computed_numbers(claim):
    assert re.fullmatch(r"[A-Z{k].*\.", claim.statement)
    assert not re.search(r"\d", NAMES.sub("", claim.statement)), claim.statement
    fields = {field for _, field, _, _ in string.Formatter().parse(claim.statement) if field}
    assert fields & set(judged(claim).measures)
    assert not re.search(r"nan|inf\b|[{}]|  ", judged(claim).statement(english))


@pytest.mark.parametrize("claim", EACH)
def test_claim__has_bounds(claim):
    for name, measure in judged(claim).measures.items():
        assert np.isfinite(measure.lower) or np.isfinite(measure.upper), name
        assert measure.lower <= measure.upper


def mutants(dataset, name):
    """A dataset with one variable changed in ways that no claim can ignore all of."""
    variable = dataset[name]
    for change in (lambda one: 3 * one, lambda one: one / 3, lambda one: one + 1):
        yield dataset.assign({name: change(variable)})
    for axis, length in enumerate(variable.shape):
        ramp = np.arange(1, length + 1).reshape(
            [-1 if at == axis else 1 for at in range(variable.ndim)]
        )
        yield dataset.assign({name: variable * ramp})
        yield dataset.assign({name: variable.copy(data=np.flip(variable.to_numpy(), axis))})


def numbers(claim, dataset):
    """Variables that hold numbers; those that the claim's module names come first."""
    held = [name for name, one in dataset.data_vars.items() if one.dtype.kind in "if"]
    source = inspect.getsource(inspect.getmodule(claim.check))
    return sorted(held, key=lambda name: f'"{name}"' not in source)


def breaks(claim, store):
    dataset = stores()[store]
    return any(
        judged(claim, {store: changed}).verdict == FAILS
        for name in numbers(claim, dataset)
        for changed in mutants(dataset, name)
    )


@pytest.mark.parametrize("claim", EACH)
def test_claim__can_fail_by_each_store_that_it_takes(claim):
    for store in claim.needs:
        assert breaks(claim, store), store


def only(dimension, *labels):
    def change(dataset):
        return dataset.sel({dimension: list(labels)}) if dimension in dataset.dims else dataset

    return change


def nothing_measured(dataset):
    gone = {"measurement", "validated_gpu"} & set(dataset.dims)
    return dataset.isel(dict.fromkeys(gone, slice(0)))


def first_of(*dimensions):
    def change(dataset):
        return dataset.isel({one: [0] for one in dimensions if one in dataset.dims})

    return change


def not_a_number(dataset):
    return dataset.assign(
        {name: one.where(False) for name, one in dataset.items() if one.dtype.kind == "f"}
    )


def zeros(dataset):
    return dataset.assign(
        {name: 0 * one for name, one in dataset.items() if one.dtype.kind in "if"}
    )


def nothing_simulated(dataset):
    return (
        dataset.assign(simulated=dataset["simulated"] & False)
        if "lds_instr" in dataset
        else dataset
    )


OTHERS = {
    "one kernel": only("kernel", "k03_smem"),
    "another kernel": only("kernel", "k05_blocktile_2d"),
    "one size": only("n", 4096),
    "a small size": only("n", 128),
    "nothing measured": nothing_measured,
    "one of each": first_of("model", "execution", "case", "variant", "arch", "program"),
    "one operation": first_of("operation"),
    "no numbers": not_a_number,
    "nothing simulated": nothing_simulated,
    "zeros": zeros,
}


def kept(change, dataset):
    try:
        return change(dataset)
    except KeyError:
        return dataset


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_claims__of_other_results_are_judged_or_not_applicable(change):
    changed = {name: kept(change, dataset) for name, dataset in stores().items()}
    every = judge(CLAIMS, changed, SETTINGS)
    left_out = [one for one in every if one.verdict == NOT_APPLICABLE]
    assert left_out
    for one in left_out:
        assert one.why_not(english).endswith(".")
        assert not re.search(r"[{}]", one.statement(english))


@pytest.mark.parametrize("gpu", ["h100_sxm", "b200"])
def test_claims__of_one_gpu_are_judged_or_not_applicable(gpu):
    change = only("gpu", gpu)
    changed = {name: kept(change, dataset) for name, dataset in stores().items()}
    settings = {
        lecture: held | {"gpu": gpu, "shown_gpus": [gpu]} for lecture, held in SETTINGS.items()
    }
    every = judge(CLAIMS, changed, settings)
    assert {HOLDS, NOT_APPLICABLE} <= {one.verdict for one in every}
