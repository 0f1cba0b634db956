"""The dataset of GPUs."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline import store
from pipeline.hardware.gpus import gpus
from pipeline.hardware.sheet import load_sheets
from pipeline.vocab.gpus import FIGURES, GPUS, LAUNCH_FIGURES

DATA = Path(__file__).parents[2] / "data"
IDS = ["rtx_a6000", "a100_sxm_40gb", "h100_sxm"]


@pytest.fixture(scope="module")
def dataset() -> xr.Dataset:
    return gpus(load_sheets(DATA / "gpus", IDS))


def test_gpus__holds_every_figure_over_gpu_in_the_order_given(dataset: xr.Dataset) -> None:
    assert list(dataset.data_vars) == [*FIGURES, *LAUNCH_FIGURES, "peak_fp32_flops"]
    assert set(dataset.coords) == {"gpu", "gpu_name", "compute_capability"}
    assert dict(dataset.sizes) == {"gpu": 3}
    assert dataset["gpu"].values.tolist() == IDS
    assert dataset["gpu_name"].sel(gpu="rtx_a6000").item() == "RTX A6000"
    assert dataset["compute_capability"].values.tolist() == ["8.6", "8.0", "9.0"]


def test_gpus__peak_counts_a_multiply_add_as_two(dataset: xr.Dataset) -> None:
    peak = dataset["peak_fp32_flops"]
    np.testing.assert_allclose(peak / 1e12, [38.7072, 19.49184, 66.908160], rtol=1e-12)


@pytest.mark.parametrize("gpu", sorted(path.stem for path in (DATA / "gpus").glob("*.yaml")))
def test_gpus__the_tensor_peak_is_a_power_of_two_of_multiply_adds_per_clock(gpu: str) -> None:
    one = gpus(load_sheets(DATA / "gpus", [gpu])).isel(gpu=0)
    per_clock = one["peak_tensor_fp16_flops"] / (2 * one["sm_count"] * one["clock_hz"])
    steps = np.log2(float(per_clock))
    # Tensor clocks are up to a tenth lower than those of the sheet.
    assert abs(steps - round(steps)) < 0.16, float(per_clock)


def test_gpus__counts_are_integers_and_rates_are_not(dataset: xr.Dataset) -> None:
    rates = {"clock_hz", "dram_bandwidth", "peak_fp32_flops", "peak_tensor_fp16_flops"}
    rates |= {"issue_per_clk", "l1_lines_per_clk", "smem_wavefronts_per_clk", *LAUNCH_FIGURES}
    for name, variable in dataset.data_vars.items():
        assert variable.dtype == (np.float64 if name in rates else np.int64), name


def test_gpus__every_variable_says_unit_meaning_and_sources(dataset: xr.Dataset) -> None:
    sheets = load_sheets(DATA / "gpus", IDS)
    for name, variable in dataset.variables.items():
        assert variable.attrs["units"] == GPUS[str(name)].units
        assert variable.attrs["long_name"] == GPUS[str(name)].long_name
    for name in FIGURES:
        for key in IDS:
            assert dataset[name].attrs[f"source_{key}"] == sheets[key].figures[name].source


def test_gpus__figures_of_the_capability_follow_the_gpu(dataset: xr.Dataset) -> None:
    assert dataset["max_warps_per_sm"].values.tolist() == [48, 64, 64]
    assert dataset["smem_per_sm"].values.tolist() == [100 * 1024, 164 * 1024, 228 * 1024]
    assert dataset["l2_bytes"].values.tolist() == [6 * 2**20, 40 * 2**20, 50 * 2**20]


def test_gpus__what_a_sheet_leaves_out_is_missing_and_has_no_source(dataset: xr.Dataset) -> None:
    launch = dataset["launch_stream"]
    assert launch.isnull().values.tolist() == [True, True, False]
    assert launch.sel(gpu="h100_sxm").item() == 2.1e-6
    assert [key for key in launch.attrs if key.startswith("source_")] == ["source_h100_sxm"]


def test_gpus__round_trips_through_a_store(dataset: xr.Dataset, tmp_path: Path) -> None:
    store.write(dataset, tmp_path / "gpus.zarr")
    read = xr.open_zarr(tmp_path / "gpus.zarr").load()
    xr.testing.assert_equal(read, dataset)
    assert read["dram_bandwidth"].attrs == dataset["dram_bandwidth"].attrs
    assert read["sm_count"].sel(gpu="h100_sxm").item() == 132


def test_gpus__without_a_sheet_there_are_none() -> None:
    found = gpus({})
    assert set(found.dims) == {"gpu"}
    assert found.sizes["gpu"] == 0
