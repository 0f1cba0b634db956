"""Figures for the replay of an SM: in the sheets, and side by side."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import DataError
from pipeline.hardware.sheet import load_sheets
from pipeline.hardware.sm_figures import sm_gpus
from pipeline.vocab.sm_gpus import REPLAY_FIGURES

DATA = Path(__file__).parents[2] / "data"
SHEETS = load_sheets(DATA / "gpus")


def test_sm_gpus__has_every_figure_of_every_gpu_that_runs_compiled_code() -> None:
    found = sm_gpus(SHEETS)
    assert set(found["arch"].to_numpy()) == {
        "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120",
    }  # fmt: skip
    for name in set(REPLAY_FIGURES) - {"power_share"}:
        assert not found[name].isnull().any(), name
        for gpu in found["gpu"].to_numpy().tolist():
            if name in SHEETS[gpu].replay:
                assert " " in found[name].attrs[f"source_{gpu}"]


def test_sm_gpus__a_clock_that_is_not_given_is_that_of_the_sheet() -> None:
    found = sm_gpus(SHEETS).sel(gpu=["a100_sxm_40gb", "rtx_4090"])
    assert found["clock_light"].to_numpy().tolist() == [1.41e9, 2.73e9]
    assert np.isnan(found["power_share"].to_numpy()).tolist() == [True, False]


def test_sm_gpus__short_lists_of_capacities_end_with_their_largest() -> None:
    row = sm_gpus(SHEETS)["smem_configurations"].sel(gpu="t4").to_numpy()
    assert row[:2].tolist() == [32768, 65536]
    assert set(row[2:].tolist()) == {65536}


def test_sm_gpus__sheets_without_figures_are_left_out() -> None:
    found = sm_gpus({name: SHEETS[name] for name in ("v100_sxm2", "t4")})
    assert found["gpu"].to_numpy().tolist() == ["t4"]
    none = sm_gpus({"v100_sxm2": SHEETS["v100_sxm2"]})
    assert none.sizes["gpu"] == 0
    assert set(REPLAY_FIGURES) <= set(none)


def test_sheet__a_replay_figure_in_another_unit_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "gpus"
    folder.mkdir()
    table = (DATA / "compute_capabilities.yaml").read_text()
    (tmp_path / "compute_capabilities.yaml").write_text(table)
    sheet = (DATA / "gpus" / "t4.yaml").read_text()
    assert "unit: cycle" in sheet
    (folder / "t4.yaml").write_text(sheet.replace("unit: cycle", "unit: ns", 1))
    with pytest.raises(DataError, match=r"replay\.l2_latency_near\.unit"):
        load_sheets(folder)
