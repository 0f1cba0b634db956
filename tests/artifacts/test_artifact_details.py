from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from pipeline.artifacts import ladder, style
from pipeline.artifacts.lecture10 import (
    across_gpus,
    bottlenecks,
    counters,
    counters_measured,
    gpus,
    occupancy,
    per_fma,
    roofline,
    validation,
)
from pipeline.artifacts.lecture11 import gemv_replay
from pipeline.counting.nsight import METRICS
from pipeline.errors import ModelError
from pipeline.words import english
from tests.artifacts import fixtures
from tests.artifacts.stores import STORES

CARDS = list(fixtures.CARDS.values())


def test_published__steps_of_the_ladder_then_libraries_at_one_size():
    rates = ladder.published(fixtures.measured(), 4096)
    a6000 = rates[rates["gpu"] == "rtx_a6000"]
    assert a6000["kernel_name"].iloc[[0, -2, -1]].tolist() == [
        "k01 naive", "k11 double buffered", "cuBLAS",
    ]  # fmt: skip
    assert a6000["measured_gflops"].iloc[0] == 309.0
    assert len(a6000) == len(fixtures.PUBLISHED)


def test_mean_absolute_error__counts_only_what_was_measured():
    assert ladder.mean_absolute_error(pd.Series([0.5, 1.25, float("nan")])) == 0.375


@given(st.lists(st.floats(-100, 100), max_size=12), st.floats(0.1, 10))
def test_spread__keeps_order_and_distance(positions, gap):
    placed = style.spread(positions, gap)
    in_order = [placed[i] for i in sorted(range(len(positions)), key=positions.__getitem__)]
    assert all(b - a >= gap * (1 - 1e-9) for a, b in pairwise(in_order))


@given(st.lists(st.integers(0, 1000), unique=True, max_size=12))
def test_spread__leaves_alone_what_is_far_enough_apart(positions):
    assert style.spread(positions, 1.0) == positions


def test_bottlenecks__says_no_when_nothing_fits():
    predictions = fixtures.predictions()
    predictions["gflops"] = predictions.gflops.where(predictions.gpu != "rtx_a6000")
    with pytest.raises(ModelError, match="no block of any kernel fits on an SM of rtx_a6000"):
        bottlenecks.table(predictions, fixtures.measured(), "rtx_a6000", 4096)


def test_bottlenecks__rows_beyond_the_ladder_are_published_only():
    first = fixtures.predictions().isel(kernel=slice(8))
    table = bottlenecks.table(first, fixtures.measured(), "rtx_a6000", 4096)
    later = table[table["predicted_gflops"].isna()]
    assert later["kernel"].tolist() == [
        "k09_autotuned", "k10_warptiled", "k11_double_buffered", "cublas",
    ]  # fmt: skip
    assert later["measured_gflops"].notna().all()


def test_gpus__a_source_is_named_once_and_the_longer_form_wins():
    cards = fixtures.gpus()
    cards["clock_hz"].attrs["source_h100_sxm"] = "H100 SXM data sheet, p. 2: boost clock"
    assert gpus.sources(cards, "h100_sxm") == ["H100 SXM data sheet, p. 2: boost clock"]
    assert gpus.sources(cards, "rtx_a6000") == [
        "RTX A6000 data sheet, p. 2", "RTX A6000 data sheet, p. 3",
    ]  # fmt: skip


def test_occupancy__gpus_with_the_same_limits_share_a_curve():
    frame = occupancy.drawn(fixtures.occupancy(), fixtures.gpus(), list(fixtures.CARDS))
    assert frame["gpus"].unique().tolist() == ["RTX A6000", "A100 SXM 40 GB, H100 SXM"]


def test_occupancy__marks_lie_on_their_curves():
    frame = occupancy.drawn(fixtures.occupancy(), fixtures.gpus(), list(fixtures.CARDS))
    keys = ["gpus", "threads_per_block", "registers_per_thread"]
    curves = frame[frame["kernel"].isna()].set_index(keys)["occupancy"]
    for _, mark in frame.dropna(subset="kernel").iterrows():
        assert curves[tuple(mark[keys])] == mark["occupancy"]


