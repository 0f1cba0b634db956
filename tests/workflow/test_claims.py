"""Claims in the workflow: all are listed, and one that does not hold stops nothing."""

import pandas as pd
import pytest

from pipeline.claims.catalog import CLAIMS
from tests.workflow.scratch import SMALL

pytestmark = pytest.mark.workflow


def verdicts(scratch):
    return pd.read_csv(scratch.folder / "results/claims.csv").set_index("id")["holds"]


def test_claims__of_a_small_configuration_are_all_listed(built):
    held = verdicts(built)
    assert held.index.tolist() == [one.id for one in CLAIMS]
    assert (held == "yes").sum() > len(CLAIMS) / 3
    # The configuration has no such kernel, GPU or execution.
    for one in ("coalescing_saves_lines", "megakernel_on_b200", "megakernel_without_prefetch"):
        assert held[one] == "not applicable"


def test_claims__an_assumption_breaks_one_and_the_run_goes_on(changed):
    assert verdicts(changed)["graphs_help_a_little"] == "yes"
    with changed.configured(decode={"timeline": SMALL["decode"]["timeline"] | {"ramp": 2e-6}}):
        code, shown = changed.snakemake("results/claims.csv")
    assert code == 0, shown
    held = verdicts(changed)
    assert held["graphs_help_a_little"] == "no"
    counts = held.value_counts()
    assert f"\n{counts['yes']} claims hold, {counts['no']} do not: " in shown
