import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from pipeline.decode.gemv import fitted_line, gemv_time
from pipeline.decode.gemv_check import calibrate, gemvs, held_out_errors, lines, published_lines
from tests.decode.evidence import FIGURES, GPUS, MEASURED

H100 = FIGURES.sel(gpu="h100_sxm").drop_vars(["gpu", "gpu_name"])
GEMVS = gemvs(MEASURED, GPUS)
sizes = st.integers(1, 200_000)
gpus = st.sampled_from(FIGURES.gpu.values.tolist())


def test_gemv_time__by_hand():
    # 2048 rows of 4 KiB in H100's two waves of 8 * 132 rows.
    read = 2 * 8 * 132 * 4096 / (0.9 * 0.917 * 3.35e12)
    assert float(gemv_time(2048, 4096, H100)) == pytest.approx(2.6e-6 + 326e-9 + read)


@given(gpus, sizes, st.integers(1, 65_536))
def test_gemv_time__more_rows_and_longer_rows_are_never_faster(gpu, rows, row_bytes):
    figures = FIGURES.sel(gpu=gpu)
    time = float(gemv_time(rows, row_bytes, figures))
    assert float(gemv_time(rows + 1, row_bytes, figures)) >= time
    assert float(gemv_time(rows, row_bytes + 1, figures)) >= time
    assert time >= rows * row_bytes / float(figures.read_bandwidth)
    assert time >= float(figures.smallest_gemv)


@given(gpus, sizes, st.integers(1, 65_536), st.floats(1, 4))
def test_gemv_time__better_figures_are_never_slower(gpu, rows, row_bytes, factor):
    figures = FIGURES.sel(gpu=gpu)
    time = float(gemv_time(rows, row_bytes, figures)) * (1 + 1e-12)
    for name, by in (("read_bandwidth", factor), ("dram_latency", 1 / factor)):
        better = figures.assign({name: figures[name] * by})
        assert float(gemv_time(rows, row_bytes, better)) <= time


def test_gemv_time__takes_arrays_of_any_dimension():
    rows = xr.DataArray([1024, 4096], dims="rows")
    assert gemv_time(rows, 4096, FIGURES).sizes == {"gpu": 12, "rows": 2}


def test_gemv_time__is_as_close_to_measurements_as_documented():
    frame = GEMVS.frame
    figures = FIGURES[["sm_count", "smallest_gemv", "dram_latency", "read_bandwidth", "gemv_reach"]]
    at = figures.sel(gpu=xr.DataArray(frame["gpu"].to_list(), dims="m"))
    rows, row_bytes = (xr.DataArray(frame[n].to_numpy(), dims="m") for n in ("rows", "row_bytes"))
    error = abs(gemv_time(rows, row_bytes, at).values / frame["measured"] - 1)
    assert len(frame) == 26
    assert error.mean() < 0.056
    assert error.max() < 0.19


def test_calibrate__gives_the_reach_that_stands_in_the_table():
    assert calibrate(GEMVS, FIGURES) == pytest.approx(float(FIGURES.gemv_reach[0]), abs=0.005)


def test_fitted_line__finds_a_line():
    line = fitted_line([1e6, 2e6, 5e6], [3e-6 + b / 2e12 for b in (1e6, 2e6, 5e6)])
    assert line.intercept == pytest.approx(3e-6)
    assert line.per_byte == pytest.approx(1 / 2e12)


def test_lines__and_published_ones_are_alike():
    found, published = lines(GEMVS, 8e6), published_lines(MEASURED)
    assert {gpu: len(many) for gpu, many in published.items()} == {
        "a100_sxm_80gb": 1,
        "h100_sxm": 3,
    }
    for gpu, many in published.items():
        for line in many:
            assert found[gpu].per_byte == pytest.approx(line.per_byte, rel=0.1)
            assert found[gpu].intercept == pytest.approx(line.intercept, rel=0.3)


def test_held_out_errors__physical_model_beats_a_line_on_what_neither_has_seen():
    errors = held_out_errors(GEMVS, float(FIGURES.gemv_reach[0])).gemv_mape
    line, physical = (errors.sel(gemv_model=name) for name in ("straight_line", "physical"))
    assert (physical.sel(held_out="shape") < line.sel(held_out="shape")).all()
    assert float(physical.sel(held_out="gpu").max()) < 0.075
    assert line.sel(held_out="gpu").isnull().all()
    assert (physical.sel(shapes="all", held_out="nothing") < 0.06).all()


def test_held_out_errors__one_gpu_alone_cannot_stand_for_itself():
    alone = gemvs(MEASURED, GPUS.sel(gpu=["h100_sxm"]))
    errors = held_out_errors(alone, 0.9).gemv_mape
    assert errors.sel(held_out="gpu").isnull().all()
    assert errors.sel(held_out="shape").notnull().all()
    assert np.isfinite(errors.sel(held_out="nothing")).all()