def test_per_fma__splits_a_count_into_what_stays_and_what_falls():
    counts = fixtures.counts()
    counts["warp_instr"] = 3 * counts.n**3 + 128 * counts.n**2 + 0 * counts.fma
    table = per_fma.table(counts, 128, 256).set_index(["kernel", "counter"])
    row = table.loc[("k01_naive", "warp_instr")]
    assert row["behaviour"] == "both"
    assert row["falling_share"] == pytest.approx(0.25)
    assert table.loc[("k01_naive", "gld_lines"), "behaviour"] == "stays"
    assert table.loc[("k01_naive", "gst_lines"), "behaviour"] == "falls as 1/n"


def test_taken__the_size_itself_or_the_next_one_or_the_largest():
    simulated = fixtures.counts().simulated
    first, last = ("k01_naive", "k11_double_buffered")
    expected = {128: (128, 256), 384: (384, 512), 640: (640, 768), 1152: (1280, 1280)}
    for n, sizes in expected.items():
        taken = ladder.taken(simulated, n)
        assert (int(taken.sel(kernel=first)), int(taken.sel(kernel=last))) == sizes
    assert int(ladder.taken(simulated, 4096).sel(kernel=first)) == 1280


def test_taken__leaves_out_what_was_simulated_nowhere():
    simulated = fixtures.counts().simulated
    simulated.loc["k02_coalesced"] = False
    assert "k02_coalesced" not in ladder.taken(simulated, 128).kernel


def test_with_exceptions__names_the_kernels_with_another_size():
    sizes = ladder.taken(fixtures.counts().simulated, 128)
    assert ladder.with_exceptions(128, sizes, english) == "128 (256 for k11)"
    assert ladder.with_exceptions(128, sizes.sel(kernel=["k01_naive"]), english) == "128"


def test_tags__short_runs_are_written_out():
    assert ladder.tags(["k01_naive", "k02_coalesced"], english) == "k01, k02"
    assert (
        ladder.tags(["k09_autotuned", "k10_warptiled", "k11_double_buffered"], english)
        == "k09 to k11"
    )
    assert ladder.tags(["transpose", "k01_naive", "k01_naive"], english) == "transpose, k01"


def test_counters__every_kernel_is_shown_at_a_size_that_it_takes():
    table = counters.table(fixtures.counts(), 128).set_index("kernel")
    assert list(table.index) == list(fixtures.LADDER)
    assert table.loc["k11_double_buffered", "n"] == 256
    assert table.loc["k11_double_buffered", "fma"] == 256**3


def test_per_fma__a_kernel_without_the_sizes_is_compared_at_its_next_ones():
    table = per_fma.table(fixtures.counts(), 128, 256).set_index("kernel")
    sizes = table[["n_small", "n_second"]].drop_duplicates()
    assert sizes.loc["k11_double_buffered"].tolist() == [256, 512]
    assert (sizes.drop("k11_double_buffered") == [128, 256]).all(axis=None)


def test_per_fma__a_kernel_with_one_size_is_left_out():
    counts = fixtures.counts()
    for name in counts:
        counts[name].loc[{"kernel": "k03_smem", "n": counts.n[1:]}] = 0
    assert "k03_smem" not in set(per_fma.table(counts, 128, 256)["kernel"])


def test_validation__sums_up_after_every_gpu():
    held, cards = fixtures.validation(), fixtures.gpus()
    table = validation.table(held, cards, english)
    sums = table[table["mean_error"].notna()]
    assert sums["kernel_name"].tolist() == ["k01 to k06", "all"] * 3
    assert sums["gpu_name"].drop_duplicates().tolist() == [card[0] for card in CARDS]
    lecture = table[(table["gpu"] == "rtx_a6000") & table["kernel"].str.match("k0[1-6]")]
    assert sums["mean_error"].iloc[0] == pytest.approx(lecture["error"].abs().mean())
    assert sums["mean_error"].iloc[1] == float(
        held.mape.sel(validated_gpu="rtx_a6000", model="roofline")
    )
    replayed = held.mape.sel(validated_gpu="rtx_a6000", model="sm_replay")
    assert sums["replay_mean_error"].iloc[1] == float(replayed)


