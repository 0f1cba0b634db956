"""What the configuration hands to the workflow: plain values, files, stores."""

import ast
from pathlib import Path

import pytest
import xarray as xr
import yaml
from pydantic import TypeAdapter

from pipeline.artifacts.catalog import CATALOG, OWN, OWN_CUDA
from pipeline.config import artifact_plan, parameters
from pipeline.config.load import load
from pipeline.hardware.gpus import gpus
from pipeline.hardware.occupancy import OCCUPANCY_FIGURES
from pipeline.hardware.sheet import Sheet, load_sheets
from pipeline.hardware.sm_figures import sm_gpus
from pipeline.kernels.launches import launch_facts
from pipeline.kernels.own_kernel import OwnKernel
from pipeline.kernels.registry import KERNELS

CHECKOUT = Path(__file__).resolve().parent.parent
SWEEPS = ("tiles", "warp_tiles", "best_tiles", "best_warp_tiles", "timeline", "timeline_gain")
ARTIFACTS = [
    (f"lecture{number}", artifact) for number, held in CATALOG.items() for artifact in held
] + [("own", artifact) for artifact in OWN | OWN_CUDA]


@pytest.fixture(scope="module")
def config():
    return load(yaml.safe_load((CHECKOUT / "config/config.yaml").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def sheets(config):
    return load_sheets(CHECKOUT / "data/gpus", config.gpus)


def is_plain(value):
    """Whether the value's text says all of it, as Snakemake needs it."""
    return ast.literal_eval(repr(value)) == value


def test_sheet_values__are_plain_and_read_back_without_the_replay(sheets):
    values = parameters.sheet_values(sheets)
    assert is_plain(values)
    again = TypeAdapter(dict[str, Sheet]).validate_python(values)
    assert gpus(again).identical(gpus(sheets))
    assert not any(sheet.replay for sheet in again.values())


def test_replay_values__are_plain_and_read_back_as_the_same_sheets(sheets):
    values = parameters.replay_values(sheets)
    assert is_plain(values)
    again = TypeAdapter(dict[str, Sheet]).validate_python(values)
    assert sm_gpus(again).identical(sm_gpus(sheets))


def test_occupancy_figures__are_plain_and_hold_nothing_else(sheets):
    values = parameters.occupancy_figures(sheets)
    assert is_plain(values)
    figures = xr.Dataset.from_dict(values)
    named = {"gpu", "gpu_name", "compute_capability"}
    assert set(figures.variables) == {*named, *OCCUPANCY_FIGURES}
    expected = gpus(sheets)[list(OCCUPANCY_FIGURES)]
    assert figures.equals(expected)


def test_launch_values__are_plain_and_follow_the_options():
    values = parameters.launch_values({"k03_smem": {"bs": 16}, "k01_naive": {}})
    assert is_plain(values)
    assert list(values) == ["k03_smem", "k01_naive"]
    assert values["k03_smem"]["threads_per_block"] == 256


def test_kernel_module__holds_the_kernel():
    for name, kernel in KERNELS.items():
        assert parameters.kernel_module(name) == f"pipeline.kernels.{kernel.id}"


def test_hazard_variants__keep_the_other_options():
    variants = parameters.hazard_variants({"k03_smem": {"bs": 16, "drop_sync": "none"}})
    assert variants == {
        "k03_smem": {"bs": 16, "drop_sync": "none"},
        "k03_smem_no_first_sync": {"bs": 16, "drop_sync": "first"},
        "k03_smem_no_second_sync": {"bs": 16, "drop_sync": "second"},
    }


def test_hazard_variants__do_not_need_the_kernel_on_the_ladder():
    assert parameters.hazard_variants({})["k03_smem_no_first_sync"] == {"drop_sync": "first"}


@pytest.mark.parametrize(("lecture", "artifact"), ARTIFACTS)
def test_artifact__needs_stores_and_settings_that_there_are(config, lecture, artifact):
    made = {
        f"results/{name}.zarr"
        for name in (
            "block_programs",
            "bank_patterns",
            "claimed_reads",
            "compiled_counts",
            "counters_measured",
            "counts",
            "extrapolation",
            "gpus",
            "gpu_limits",
            "hazards",
            "measured",
            "occupancy",
            "predictions",
            "sm_ablation",
            "sm_gemvs",
            "sm_predictions",
            "sm_spans",
            "sm_tiles",
            "tile_order",
            "validation",
            "tensor_core/fragments",
            "tensor_core/ldmatrix",
            *(f"sweeps/{name}" for name in SWEEPS),
            "decode/compared",
            "decode/ledger",
            "decode/sensitivity",
            "decode/spans",
            "decode/timeline",
            "decode/waves",
            *(f"own/{name}" for name in artifact_plan.OWN_STORES),
            *(f"own/{name}" for name in artifact_plan.CUDA_STORES),
        )
    }
    assert set(artifact_plan.needs(lecture, artifact).values()) <= made
    assert is_plain(artifact_plan.settings(config, lecture, artifact))


@pytest.mark.parametrize("section", ["lecture10", "lecture11", "own"])
@pytest.mark.parametrize(
    ("language", "endings"), [("en", ["."]), ("zh", [".zh."]), ("both", [".", ".zh."])]
)
def test_files__list_every_format_of_every_artifact(config, section, language, endings):
    files = artifact_plan.files(section, config.model_copy(update={"language": language}))
    expected = []
    for artifact in artifact_plan.ids("table", section):
        names = [f"{ending}{suffix}" for ending in endings for suffix in ("md", "html", "tex")]
        expected += [f"tables/{artifact}{name}" for name in (".csv", *names)]
        expected.append(f"words/{artifact}.json")
    for artifact in artifact_plan.ids("figure", section):
        names = [f"{ending}{suffix}" for ending in endings for suffix in ("svg", "png")]
        expected += [f"figures/{artifact}{name}" for name in (".csv", *names)]
        expected.append(f"words/{artifact}.json")
    assert set(files) == {f"results/{section}/{name}" for name in expected}
    assert len(files) == len(set(files))


def test_outputs__say_which_files_a_report_shows_in_which_language(config):
    shown = dict(artifact_plan.outputs("figure", config))
    assert shown["results/{lecture}/figures/{artifact}.svg"] == "en"
    assert shown["results/{lecture}/figures/{artifact}.zh.svg"] == "zh"
    assert shown["results/{lecture}/figures/{artifact}.csv"] == ""
    english = config.model_copy(update={"language": "en"})
    held = {language for _, language in artifact_plan.outputs("table", english)}
    assert held == {"", "en"}


def test_of_kinds__every_artifact_has_one_rule():
    kinds = [("table",), ("figure",), ("table", "figure")]
    found = [artifact for some in kinds for artifact in artifact_plan.of_kinds(*some)]
    assert sorted(found) == sorted(artifact for _, artifact in ARTIFACTS)


def test_files__leave_no_artifact_out():
    shown = {*artifact_plan.ids("table"), *artifact_plan.ids("figure")}
    assert shown == {artifact for _, artifact in ARTIFACTS}


def test_summary__counts_what_is_made():
    assert " tables and " in artifact_plan.summary("lecture10")


def test_own_files__are_stores_checks_and_artifacts(config):
    files = artifact_plan.own_files(config)
    assert "results/own/checks/transpose_naive.txt" in files
    assert "results/own/predictions.zarr" in files
    assert set(artifact_plan.files("own", config, OWN)) < set(files)
    assert "mine" in artifact_plan.own_summary(["mine"])


def test_own_files__without_kernels_are_none(config):
    assert artifact_plan.own_files(config.model_copy(update={"own_kernels": {}})) == []
    assert "names no kernels of your own" in artifact_plan.own_summary([])


def test_own_values__are_plain_and_each_reads_back(config):
    values = parameters.own_kernel_values(config.own_kernels)
    assert is_plain(values)
    assert list(values) == ["transpose_naive", "transpose_tiled", "transpose_padded"]
    padded = TypeAdapter(OwnKernel).validate_python(values["transpose_padded"])
    assert padded.grid(128) == (4, 4)
    assert padded.options == {"pitch": 33}
    assert padded.shape("x", 128) == (128, 128)


def test_own_launch_values__are_plain_and_lack_only_shared_memory(config):
    values = parameters.own_launch_values(config.own_kernels)
    assert is_plain(values)
    facts = set(launch_facts(KERNELS["k01_naive"], KERNELS["k01_naive"].options()))
    assert all(set(one) == facts - {"smem_bytes"} for one in values.values())
    assert [one["kernel_number"] for one in values.values()] == [1, 2, 3]
    assert values["transpose_naive"]["threads_per_block"] == 256


def test_own_values__do_not_hold_what_changes_no_count(config):
    (naive, *_) = parameters.own_kernel_values(config.own_kernels).values()
    assert not {"registers", "label"} & set(naive)
