"""Predictions from machine code: each GPU its own code, real registers, validation beside."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.counting.compiled_counts import (
    compiled_counts,
    counted_at,
    instructions_of,
    twin,
)
from pipeline.hardware.gpus import gpus as figures
from pipeline.hardware.sheet import load_sheets
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import read_twin
from pipeline.measured.kernels import sgemm_rates
from pipeline.timing.compare import COMPILED, MODEL, compare_rates
from pipeline.timing.compiled import METHOD, predict_compiled, predict_launches, runs_on

NAMES, ARCHS, SIZES = ("k03_smem", "k06_vectorized"), ("sm_80", "sm_86"), (100, 4096)
CARDS = ("rtx_a6000", "v100_sxm2", "a100_sxm_40gb")


def counted(name, archs, sizes):
    return counted_at([read_twin(name, arch) for arch in archs], twin(KERNELS[name]), sizes)


@pytest.fixture(scope="module")
def counts():
    parts = [
        compiled_counts(counted(name, ARCHS, SIZES), twin(KERNELS[name]), SIZES) for name in NAMES
    ]
    return xr.concat(parts, "kernel")


@pytest.fixture(scope="module")
def cards():
    return figures(load_sheets(Path("data/gpus"), CARDS))


@pytest.fixture(scope="module")
def predicted(counts, cards):
    return predict_compiled(counts, cards)


def test_counts__sizes_that_a_kernel_does_not_take_are_marked(counts):
    assert not counts.simulated.sel(n=100).any()
    assert int(counts.warp_instr.sel(n=100).sum()) == 0
    whole = counts.sel(n=4096)
    assert (whole["instructions"].sum("opcode_class") == whole["warp_instr"]).all()
    assert int(whole.fma.sel(kernel="k03_smem", arch="sm_80")) == 4096**3


def test_counts__registers_are_those_of_the_listing(counts):
    for name in NAMES:
        for arch in ARCHS:
            registers = counts.registers.sel(kernel=name, arch=arch).item()
            assert registers == read_twin(name, arch).facts.registers


def test_instructions__add_up_to_the_counters(counts):
    (shown,) = instructions_of(counted("k03_smem", ["sm_86"], [4096]), 4096)
    there = counts.sel(kernel="k03_smem", arch="sm_86", n=4096)
    loads = shown.opcode_class == "load_shared"
    assert int(shown.executed.sum()) == int(there.warp_instr)
    assert int(shown.wavefronts.where(loads, 0).sum()) == int(there.lds_wavefronts)
    assert shown.source_file.values[0] == "k03_smem.cu"
    public = ("address", "text", "source_line", "executed", "requests", "sectors", "lines")
    assert {*public, "wavefronts", "ideal_wavefronts"} <= set(shown.data_vars)


def test_predict__gives_every_gpu_the_code_of_its_architecture(predicted, counts, cards):
    assert predicted.gpu.values.tolist() == ["rtx_a6000", "a100_sxm_40gb"]
    assert predicted.arch.values.tolist() == ["sm_86", "sm_80"]
    here = predicted.sel(kernel="k06_vectorized", gpu="rtx_a6000", n=4096)
    there = counts.sel(kernel="k06_vectorized", arch="sm_86", n=4096)
    card = cards.sel(gpu="rtx_a6000")
    rate = float(card.sm_count * card.issue_per_clk * card.clock_hz)
    assert float(here.t_issue) == pytest.approx(int(there.warp_instr) / rate)
    assert int(here.registers_per_thread) == int(there.registers)
    assert np.isnan(predicted.sel(n=100).t).all()


def test_predict__without_code_for_any_gpu_there_are_none(counts, cards):
    volta = figures(load_sheets(Path("data/gpus"), ["v100_sxm2"]))
    found = predict_compiled(counts, volta)
    assert found.sizes["gpu"] == 0
    assert set(found.data_vars) == set(predict_compiled(counts, cards).data_vars)


def test_validation__shows_both_sources(predicted, cards):
    rates = sgemm_rates(Path("data/measured/sgemm_ladder.csv"))
    alone = compare_rates(rates, cards)
    both = compare_rates(rates, cards, others={COMPILED: predicted})
    assert both.model.values.tolist() == [MODEL, COMPILED]
    xr.testing.assert_identical(both.sel(model=[MODEL]).mape, alone.mape)
    row = both.sel(measurement="rtx_a6000 k03_smem 4096", model=COMPILED)
    wanted = predicted.gflops.sel(gpu="rtx_a6000", kernel="k03_smem", n=4096)
    assert float(row.predicted_gflops) == float(wanted)
    tiled = both.sel(measurement="rtx_a6000 k10_warptiled 4096", model=COMPILED)
    assert np.isnan(tiled.predicted_gflops)
    assert int(both.compared.sel(validated_gpu="rtx_a6000", model=COMPILED)) == 2


@pytest.mark.parametrize(
    ("capability", "archs", "chosen"),
    [
        ("8.9", ["sm_80", "sm_86", "sm_90"], "sm_86"),
        ("8.6", ["sm_89"], ""),
        ("9.0", ["sm_89"], ""),
        ("12.0", ["sm_120", "sm_90"], "sm_120"),
        ("7.0", ["sm_75"], ""),
    ],
)
def test_runs_on__code_of_the_same_major_number_and_no_later(capability, archs, chosen):
    assert runs_on(capability, archs) == chosen


def test_predict_launches__each_gpu_runs_the_code_that_fits_it(counts, cards):
    """A product of the ladder, with the traffic that it has there, is predicted as it is there."""
    n = 4096
    launches = counts.sel(n=n).drop_vars(["n", "simulated"]).drop_attrs()
    traffic = predict_compiled(counts, cards)["dram_bytes"].sel(n=n, gpu="a100_sxm_40gb")
    launches = launches.assign(
        compulsory_bytes=(("kernel", "arch"), np.stack([traffic.values] * 2, 1).astype(np.int64)),
        counted=(("kernel", "arch"), [[True, False], [True, True]]),
        failure=(("kernel", "arch"), [[""] * 2] * 2),
        how=(("kernel", "arch"), [["counted"] * 2] * 2),
    )
    found = predict_launches(launches, cards)
    assert found["arch"].sel(kernel="k03_smem").values.tolist() == ["sm_80", "", "sm_80"]
    assert found["arch"].sel(kernel="k06_vectorized").values.tolist() == ["sm_86", "", "sm_80"]
    known = predict_compiled(counts, cards).sel(n=n, gpu="a100_sxm_40gb")
    one = found.sel({"gpu": "a100_sxm_40gb", "method": METHOD})
    for name in ("t", "t_issue", "t_dram", "bound", "blocks_per_sm", "limited_by"):
        np.testing.assert_array_equal(one[name].values, known[name].values)
    nowhere = found.sel({"gpu": "v100_sxm2", "method": METHOD})
    assert nowhere["t"].isnull().all()
    assert set(nowhere["limited_by"].values.tolist()) == {"code"}
    assert set(nowhere["bound"].values.tolist()) == {"none"}