def test_validation__every_kernel_of_the_ladder_has_a_reason():
    table = validation.table(fixtures.validation(), fixtures.gpus(), english)
    compared = table[table["ratio"].notna()]
    assert (compared["left_out"].str.len() > 20).all()
    assert {kernel[:3] for kernel in fixtures.LADDER} == set(validation.LEFT_OUT)


def test_validation__says_plainly_how_far_off_it_is():
    facts = validation.facts(fixtures.validation(), fixtures.gpus(), "rtx_a6000", english)
    assert facts["plainly"].startswith("On RTX A6000 the roofline is off by 43.6% on average over")
    other = validation.facts(
        fixtures.validation(), fixtures.gpus().sel(gpu=["h100_sxm"]), "h100_sxm", english
    )
    assert "RTX" not in other["by_gpu"]


def test_across_gpus__a_kernel_that_does_not_run_is_named_and_has_its_column():
    stores = fixtures.predictions(), fixtures.gpus(), fixtures.measured()
    stores[0]["gflops"].loc["k13_tensor_core", "a100_sxm_40gb"] = np.nan
    facts = across_gpus.facts(*stores, 4096, english)
    assert facts["remarks"].startswith("k13 tensor cores does not run on A100 SXM 40 GB. ")
    assert {facts["lowest_gpu"], facts["highest_gpu"]} == {"RTX A6000", "H100 SXM"}
    figure = Figure()
    across_gpus.draw(across_gpus.drawn(*stores, 4096), figure, english)
    for axes in figure.axes:
        marked = [text.get_text() for text in axes.texts]
        assert marked == ["does not run"] * (axes.get_title() == "A100 SXM 40 GB")
        assert axes.get_xlim()[1] > len(fixtures.LADDER) - 1


def test_across_gpus__shares_are_of_the_peak_that_a_kernel_uses():
    table = across_gpus.table(fixtures.predictions(), fixtures.gpus(), fixtures.measured(), 4096)
    tensor = table["kernel"] == "k13_tensor_core"
    peak = table["tensor_gflops"].where(tensor, table["peak_gflops"])
    assert (table["share_of_peak"] == table["predicted_gflops"] / peak).all()
    first = fixtures.predictions().isel(kernel=slice(12))
    facts = across_gpus.facts(first, fixtures.gpus(), fixtures.measured(), 4096, english)
    assert facts["peak"] == "FP32"
    assert "does not run" not in facts["remarks"]


def test_roofline__the_tensor_roof_is_there_for_kernels_that_use_it():
    others = fixtures.gpus(), fixtures.measured(), 4096, fixtures.PARAMETERS["shown_gpus"]
    for last, roofs in ((13, {"FP32", "tensor"}), (12, {"FP32"})):
        predictions = fixtures.predictions().isel(kernel=slice(last))
        drawn = roofline.drawn(predictions, *others)
        assert set(drawn.loc[drawn["kernel"].isna(), "roof"]) == roofs
        assert ("k13" in roofline.facts(predictions, *others, english)["on_tensor_cores"]) == (
            last == 13
        )


def test_counters_measured__orders_metrics_as_they_are_explained():
    table = counters_measured.table(fixtures.counters_measured(), english)
    first = table[table["kernel"] == "k03_smem"]["metric"].tolist()
    assert [metric for metric in METRICS if metric in first] == first


def test_per_fma__order_of_the_sizes_does_not_matter():
    one, two = (per_fma.table(fixtures.counts(), *sizes) for sizes in ((128, 640), (640, 128)))
    pd.testing.assert_frame_equal(one, two)


def test_gemv_replay__marks_of_a_slower_gpu_are_in_its_panel():
    frame = gemv_replay.drawn(STORES["sm_gemvs"](), STORES["decode/compared"](), fixtures.gpus())
    times = [name for name in frame if name.endswith("_t") or name == "measured"]
    slower = frame.assign(gpu_name="slower", **{name: 10 * frame[name] for name in times})
    figure = Figure(layout="constrained")
    gemv_replay.draw(pd.concat([frame, slower]), figure, english)
    for axes in figure.axes:
        assert axes.get_ylim()[1] > 1e6 * slower["measured"].max()
