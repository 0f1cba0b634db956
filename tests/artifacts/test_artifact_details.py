from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.artifacts import ladder, style
from pipeline.artifacts.lecture10 import bottlenecks, gpus, occupancy, per_fma
from pipeline.errors import ModelError
from tests.artifacts import fixtures


def test_published__steps_of_the_ladder_then_libraries_at_one_size():
    rates = ladder.published(fixtures.measured(), 4096)
    a6000 = rates[rates["gpu"] == "rtx_a6000"]
    assert a6000["kernel_name"].iloc[[0, -2, -1]].tolist() == [
        "k01 naive", "k10 warptiled", "cuBLAS",
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
    table = bottlenecks.table(fixtures.predictions(), fixtures.measured(), "rtx_a6000", 4096)
    later = table[table["predicted_gflops"].isna()]
    assert later["kernel"].tolist() == ["k09_autotuned", "k10_warptiled", "cublas"]
    assert later["measured_gflops"].notna().all()


def test_gpus__a_source_is_named_once_and_the_longer_form_wins():
    cards = fixtures.gpus()
    cards["clock_hz"].attrs["source_h100_sxm"] = "H100 SXM data sheet, p. 2: boost clock"
    assert gpus.sources(cards, "h100_sxm") == ["H100 SXM data sheet, p. 2: boost clock"]
    assert gpus.sources(cards, "rtx_a6000") == [
        "RTX A6000 data sheet, p. 2", "RTX A6000 data sheet, p. 3",
    ]  # fmt: skip


def test_occupancy__gpus_with_the_same_limits_share_a_curve():
    frame = occupancy.drawn(fixtures.occupancy(), fixtures.gpus())
    assert frame["gpus"].unique().tolist() == ["RTX A6000", "A100 SXM 40 GB, H100 SXM"]


def test_occupancy__marks_lie_on_their_curves():
    frame = occupancy.drawn(fixtures.occupancy(), fixtures.gpus())
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


def test_per_fma__order_of_the_sizes_does_not_matter():
    one, two = (per_fma.table(fixtures.counts(), *sizes) for sizes in ((128, 640), (640, 128)))
    pd.testing.assert_frame_equal(one, two)
