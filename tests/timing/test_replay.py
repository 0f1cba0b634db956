"""Replays as datasets; the replay itself is another's to test, so a stand-in makes predictions."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from pipeline.compiled.twin import Twin
from pipeline.counting.whole_tiles import WholeTiles
from pipeline.decode.gemv_check import gemvs
from pipeline.hardware.gpus import gpus as sheet_figures
from pipeline.hardware.sheet import load_sheets
from pipeline.hardware.sm_figures import sm_gpus
from pipeline.kernels.launches import twin_values
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import (
    TWINS,
    listings_of,
    program_finder,
    read_programs,
    read_tilings,
    read_twin,
    tilings_of,
)
from pipeline.measured.decode import decode_figures
from pipeline.measured.kernels import sgemm_rates
from pipeline.measured.replay_study import replay_study
from pipeline.published_listings import published_finder, published_listings
from pipeline.timing import replay, replay_gemv, replay_measured, replay_spans, replay_tiles
from pipeline.timing.sm import ablation
from pipeline.timing.sm.mechanisms import ALL, NAMES
from pipeline.timing.sm.result import PIPES, STALLS, Log, Prediction

ROOT = Path(__file__).parents[2]
NAMED = {"rtx_a6000": "sm_86", "a100_sxm_40gb": "sm_80", "h100_sxm": "sm_90", "t4": "sm_75"}
SIZES = (1000, 1024)


@pytest.fixture
def cards():
    return xr.Dataset(
        coords={
            "gpu": list(NAMED),
            "gpu_name": ("gpu", [name.upper() for name in NAMED]),
            "arch": ("gpu", list(NAMED.values())),
        }
    )


class Stand:
    """Predicts by what is asked: a second per block, and stalls by the number of instructions."""

    def __init__(self):
        self.asked = []

    def __call__(self, given, gpu, mechanisms=ALL, window=None, starts=None):
        launch = getattr(given, "launch", given)
        self.asked.append((launch, gpu["gpu"].item(), mechanisms))
        count = len(launch.program.instructions)
        stalls = np.arange(count * len(STALLS), dtype=float).reshape(count, -1)
        slower = 1 + sum(not getattr(mechanisms, name) for name in NAMES)
        return Prediction(
            program=launch.program, gpu=gpu["gpu"].item(), seconds=float(launch.blocks * slower),
            launch_seconds=1e-6, cycles=1e6, clock_hz=1e9, blocks_per_sm=2, waves=3.5,
            instructions=2e6, utilisation={name: 0.1 * (name == "lsu") for name in PIPES},
            warp_cycles=float(stalls.sum()), stalls=stalls, executed=np.arange(count, dtype=float),
            l1_hit_rate=0.5, l2_bytes=1e6, dram_bytes=1e5,
            log=window and log_of(window.cycles, 4, count),
        )  # fmt: skip

    def each(self, given, gpu, every, starts=None):
        return [self(given, gpu, mechanisms) for mechanisms in every]


def log_of(cycles, warps, instructions):
    cycle, warp = np.indices((cycles, warps))
    return Log(
        100,
        ((cycle + warp) // 3 % instructions).astype(np.int32),
        ((cycle + warp) % 3).astype(np.int8),
        np.arange(warps, dtype=np.int32) % 4,
        np.zeros(warps, np.int32),
    )


@pytest.fixture
def stand(monkeypatch):
    one = Stand()
    for module in (replay, replay_gemv, replay_measured, replay_spans, replay_tiles):
        monkeypatch.setattr(module, "predict", one)
    monkeypatch.setattr(ablation, "predict_each", one.each)
    return one


def twin(kernel, **options):
    return Twin(**twin_values(KERNELS[kernel], KERNELS[kernel].options(**options)))


def replays(kernel, cards, archs=("sm_86", "sm_80", "sm_90"), shown=1000):
    programs = [read_twin(kernel, arch) for arch in archs]
    return replay.replay(programs, [twin(kernel), twin("k02_coalesced")], cards, SIZES, shown)


def test_predictions__what_does_not_run_has_no_numbers(stand, cards):
    found = replay.sm_predictions(replays("k05_blocktile_2d", cards))
    assert found["t"].dims == ("kernel", "gpu", "n")
    assert not found["t"].sel(kernel="k02_coalesced").notnull().any()
    ran = found["t"].notnull().sel(kernel="k05_blocktile_2d")
    assert not ran.sel(n=1000).any()
    assert ran.sel(n=1024).to_series().to_dict() == {gpu: gpu != "t4" for gpu in NAMED}
    assert found["utilisation"].dims == (*found["t"].dims, "pipe")
    summed = found["stall_cycles"].sum("stall_reason", skipna=False)
    xr.testing.assert_equal(summed, found["warp_cycles"])


def test_predictions__rate_is_that_of_the_time(stand, cards):
    found = replay.sm_predictions(replays("k01_naive", cards))
    found = found.sel(kernel="k01_naive", gpu="h100_sxm", n=1024)
    assert float(found["t"].item()) == 32 * 32
    assert float(found["gflops"].item()) == pytest.approx(2 * 1024**3 / (32 * 32) / 1e9)


def test_instructions__stalls_are_those_of_the_size_that_the_kernel_takes(stand, cards):
    every = replays("k05_blocktile_2d", cards, archs=("sm_86", "sm_90"))
    ampere, hopper = replay.instruction_stalls(every)
    assert ampere["gpu"].to_numpy().tolist() == ["rtx_a6000"]
    assert int(ampere["n"]) == 1024
    expected = every.every["k05_blocktile_2d", "rtx_a6000", 1024].stalls
    np.testing.assert_array_equal(ampere["stall_cycles"].sel(gpu="rtx_a6000"), expected)
    assert (ampere["source_line"] > 0).any()
    assert hopper.sizes["instruction"] != ampere.sizes["instruction"]


def test_instructions__of_an_architecture_without_gpu_are_listed(stand, cards):
    every = replays("k01_naive", cards.sel(gpu=["h100_sxm"]), archs=["sm_80"])
    (shown,) = replay.instruction_stalls(every)
    assert shown.sizes["gpu"] == 0
    assert shown.sizes["instruction"] > 100


def test_pipes_and_stalls__the_largest_is_named(stand, cards):
    one = replays("k01_naive", cards).every["k01_naive", "h100_sxm", 1000]
    assert replay.busiest_pipe(one) == "lsu"
    assert replay.main_stall(one) == list(STALLS)[-1]


# Spans

logs = st.integers(1, 12).flatmap(
    lambda cycles: st.lists(
        st.lists(
            st.tuples(st.integers(-1, 3), st.integers(0, 2)), min_size=cycles, max_size=cycles
        ),
        min_size=1,
        max_size=5,
    )
)


@given(logs)
def test_spans__say_all_that_the_log_says(warps):
    every = np.array(warps)
    position, state = every[..., 0].astype(np.int32), every[..., 1].astype(np.int8)
    log = Log(0, position.T, state.T, np.arange(len(warps), dtype=np.int32),
              np.zeros(len(warps), np.int32))  # fmt: skip
    rows = replay_spans._rows(log, read_twin("k01_naive", "sm_86"))
    again, states = np.full_like(position, -1), list(STALLS)
    for warp, begin, end, place, what in zip(
        *(rows[name] for name in ("warp", "begin", "end", "span_instruction", "state")), strict=True
    ):
        assert (again[warp, begin:end] == -1).all()
        again[warp, begin:end] = place
        assert (state[warp, begin:end] == states.index(what)).all()
        assert end - begin == 1 or what != "selected"
    np.testing.assert_array_equal(again, position)


def test_spans__of_several_kernels_are_told_apart(stand, cards):
    kernels = ["k01_naive", "k05_blocktile_2d"]
    programs = [read_twin(kernel, "sm_86") for kernel in kernels]
    found = replay_spans.replay_spans(
        programs, [twin(kernel) for kernel in [*kernels, "k02_coalesced"]], cards, "rtx_a6000",
        1000, 100, 30,
    )  # fmt: skip
    assert found["kernel"].to_numpy().tolist() == kernels
    assert found["n"].to_numpy().tolist() == [1000, 1024]
    assert set(found["span_kernel"].to_numpy()) == set(kernels)
    assert found["end"].max() == 30


def test_spans__without_code_there_are_none(stand, cards):
    found = replay_spans.replay_spans([], [twin("k01_naive")], cards, "", 1024, 100, 30)
    assert (found.sizes["span"], found.sizes["kernel"]) == (0, 0)


# Published rates


@pytest.fixture(scope="module")
def measured():
    return sgemm_rates(ROOT / "data/measured/sgemm_ladder.csv")


@pytest.fixture(scope="module")
def find():
    return program_finder(listings_of(["sm_80", "sm_86"]))


@pytest.fixture(scope="module")
def published():
    return published_finder(published_listings(["sm_80", "sm_86"]))


def test_measured__each_with_its_own_tiles(stand, cards, measured, find, published):
    on = [cards.sel(gpu=[gpu]) for gpu in ("rtx_a6000", "h100_sxm", "a100_sxm_40gb")]
    parts = [replay_measured.replay_measured(measured, one, find, published) for one in on]
    found = replay_measured.gather_measured(parts, measured)
    rates = found["predicted_gflops"].to_series()
    known = measured["gpu"].isin(["rtx_a6000", "a100_sxm_40gb"]) & (measured["kernel"] != "cublas")
    assert rates.notna().tolist() == known.to_numpy().tolist()
    assert [one.sizes["measurement"] for one in parts] == [11, 0, 10]
    # 64 x 128 elements of C per block, where the ladder's k10 has 128 x 128.
    assert rates["a100_sxm_40gb k10_warptiled 4096"] == 2 * 4096**3 / (64 * 32) / 1e9
    assert rates["rtx_a6000 k10_warptiled 4096"] == 2 * 4096**3 / (32 * 32) / 1e9
    bound = found["bound"].to_series()
    assert set(bound[rates.notna()]) == {"lsu"}
    assert set(bound[rates.isna()]) == {"none"}


def test_measured__on_no_gpu_that_is_replayed(stand, cards, measured, find, published):
    study = replay_study(ROOT / "data/measured/sm_ablation.csv")
    nothing = measured, cards.isel(gpu=[]), find, published
    rates = replay_measured.gather_measured([replay_measured.replay_measured(*nothing)], measured)
    assert not rates["predicted_gflops"].notnull().any()
    ablation = replay_measured.gather_ablation([replay_measured.ablate(*nothing)], measured, study)
    assert ablation["predicted_gflops"].shape == (1 + len(NAMES), 0)


def test_measured__code_is_that_of_the_rate_where_there_is_some(cards, measured, find, published):
    launches = replay_measured.measured_launches(measured, cards, find, published)
    found = {(one.kernel, one.gpu): one.traced.launch for one in launches.values()}
    own = found["k03_smem", "a100_sxm_40gb"]
    assert own.grid == (128, 128, 1)
    assert len(own.arguments) == 6
    wide = found["k10_warptiled", "a100_sxm_40gb"]
    # 64 x 128 elements of C per block: twice as many down as to the right, which go first.
    assert wide.grid == (32, 64, 1)
    assert len(wide.arguments) == 8
    assert len(found["k11_double_buffered", "rtx_a6000"].arguments) == 6


def test_ablation__leaves_out_each_mechanism_once(stand, cards, measured, find, published):
    few = measured.isel(measurement=(measured["kernel"] == "k03_smem").to_numpy())
    study = replay_study(ROOT / "data/measured/sm_ablation.csv")
    on = [cards.sel(gpu=[gpu]) for gpu in ("rtx_a6000", "a100_sxm_40gb")]
    parts = [replay_measured.ablate(few, one, find, published) for one in on]
    found = replay_measured.gather_ablation(parts, few, study)
    assert found["mechanism"].to_numpy().tolist() == ["none", *NAMES]
    assert found["gpu"].to_numpy().tolist() == ["a100_sxm_40gb", "rtx_a6000"]
    ratio = found["predicted_gflops"] / found["predicted_gflops"].sel(mechanism="none")
    assert ratio.sel(mechanism=list(NAMES)).to_numpy() == pytest.approx(0.5)
    assert float(found["study_error"].sel(mechanism="wavefronts")) == pytest.approx(0.47)


def test_ablation__every_mechanism_of_the_study_is_one_of_ours():
    study = replay_study(ROOT / "data/measured/sm_ablation.csv")
    assert set(study["mechanism"].to_numpy()) <= {"none", *NAMES}


# Tiles and products


@pytest.fixture(scope="module")
def figures():
    return sm_gpus(load_sheets(ROOT / "data/gpus"))


@pytest.fixture(scope="module")
def sheets():
    return sheet_figures(load_sheets(ROOT / "data/gpus"))


def test_tiles__both_models_time_all_that_take_the_size(stand, measured, figures):
    paths = tilings_of("k10_warptiled", "sm_86")[:4]
    found = replay_tiles.replay_tiles(
        read_tilings(paths), figures, measured, "rtx_a6000", 1024, WholeTiles().square
    )
    assert found.sizes["tiling"] == 4
    assert found["measured_here"].to_numpy().tolist() == [True, False, False, False]
    tile = found["bm"] * found["bn"]
    np.testing.assert_allclose(found["replay_gflops"], 2 * 1024 * tile / 1e9)
    assert (found["roofline_gflops"] > 1000).all()


def test_tiles__without_a_gpu_there_are_none(stand, cards, measured):
    found = replay_tiles.replay_tiles([], cards, measured, "", 1024, WholeTiles().square)
    assert found.sizes["tiling"] == 0


def test_gemvs__every_width_that_the_kernel_takes(stand, cards, sheets):
    figures = decode_figures(ROOT / "data/measured/decode.csv")
    programs = read_programs([str(TWINS / "gemv_bf16_sm_90.sass")])
    found = replay_gemv.replay_gemvs(programs, figures, cards)
    assert set(found["gpu"].to_numpy()) == {"h100_sxm"}
    known = gemvs(figures, sheets).frame
    wide = known[(known["gpu"] == "h100_sxm") & (known["row_bytes"] % 512 == 0)]
    assert found["weight_bytes"].to_numpy().tolist() == wide["bytes"].tolist()
    assert found["t"].to_numpy().tolist() == (wide["rows"] / 8).tolist()
