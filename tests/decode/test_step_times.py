"""Stores of the decode step, made with the configuration as it is delivered."""

import numpy as np
import pytest

from pipeline import store
from pipeline.decode.execution import gpu_costs
from pipeline.decode.timeline import PARTS
from pipeline.errors import DataError
from pipeline.hardware.sheet import load_sheets
from tests.artifacts import fixtures_decode
from tests.decode.generators import DATA

PUBLIC = {
    "kernels12_stream": (1.594, 627, 46, 194),
    "kernels7_stream": (1.266, 790, 58, 114),
    "kernels7_graphs": (1.175, 851, 63, 114),
    "megakernel_no_prefetch": (0.943, 1060, 78, 81),
    "megakernel_prefetch": (0.845, 1183, 87, 81),
}


@pytest.fixture(scope="module")
def timeline():
    return fixtures_decode.timeline()


def test_timeline__has_the_public_executions_with_the_lecture_values(timeline):
    one = timeline.sel(model="llama_3_2_1b", gpu="h100_sxm")
    for execution, (t, per_second, utilisation, launches) in PUBLIC.items():
        there = one.sel(execution=execution)
        assert round(there["t"].item() * 1e3, 3) == t
        assert round(there["per_second"].item()) == per_second
        assert round(100 * there["bandwidth_utilisation"].item()) == utilisation
        assert there["launches"].item() == launches
    b200 = timeline["t"].sel(model="llama_3_2_1b", gpu="b200")
    assert round(b200.sel(execution="kernels7_graphs").item() * 1e6) == 687
    assert round(b200.sel(execution="megakernel_prefetch").item() * 1e6, 1) == 373.3


def test_timeline__parts_sum_to_the_total_for_every_model_and_gpu(timeline):
    assert timeline["part"].values.tolist() == list(PARTS)
    np.testing.assert_allclose(timeline["part_t"].sum("part"), timeline["t"], rtol=1e-12)
    assert (timeline["part_t"] >= 0).all()


def test_timeline__dimensions_are_the_public_ones(timeline):
    assert timeline["t"].dims == ("model", "gpu", "execution")
    assert timeline["part_t"].dims == ("model", "gpu", "execution", "part")
    assert timeline["gpu"].values.tolist() == list(fixtures_decode.GPUS)


def test_timeline__says_whose_launch_costs_are_paid(timeline):
    shared = timeline.sel(execution="kernels7_graphs")
    assert set(shared["launch_source"].values.tolist()) == {"H100 SXM"}
    own = fixtures_decode.timeline(own=True).sel(execution="kernels7_graphs")
    assert own["launch_source"].values.tolist() == ["H100 SXM", "H100 SXM", "B200"]
    assert own["launch_t"].values.tolist() == [1.3e-6, 1.3e-6, 0.8e-6]
    gained = (shared["t"] - own["t"]).sel(model="llama_3_2_1b", gpu="b200").item()
    assert gained == pytest.approx(114 * 0.5e-6)
    mega = timeline.sel(execution="megakernel_prefetch")
    assert set(mega["launch_source"].values.tolist()) == {""}
    assert (mega["launch_t"] == 0).all()


def test_timeline__survives_a_store(timeline, tmp_path):
    store.write(timeline, tmp_path / "t.zarr")
    again = store.read(tmp_path / "t.zarr")
    assert again["launch_source"].values.tolist() == timeline["launch_source"].values.tolist()
    assert again.sizes == timeline.sizes


def test_gpu_costs__a_reference_without_launch_costs_is_refused():
    sheets = load_sheets(DATA / "gpus", ["t4", "h100_sxm"])
    with pytest.raises(DataError, match=r"decode.launch_gpu: data/gpus/t4.yaml has no launch_st"):
        gpu_costs(sheets, sheets["t4"], own=False)


def test_ledger__is_that_of_the_lecture():
    ledger = fixtures_decode.ledger()
    one = ledger.sel(model="llama_3_2_1b")
    assert one["operation"].values.tolist() == [
        "qkv", "attention", "o", "gate_up", "down", "lm_head",
    ]  # fmt: skip
    assert one["bytes_per_layer"].values.tolist() == [
        12_582_912, 327_680, 8_388_608, 67_108_864, 33_554_432, 525_336_576,
    ]  # fmt: skip
    assert one["blocks"].values.tolist() == [192, 8, 128, 1024, 128, 8016]
    assert one["count"].values.tolist() == [16] * 5 + [1]
    assert one["bytes_total"].sum().item() == 2_476_736_512
    np.testing.assert_allclose(ledger["share"].sum("operation"), 1)


def test_waves__are_those_of_the_lecture():
    waves = fixtures_decode.waves()
    found = {
        case.item(): (
            waves["blocks"].sel(case=case).item(),
            waves["n_sm"].sel(case=case).item(),
            waves["waves"].sel(case=case).item(),
            waves["idle_sms"].sel(case=case).item(),
            f"{waves['sm_utilisation'].sel(case=case).item():.1%}",
        )
        for case in waves["case"]
    }
    assert found == {
        "blocks_512": (512, 148, 4, 80, "86.5%"),
        "qkv": (192, 132, 2, 72, "72.7%"),
        "o": (128, 132, 1, 4, "97.0%"),
        "gate_up": (1024, 132, 8, 32, "97.0%"),
        "down": (128, 132, 1, 4, "97.0%"),
        "lm_head": (8016, 132, 61, 36, "99.6%"),
    }
    full = waves["waves"] * waves["n_sm"]
    assert (waves["blocks"] == full - waves["idle_sms"]).all()


def test_sensitivity__stays_in_the_ranges_of_the_lecture():
    found = fixtures_decode.sensitivity()
    assert found["variant"].values.tolist()[0] == "base"
    mega = found.sel(execution="megakernel_prefetch")
    kernels = found.sel(execution="kernels7_graphs")
    assert (kernels["speedup"] == 1).all()
    assert ((mega["speedup"] >= 1.3) & (mega["speedup"] <= 1.5)).all()
    gain = mega["bandwidth_utilisation"] - kernels["bandwidth_utilisation"]
    assert ((gain >= 0.20) & (gain <= 0.29)).all()


def test_sensitivity__changes_what_the_variant_says_and_nothing_else(timeline):
    found = fixtures_decode.sensitivity()
    base = timeline["t"].sel(model="llama_3_2_1b", gpu="h100_sxm", drop=True)
    np.testing.assert_array_equal(found["t"].sel(variant="base"), base)
    moved = (found["t"] != found["t"].sel(variant="base")).sel(execution="megakernel_prefetch")
    assert moved["variant"].values[moved.values].tolist() == [
        "sync_long", "instr_overhead_long", "eff_low",
    ]  # fmt: skip
    ramp = found.sel(variant="ramp_long")
    assert (ramp["parameter"].item(), ramp["value"].item(), ramp["base_value"].item()) == (
        "ramp", 2e-6, 1e-6,
    )  # fmt: skip
