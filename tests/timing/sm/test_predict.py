"""Predictions of launches: laws, errors against published rates, and what is refused."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.sm_model import NOT_JUDGED, error_table, published_launches
from pipeline.compiled.launch import Space, prepare
from pipeline.counting.compiled_counts import square_product, twin
from pipeline.errors import ModelError
from pipeline.hardware.sheet import load_sheets
from pipeline.hardware.sm_figures import sm_gpus
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import read_twin
from pipeline.timing.sm.ablation import NOTHING, ablation
from pipeline.timing.sm.mechanisms import ALL, NAMES
from pipeline.timing.sm.predict import predict, predict_each
from pipeline.timing.sm.result import PIPES, STALLS, Prediction, Window
from pipeline.timing.sm.traced import Traced

GPUS = sm_gpus(load_sheets(Path("data/gpus")))
# Two blocks of an SM may fall into step or out of it: docs/MODEL.md says how often and how far.
ANOMALY = 0.10
# Shares of bandwidth are whole parts of a cycle.
ROUNDING = 0.001


@cache
def traced(kernel: str, gpu: str, n: int) -> Traced:
    program = read_twin(kernel, str(GPUS["arch"].sel(gpu=gpu).item()))
    return Traced(square_product(program, twin(KERNELS[kernel]), n))


def changed(gpu: str, **factors: float) -> xr.Dataset:
    return GPUS.sel(gpu=gpu).assign(
        {name: GPUS[name].sel(gpu=gpu) * factor for name, factor in factors.items()}
    )


@cache
def predicted(kernel: str, gpu: str, n: int = 1024) -> Prediction:
    return predict(traced(kernel, gpu, n), GPUS.sel(gpu=gpu))


def test_predict__published_rates_are_met() -> None:
    frame = error_table(published_launches(GPUS), GPUS)
    judged = frame[frame["judged"]]
    size = judged["error"].abs()
    assert len(judged) == 38
    assert size.mean() < 0.06
    assert (size.groupby(judged["gpu"]).mean() < 0.08).all()
    assert size.max() < 0.20
    for _, rows in judged.groupby("gpu"):
        assert rows["predicted"].corr(rows["measured"], method="spearman") >= 0.95
    assert not judged["kernel"].isin([name[:3] for name in NOT_JUDGED]).any()


# Laws


@pytest.mark.parametrize(
    ("kernel", "gpu"), [("k02_coalesced", "rtx_a6000"), ("k06_vectorized", "a100_sxm_40gb")]
)
@given(factor=st.floats(1.05, 3))
@settings(max_examples=3, deadline=None)
def test_law__more_bandwidth_or_clock_is_never_slower(kernel: str, gpu: str, factor: float) -> None:
    before = predicted(kernel, gpu).seconds
    for figure in ("dram_bandwidth", "l2_bytes_per_clk", "clock_light"):
        after = predict(traced(kernel, gpu, 1024), changed(gpu, **{figure: factor})).seconds
        assert after <= before * (1 + ROUNDING)


@pytest.mark.parametrize("kernel", ["k02_coalesced", "k03_smem", "k06_vectorized"])
@given(factor=st.floats(0.5, 0.95))
@settings(max_examples=3, deadline=None)
def test_law__lower_latency_is_never_slower(kernel: str, factor: float) -> None:
    gpu = "rtx_a6000"
    names = ("l2_latency_near", "l2_latency_far", "dram_latency")
    after = predict(traced(kernel, gpu, 1024), changed(gpu, **dict.fromkeys(names, factor))).seconds
    assert after <= predicted(kernel, gpu).seconds * (1 + ANOMALY)


@pytest.mark.parametrize("kernel", ["k01_naive", "k05_blocktile_2d", "k12_double_buffered_async"])
def test_law__cycles_by_reason_sum_to_the_total(kernel: str) -> None:
    found = predicted(kernel, "rtx_4090")
    assert sum(found.by_reason.values()) == pytest.approx(found.warp_cycles, rel=1e-12)
    assert found.by_reason["selected"] == pytest.approx(found.instructions)
    assert list(found.by_reason) == list(STALLS)


def test_law__warps_are_resident_as_long_as_their_blocks() -> None:
    # Sixteen blocks of eight warps, one on each of sixteen SMs, in step by their barriers.
    found = predicted("k06_vectorized", "a100_sxm_40gb", 512)
    assert found.waves < 1
    assert found.warp_cycles == pytest.approx(8 * found.cycles, rel=0.02)


def test_law__an_empty_pipe_is_never_utilised() -> None:
    found = predicted("k06_vectorized", "a100_sxm_40gb")
    assert list(found.utilisation) == list(PIPES)
    assert found.utilisation["tensor"] == found.utilisation["fma_lite"] == 0
    assert all(0 <= share <= 1 for share in found.utilisation.values())
    assert predicted("k13_tensor_core", "a100_sxm_40gb").utilisation["tensor"] > 0.05


def test_law__what_warps_do_does_not_depend_on_time() -> None:
    launch = traced("k06_vectorized", "rtx_a6000", 1024)
    slow = predict(launch, changed("rtx_a6000", dram_latency=3.0))
    np.testing.assert_array_equal(slow.executed, predicted("k06_vectorized", "rtx_a6000").executed)
    assert slow.seconds > predicted("k06_vectorized", "rtx_a6000").seconds


# Counts


def test_predict__an_sm_issues_its_share_of_all_instructions() -> None:
    # 64 blocks on 64 SMs: one replayed block does a 64th of the work, left-out turns included.
    found = predicted("k06_vectorized", "a100_sxm_40gb")
    products = 1024**3 / 32 / 64
    program = found.program
    multiply_adds = [one.opcode == "FFMA" for one in program.instructions]
    assert found.executed[multiply_adds].sum() == products


def test_predict__bandwidth_bounds_what_loads_without_end() -> None:
    program = read_twin("k02_coalesced", "sm_86")
    wide = square_product(program, twin(KERNELS["k02_coalesced"]), 2048)
    found = predict(wide, changed("rtx_a6000", dram_bandwidth=0.02))
    assert found.utilisation["dram"] == pytest.approx(1, rel=0.01)
    assert found.dram_bytes / found.seconds == pytest.approx(0.02 * 768e9, rel=0.05)
    assert sum(found.by_reason.values()) == pytest.approx(found.warp_cycles)


def test_predict__a_window_shows_who_issued_what() -> None:
    launch = traced("k06_vectorized", "rtx_a6000", 512)
    log = predict(launch, GPUS.sel(gpu="rtx_a6000"), window=Window(3000, 200)).log
    assert log is not None
    assert log.position.shape == log.state.shape == (200, 8)
    assert log.subcore.tolist() == [0, 1, 2, 3] * 2
    issued = log.state == list(STALLS).index("selected")
    assert issued.any()
    for subcore in range(4):
        assert (issued[:, log.subcore == subcore].sum(axis=1) <= 1).all()


# Sizes and kernels


@pytest.mark.parametrize("n", [512, 768, 8192])
def test_predict__takes_any_size(n: int) -> None:
    found = predict(traced("k06_vectorized", "h100_sxm", n), GPUS.sel(gpu="h100_sxm"))
    assert 0.01 < found.rate(2 * n**3) / 67e12 < 1
    assert found.launch_seconds == pytest.approx(2.1e-6)


def test_predict__takes_ragged_sizes() -> None:
    program = read_twin("k02_coalesced", "sm_86")
    space = [Space(4 * 500 * 500) for _ in range(3)]
    launch = prepare(program, (16, 16), 1024, (*space, 500, 500, 500))
    assert predict(launch, GPUS.sel(gpu="rtx_a6000")).seconds > 1e-5


@pytest.mark.parametrize("gpu", GPUS["gpu"].to_numpy().tolist())
def test_predict__every_gpu_with_figures_runs(gpu: str) -> None:
    found = predict(traced("k04_blocktile_1d", gpu, 1024), GPUS.sel(gpu=gpu))
    assert found.gpu == gpu
    assert 0 < found.ipc < 4


@pytest.mark.parametrize("kernel", ["k11_double_buffered", "k12_double_buffered_async"])
def test_predict__copies_that_nobody_waits_for_are_not_slower(kernel: str) -> None:
    launch = traced(kernel, "rtx_4090", 1024)
    without = predict(launch, GPUS.sel(gpu="rtx_4090"), ALL.without("async_copies"))
    assert without.seconds <= predicted(kernel, "rtx_4090").seconds * (1 + ANOMALY)


# What is refused


def test_predict__refuses_code_for_another_architecture() -> None:
    with pytest.raises(ModelError, match="is compiled for sm_80; rtx_4090 runs sm_89"):
        predict(traced("k01_naive", "a100_sxm_40gb", 512), GPUS.sel(gpu="rtx_4090"))


def test_predict__refuses_what_does_not_fit() -> None:
    launch = traced("k06_vectorized", "rtx_a6000", 512).launch
    wide = prepare(launch.program, launch.grid, launch.block, launch.arguments, 1 << 17)
    with pytest.raises(ModelError, match="no block fits on an SM of rtx_a6000"):
        predict(wide, GPUS.sel(gpu="rtx_a6000"))


# Ablation


def test_ablation__leaving_out_wavefronts_is_worst() -> None:
    some = [one for one in published_launches(GPUS) if one.gpu == "rtx_4090"][:6]
    found = ablation(some, GPUS, ("wavefronts", "launch"))
    assert found["mechanism"].to_numpy().tolist() == [NOTHING, "wavefronts", "launch"]
    mape = found["mape"].to_series()
    assert mape["wavefronts"] > 2 * mape[NOTHING]
    assert mape["launch"] == pytest.approx(mape[NOTHING], abs=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_mechanisms__every_switch_gives_a_time(name: str) -> None:
    launch = traced("k04_blocktile_1d", "rtx_a6000", 512)
    assert predict(launch, GPUS.sel(gpu="rtx_a6000"), ALL.without(name)).seconds > 0


def test_predict_each__is_what_every_prediction_is_alone() -> None:
    # Of the switches some change code, some traces, some rates, and the first replay none.
    settings = [ALL, *(ALL.without(name) for name in ("launch", "scoreboards", "wavefronts", "l1"))]
    launch, gpu = traced("k03_smem", "rtx_a6000", 1024), GPUS.sel(gpu="rtx_a6000")
    for mechanisms, one in zip(settings, predict_each(launch, gpu, settings), strict=True):
        alone = predict(launch, gpu, mechanisms)
        assert (one.seconds, one.utilisation) == (alone.seconds, alone.utilisation)
        np.testing.assert_array_equal(one.stalls, alone.stalls)
