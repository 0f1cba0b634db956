"""Settings of the decode step: what is accepted, and what is said about everything else."""

import copy
import shutil
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

from pipeline.config import decode_parameters
from pipeline.config import load as config_load
from pipeline.config.load import load
from pipeline.decode.model_sheet import load_models
from pipeline.decode.number_format import NumberFormat
from pipeline.decode.plan_sheet import load_plans
from pipeline.decode.workload import Workload
from pipeline.errors import ConfigError
from tests.test_config_plan import is_plain

ROOT = Path(__file__).resolve().parent.parent
INT4 = {"type": "int4", "group": 128, "scale": "fp16"}


@pytest.fixture(scope="module")
def delivered():
    return yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))


def changed(given, path, value):
    result = copy.deepcopy(given)
    *groups, last = path.split(".")
    inner = result
    for name in groups:
        inner = inner[name]
    inner[last] = value
    return result


def workload(config):
    settings = config.decode
    given = decode_parameters.workload(
        settings,
        load_models(ROOT / "data/models", settings.models),
        load_plans(ROOT / "data/fusion_plans", decode_parameters.plan_ids(settings)),
        settings.models,
        decode_parameters.plan_ids(settings),
    )
    assert is_plain(given)
    return TypeAdapter(Workload).validate_python(given)


def test_workload__takes_the_type_of_each_model_where_it_is_published(delivered):
    models = ["qwen3_8b", "llama_3_2_1b"]
    made = workload(load(changed(delivered, "decode.models", models)))
    assert list(made.models) == models
    assert {one.weights for one in made.formats.values()} == {NumberFormat("bf16")}
    assert list(made.plans) == ["fused", "kernels12", "kernels7"]
    assert made.step("llama_3_2_1b", "fused").bytes == 2_476_736_512


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("fp8", NumberFormat("fp8")),
        ({"type": "int8"}, NumberFormat("int8")),
        (INT4, NumberFormat("int4", 128, "fp16")),
    ],
)
def test_workload__takes_the_format_that_is_given(delivered, value, expected):
    made = workload(load(changed(delivered, "decode.weights", value)))
    assert {one.weights for one in made.formats.values()} == {expected}
    assert {one.lm_head for one in made.formats.values()} == {NumberFormat("bf16")}


def test_load__all_models_are_those_that_have_a_sheet(delivered, tmp_path, monkeypatch):
    for folder in ("models", "gpus", "fusion_plans"):
        shutil.copytree(ROOT / "data" / folder, tmp_path / folder)
    shutil.copy(tmp_path / "models/qwen3_8b.yaml", tmp_path / "models/mine.yaml")
    monkeypatch.setattr(config_load, "DATA", tmp_path)
    there = sorted(path.stem for path in (ROOT / "data/models").iterdir())
    listed = load(changed(delivered, "decode.models", "all")).decode.models
    assert sorted(listed) == sorted([*there, "mine"])


def test_load__false_leaves_an_entry_out(delivered):
    given = changed(delivered, "decode.executions.kernels7_pdl", False)
    given["decode"]["waves"]["blocks_512"] = "false"
    given["decode"]["sensitivity"] = {}
    settings = load(given).decode
    assert "kernels7_pdl" not in settings.executions
    assert not settings.waves
    assert not settings.sensitivity


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("models", ["llama_3_2_1"], "decode.models[0]: given 'llama_3_2_1'; data/models has no"),
        ("models", [], "decode.models: given []; must hold at least 1 entry"),
        ("context", -1, "decode.context: given -1; must be at least 0"),
        ("batch", 0, "decode.batch: given 0; must be at least 1"),
        ("weights", "bf61", "decode.weights.type: given 'bf61'; must be one of fp32, bf16"),
        ("weights", {"type": "int4", "group": 128}, "must have group and scale, or neither"),
        ("weights", INT4 | {"type": "published"}, "must name a type where it has scales"),
        ("weights", INT4 | {"scal": 1}, "decode.weights.scal: unknown key; allowed: type, group"),
        ("ledger_plan", "fuse", "decode.ledger_plan: given 'fuse'; data/fusion_plans has no s"),
        ("launch_gpu", "h100", "decode.launch_gpu: given 'h100'; data/gpus has no sheet of this"),
        ("launch_costs", "mine", "decode.launch_costs: given 'mine'; must be one of 'shared' or"),
        ("timeline.ramp", 1, "decode.timeline.ramp: given 1; must be at most 0.01"),
        ("timeline.eff", 0, "decode.timeline.eff: given 0; must be greater than 0"),
        ("timeline.rmap", 0, "decode.timeline.rmap: unknown key; allowed: ramp, small"),
        ("executions", {}, "decode.executions: given {}; must hold at least 1 entry"),
        ("executions.x-y", {}, "decode.executions: given"),
        ("executions.kernels7_pdl", {"plan": "x"}, "executions.kernels7_pdl.label: is missing"),
        ("executions.kernels7_pdl.plan", "sevn", "kernels7_pdl.plan: given 'sevn'; data/fusion_"),
        ("executions.kernels7_pdl.lunch", 1, "kernels7_pdl.lunch: unknown key; allowed: label"),
        ("executions.kernels7_pdl.launch", "graphs", "must have prefetch: false with launch: gra"),
        ("sensitivity.base", {"parameter": "ramp", "value": 0}, "choose another name"),
        ("sensitivity.x", {"parameter": "rmap", "value": 0}, "did you mean 'ramp'?"),
        ("sensitivity.x", {"parameter": "eff", "value": 2}, "x.value: given 2.0; must be at most"),
        ("sensitivity.x", {"parameter": "eff", "value": 0.9}, "must differ from decode.timeline.e"),
        ("waves.blocks_512.gpu", "b20", "decode.waves.blocks_512.gpu: given 'b20'; must be one of"),
    ],
)
def test_load__a_mistake_is_named_with_its_place(delivered, path, value, said):
    with pytest.raises(ConfigError) as caught:
        load(changed(delivered, f"decode.{path}", value))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("model", "qwen", "lecture11.model: given 'qwen'; must be one of decode.models"),
        ("gpu", "h100", "lecture11.gpu: given 'h100'; must be one of gpus"),
        ("shown_gpus", ["h100"], "lecture11.shown_gpus[0]: given 'h100'; must be one of gpus"),
        ("reference", "seven", "lecture11.reference: given 'seven'; must be one of decode.execu"),
        ("compared", "kernels7_graphs", "lecture11.compared: given 'kernels7_graphs'; must differ"),
    ],
)
def test_load__lecture_11_shows_what_there_is(delivered, key, value, said):
    with pytest.raises(ConfigError) as caught:
        load(changed(delivered, f"lecture11.{key}", value))
    assert said in str(caught.value)
    assert "1 problem in" in str(caught.value)
