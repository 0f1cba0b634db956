"""The numbers that docs/MODEL.md quotes of GEMVs and the megakernel are recomputed."""

import re
from pathlib import Path

import pytest

from pipeline.decode.compare import Known, compare
from pipeline.decode.kernel_step import kernels_time
from pipeline.decode.megakernel import Job, activity_means, simulate_one
from tests.decode.evidence import (
    ASSUMPTIONS,
    COSTS,
    FIGURES,
    GPUS,
    KERNELS,
    LLAMA_ONLY,
    MEASURED,
    MEGAKERNEL,
    workload,
)

PAGE = (Path(__file__).parents[2] / "docs/MODEL.md").read_text(encoding="utf-8")
JOB = Job(LLAMA_ONLY, "llama_3_2_1b", "fused")


def row(first_cell):
    (line,) = re.findall(rf"^\| {re.escape(first_cell)} \|(.*)\|$", PAGE, re.MULTILINE)
    return [cell.strip() for cell in line.split("|")]


@pytest.fixture(scope="module")
def compared():
    return compare(Known(MEASURED, GPUS, COSTS, workload(), KERNELS, MEGAKERNEL, ASSUMPTIONS))


@pytest.mark.parametrize(
    ("first_cell", "shapes", "model"),
    [
        ("straight line per GPU, 22 products of at least 8 MB", "large", "straight_line"),
        ("this model, the same 22", "large", "physical"),
        ("straight line per GPU, all 26", "all", "straight_line"),
        ("this model, all 26", "all", "physical"),
    ],
)
def test_page__quotes_the_errors(compared, first_cell, shapes, model):
    errors = compared.gemv_mape.sel(shapes=shapes, gemv_model=model).mean("gemv_gpu")
    quoted = ["cannot" if error != error else f"{error:.1%}" for error in errors.values.tolist()]
    assert [cell.replace(" %", "%") for cell in row(first_cell)] == quoted


def test_page__quotes_the_parts_of_the_step_on_b200():
    figures = FIGURES.sel(gpu="b200")
    means = {name: 1e6 * time for name, time in activity_means(JOB, figures).items()}
    assert row("B200, step")[0] == f"{1e6 * simulate_one(JOB, figures):.0f} µs"
    waiting = means["counter"] + means["inputs"]
    assert row("activations and counters")[0] == f"{waiting:.0f} µs"
    loading = means["weights"] + means["keys_values"]
    assert row("waiting for weights")[0] == f"{loading:.0f} µs"
    rest = sum(means[name] for name in ("norm", "multiply", "setup", "sync"))
    assert row("norms and products, set-up, barriers")[0] == f"{rest:.0f} µs"


def test_page__quotes_the_steps(compared):
    h100 = FIGURES.sel(gpu="h100_sxm")
    kernels = float(kernels_time(LLAMA_ONLY.step("llama_3_2_1b", "kernels7"), h100))
    megakernel = simulate_one(JOB, h100)
    assert row("H100, step")[0] == f"{1e6 * megakernel:.0f} µs"
    ratio = row("H100, seven kernels per layer over megakernel")[0]
    assert ratio == f"{kernels / megakernel:.2f}"
    predicted = compared.predicted.sel(decode_model="instruction").to_series()
    name = "h100_sxm llama_3_2_1b bf16 1 sum of stock kernels (vLLM libs) graph"
    whole = predicted[f"{name} sum_of_kernel_times above"]
    assert row("H100, stock GEMVs, head and attention")[0] == f"{1e6 * whole:,.0f} µs"
    rates = [predicted[one] for one in predicted.index if "step_rate" in one]
    assert row("A100 80 GB, Llama-3.1-8B bf16")[0] == f"{rates[0]:.1f} per second"
    assert row("A100 80 GB, Llama-3.1-8B int8")[0] == f"{rates[1]:.0f} per second"
    times = [1e3 * predicted[one] for one in predicted.index if "qwen3_8b" in one]
    quoted = row("A100 40 GB, Qwen3-8B, kernels; megakernel")[0]
    assert quoted == f"{times[1]:.1f}; {times[0]:.1f} ms"


def test_page__quotes_kernels_on_b200():
    step = LLAMA_ONLY.step("llama_3_2_1b", "kernels7")
    time = float(kernels_time(step, FIGURES.sel(gpu="b200")))
    assert f"is predicted at {1e6 * time:.0f} µs" in PAGE
