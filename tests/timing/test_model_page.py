"""The numbers that docs/MODEL.md quotes are recomputed."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.timing.predict import predict
from pipeline.timing.resources import RESOURCES
from pipeline.vocab.counters import COUNTERS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "MODEL.md").read_text(encoding="utf-8")
GPUS = ("rtx_a6000", "a100_sxm_40gb", "h100_sxm")


def row(first_cell):
    (line,) = re.findall(rf"^\| {re.escape(first_cell)} \|(.*)\|$", PAGE, re.MULTILINE)
    return [cell.strip() for cell in line.split("|")]


@pytest.fixture
def predicted(counts, occupancy, gpus):
    return predict(counts, occupancy, gpus).sel(n=4096).squeeze("method")


@pytest.fixture
def measured(counts):
    table = pd.read_csv(ROOT / "data" / "measured" / "sgemm_ladder.csv", comment="#")
    at_4096 = table[table["n"] == 4096].set_index(["gpu", "kernel"])["gflops"]
    return {gpu: [at_4096[gpu, kernel] for kernel in counts.kernel.to_numpy()] for gpu in GPUS}


@pytest.mark.parametrize("gpu", GPUS)
def test_page__quotes_the_predictions(gpu, predicted):
    here = predicted.sel(gpu=gpu)
    shown = zip(here.gflops.to_numpy(), here.bound.to_numpy(), strict=True)
    assert row(f"`{gpu}` predicted") == [f"{gflops:.0f} {bound}" for gflops, bound in shown]


@pytest.mark.parametrize("gpu", GPUS)
def test_page__quotes_the_measurements(gpu, measured):
    assert row(f"`{gpu}` measured") == [f"{gflops:.1f}" for gflops in measured[gpu]]


@pytest.mark.parametrize("gpu", GPUS)
def test_page__quotes_the_mean_absolute_error(gpu, predicted, measured):
    rates = predicted.gflops.sel(gpu=gpu).to_numpy()
    error = np.abs(rates / measured[gpu] - 1).mean()
    assert f"{100 * error:.1f} % on `{gpu}`" in " ".join(PAGE.split())


def test_page__says_for_every_counter_its_rule_and_where_hardware_differs():
    header = "| counter | rule | where hardware differs |\n|---|---|---|\n"
    table = PAGE.split(header)[1].split("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]
    assert all(len(row) == 3 and all(row) for row in cells)
    named = [name for first, *_ in cells for name in re.findall(r"`(\w+)`", first)]
    assert sorted(named) == sorted(COUNTERS)


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.id)
def test_page__lists_every_resource_with_its_amount_and_rate(resource):
    amount, rate = row(f"`{resource.id}`")
    terms = [
        f"{'-' if weight < 0 else '+'} {'' if abs(weight) == 1 else f'{abs(weight)} '}{name}"
        for name, weight in resource.demand.items()
    ]
    assert f"+ {amount.replace('`', '')}" == " ".join(terms)
    assert rate.replace("`", "").split() == list(resource.rate)
