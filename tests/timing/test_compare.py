"""Predictions against published rates: the tiles that were measured, and honest errors."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.hardware.gpus import gpus as figures
from pipeline.hardware.sheet import load_sheets
from pipeline.measured.kernels import Measurement, sgemm_rates
from pipeline.timing.compare import compare_rates

ROOT = Path(__file__).parents[2]
HEADER = ",".join(Measurement.model_fields)
LECTURE = [f"k0{number}" for number in range(1, 7)]


@pytest.fixture(scope="module")
def cards():
    return figures(load_sheets(ROOT / "data/gpus"))


@pytest.fixture(scope="module")
def compared(cards):
    return compare_rates(sgemm_rates(ROOT / "data/measured/sgemm_ladder.csv"), cards)


def row(kernel, gflops, tiles="", gpu="rtx_a6000", n=256):
    """A published rate; ``tiles`` fills the columns from bm to threads."""
    tiles = tiles or ",,,,,,,,"
    return f"{gpu},{kernel},{n},{tiles},{gflops},a toy report,"


def compare(tmp_path, cards, *rows, **arguments):
    path = tmp_path / "rates.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return compare_rates(sgemm_rates(path), cards, **arguments)


def at(dataset, gpu, kernel):
    found = dataset.sel(model="roofline", measurement=f"{gpu} {kernel} 4096")
    return found[["predicted_gflops", "measured_gflops", "ratio"]].to_array().to_numpy()


def lecture_error(dataset, gpu):
    here = (dataset.gpu == gpu) & dataset.kernel.str.slice(0, 3).isin(LECTURE)
    ratio = dataset.ratio.isel(measurement=here.to_numpy(), model=0)
    assert ratio.size == len(LECTURE)
    return float(abs(ratio - 1).mean())


def test_roofline__is_off_as_far_as_the_lecture_says(compared):
    assert lecture_error(compared, "rtx_a6000") == pytest.approx(0.43, abs=0.01)
    assert lecture_error(compared, "a100_sxm_40gb") == pytest.approx(0.21, abs=0.01)


def test_prediction__of_k01_is_that_of_its_lines(compared, cards):
    card, n = cards.sel(gpu="rtx_a6000"), 4096
    # Per warp and step 32 lines of A and one of B; each warp stores to 32 lines of C.
    lines = n * n // 32 * (33 * n + 32)
    seconds = lines / float(card.sm_count * card.clock_hz)
    predicted, measured, ratio = at(compared, "rtx_a6000", "k01_naive")
    assert predicted == pytest.approx(2 * n**3 / seconds / 1e9, rel=1e-12)
    assert measured == 309.0
    assert ratio == predicted / measured


def test_every_gpu_with_a_sheet_has_errors_over_all_that_is_predicted(compared):
    assert set(compared.validated_gpu.values) == set(compared.gpu.values)
    for gpu in compared.validated_gpu.values:
        ratio = compared.ratio.isel(measurement=(compared.gpu == gpu).to_numpy(), model=0)
        ratio = ratio.dropna("measurement")
        error = compared.mape.sel(validated_gpu=gpu, model="roofline")
        assert float(error) == pytest.approx(float(abs(ratio - 1).mean()))
        assert int(compared.compared.sel(validated_gpu=gpu, model="roofline")) == ratio.size
    assert (compared.rank_correlation > 0.8).all()


def test_libraries__have_no_prediction_and_do_not_count(compared):
    libraries = compared.kernel == "cublas"
    assert int(libraries.sum()) == 4
    assert np.isnan(compared.ratio.isel(measurement=libraries.to_numpy())).all()
    assert set(compared.note.values[libraries]) == {"no kernel of the ladder"}
    assert int(compared.compared.sum()) == compared.sizes["measurement"] - 4


def test_tiles__that_were_measured_are_predicted(compared, cards):
    own = {
        ("a100_sxm_40gb", "k09_autotuned"): "bm: 64, bn: 64, tm: 4, tn: 4",
        ("a100_sxm_40gb", "k10_warptiled"): "bm: 64, wm: 32, wniter: 1, tm: 4",
    }
    tiling = {
        (str(gpu), str(kernel)): str(text)
        for gpu, kernel, text in zip(
            compared.gpu.values, compared.kernel.values, compared.tiling.values, strict=True
        )
        if text
    }
    assert tiling == own


def test_tiles__change_the_prediction(tmp_path, cards):
    tiles = {"": "128,128,16,,,,8,8,256", "small": "64,64,16,,,,4,4,256"}
    rates = [
        float(compare(tmp_path, cards, row("k09_autotuned", 1.0, one)).predicted_gflops.item())
        for one in tiles.values()
    ]
    assert rates[0] != rates[1]


def test_tiles__not_stated_are_those_of_the_ladder(tmp_path, cards):
    result = compare(tmp_path, cards, row("k12_double_buffered_async", 1.0))
    assert str(result.note.item()) == "tiles not stated, those of the ladder are taken"
    assert result.predicted_gflops > 0


@pytest.mark.parametrize(
    ("kernel", "tiles", "n", "note"),
    [
        ("k04_blocktile_1d", "64,64,16,,,,8,1,512", 256, "each thread loads one value"),
        ("k05_blocktile_2d", "128,128,8,,,,8,8,128", 256, "published with threads_per_block = 128"),
        ("k01_naive", "32,16,,,,,1,1,1024", 256, "published with bn = 16"),
        ("k06_vectorized", "128,128,8,,,,8,8,256", 100, "M = 100 must be a positive multiple"),
        ("k77_new", "", 256, "no kernel of the ladder"),
    ],
)
def test_rows__that_are_not_modelled_say_why(tmp_path, cards, kernel, tiles, n, note):
    result = compare(tmp_path, cards, row(kernel, 5.0, tiles, n=n))
    assert note in str(result.note.item())
    assert np.isnan(result.predicted_gflops.item())
    assert result.bound.item() == "none"
    assert result.sizes["validated_gpu"] == 0


def test_errors__are_worked_out_by_hand(tmp_path, cards):
    tiles = {"k01_naive": "32,32,,,,,1,1,1024", "k06_vectorized": "128,128,8,,,,8,8,256"}
    known = {
        kernel: float(compare(tmp_path, cards, row(kernel, 1.0, one)).predicted_gflops.item())
        for kernel, one in tiles.items()
    }
    # One half too fast, one twice too slow; and in the wrong order.
    published = {"k01_naive": 2 * known["k06_vectorized"], "k06_vectorized": 0.1}
    result = compare(
        tmp_path, cards, *(row(kernel, rate, tiles[kernel]) for kernel, rate in published.items())
    )
    expected = np.mean([abs(known[kernel] / published[kernel] - 1) for kernel in tiles])
    assert result.mape.item() == pytest.approx(expected)
    assert result.rank_correlation.item() == pytest.approx(-1)
    assert known["k01_naive"] < known["k06_vectorized"]


def test_sizes__each_row_is_predicted_at_its_own(tmp_path, cards):
    rows = [row("k01_naive", 1.0, n=256), row("k01_naive", 1.0, n=512), row("k02_coalesced", 1.0)]
    together = compare(tmp_path, cards, *rows)
    alone = [float(compare(tmp_path, cards, one).predicted_gflops.item()) for one in rows]
    assert together.predicted_gflops.isel(model=0).values.tolist() == alone


def test_gpus__without_figures_are_left_out(tmp_path, cards):
    rows = [row("k01_naive", 1.0), row("k01_naive", 1.0, gpu="toy_1")]
    result = compare(tmp_path, cards, *rows)
    assert result.gpu.values.tolist() == ["rtx_a6000"]
    empty = compare(tmp_path, cards.sel(gpu=["t4"]), *rows)
    assert empty.sizes == {"measurement": 0, "model": 1, "validated_gpu": 0}


def test_rule__changes_what_shared_memory_takes(tmp_path, cards):
    one = row("k06_vectorized", 1.0, "128,128,8,,,,8,8,256")
    lecture, hardware = (
        compare(tmp_path, cards, one, rule=rule) for rule in ("lecture", "hardware")
    )
    assert hardware.predicted_gflops > lecture.predicted_gflops


def test_result__explains_itself(compared):
    for held in compared.variables.values():
        assert {"units", "long_name"} <= set(held.attrs)
    assert compared.predicted_gflops.dims == ("measurement", "model")
    assert compared.mape.dims == ("validated_gpu", "model")


def test_row_by_row__another_model_is_taken_as_a_store_has_it(tmp_path, cards):
    path = tmp_path / "rates.csv"
    path.write_text("\n".join([HEADER, row("k01_naive", 100.0), row("cublas", 200.0)]) + "\n")
    measured = sgemm_rates(path)
    other = xr.Dataset(
        {
            "predicted_gflops": ("measurement", [np.nan, 50.0]),
            "bound": ("measurement", np.array(["none", "lsu"], np.dtypes.StringDType())),
        },
        # In another order than the measured rows.
        {"measurement": measured["measurement"].to_numpy()[::-1]},
    )
    result = compare_rates(measured, cards, row_by_row={"other": other}).sel(model="other")
    assert result.bound.to_numpy().tolist() == ["lsu", "none"]
    assert result.ratio.to_numpy()[0] == 0.5
    assert int(result["compared"].sel(validated_gpu="rtx_a6000")) == 1
