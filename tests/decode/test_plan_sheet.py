"""Fusion plans: those of the repository, and every way to get one wrong."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pipeline.decode.fusion_plan import plan_problems
from pipeline.decode.plan_sheet import load_plans
from pipeline.decode.primitives import PRIMITIVES
from pipeline.errors import DataError
from tests.decode.generators import DATA, PLANS, lecture_step, plans

SEVEN = yaml.safe_load((DATA / "fusion_plans/kernels7.yaml").read_text())


@pytest.fixture
def problem(tmp_path):
    """The message about a plan of seven kernels with some groups replaced."""

    def check(stage="layer", **groups):
        plan = {name: dict(held) if name != "name" else held for name, held in SEVEN.items()}
        plan[stage].update(groups)
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(plan, sort_keys=False))
        with pytest.raises(DataError) as error:
            load_plans(tmp_path)
        text = str(error.value)
        assert f"{tmp_path / 'mine.yaml'}: " in text
        return text

    return check


def test_plans__of_the_lecture_have_its_operations():
    launches = {name: lecture_step(name).launches for name in PLANS}
    assert launches == {"fused": 81, "kernels7": 114, "kernels12": 194}
    assert [len(PLANS[name].layer) for name in ("fused", "kernels7", "kernels12")] == [5, 7, 12]


def test_load_plans__a_primitive_must_be_known(problem):
    said = problem(down=["donw", "mlp_residual"])
    assert "layer.down: there is no operation 'donw'; did you mean down?" in said


def test_load_plans__a_primitive_stands_there_once(problem):
    said = problem(down=["down", "rope"])
    assert "layer: mlp_residual is missing; every operation must stand in one group" in said
    assert "layer.down: rope stands in layer.qkv as well; every operation runs once" in said


def test_load_plans__order_follows_the_dependencies(problem):
    said = problem(qkv=["q", "k", "v", "qk_norm", "kv_append", "rope"])
    assert "layer.qkv: kv_append needs rope, which must come before it" in said


def test_load_plans__a_group_is_not_empty(problem):
    said = problem(o=["o", "attention_residual", "mlp_norm"], mlp_norm=[])
    assert "layer.mlp_norm: is empty; name its operations, or leave the group out" in said


def test_plan_problems__a_norm_after_a_matrix_begins_a_group():
    layer = {group: tuple(names) for group, names in SEVEN["layer"].items()}
    head = {group: tuple(names) for group, names in SEVEN["head"].items()}
    layer["o"] = ("o", "attention_residual", "mlp_norm")
    del layer["mlp_norm"]
    (said,) = plan_problems(layer, head)
    assert said.startswith("layer.o: mlp_norm needs all of what o makes")
    assert said.endswith("begin a new group at mlp_norm")


def test_load_plans__stages_are_kept_apart(problem):
    said = problem("head", final_norm=["mlp_norm"])
    assert "head.final_norm: mlp_norm belongs to a group of layer, not of head" in said


def test_plan_problems__groups_of_both_stages_have_names_of_their_own():
    layer = {group: tuple(names) for group, names in SEVEN["layer"].items()}
    (said,) = plan_problems(layer, {"down": ("final_norm", "lm_head")})
    assert said == "head.down: a group of layer has the same name; choose another"


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (None, "layer: is None; it must hold lines 'name: [first, second]'"),
        ({"qkv": "q"}, "layer.qkv: is 'q'; it must be a list, written [first, second]"),
        ({"qkv": [1]}, "is the number 1; put it in quotes"),
        ({}, "layer: is empty; it must hold lines 'group: [operation, ...]'"),
    ],
)
def test_load_plans__a_wrong_shape_is_explained(tmp_path, layer, said):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(SEVEN | {"layer": layer}))
    with pytest.raises(DataError) as error:
        load_plans(tmp_path)
    assert said in str(error.value)


@given(plans(), st.data())
def test_plan_problems__any_plan_with_one_primitive_moved_ahead_of_its_needs(plan, data):
    names = [name for name, one in PRIMITIVES.items() if one.needs]
    moved = data.draw(st.sampled_from(names))
    stages = {
        stage: {
            group: tuple(one for one in held if one != moved)
            for group, held in groups.items()
            if held != (moved,)
        }
        for stage, groups in (("layer", plan.layer), ("head", plan.head))
    }
    stage = PRIMITIVES[moved].stage
    stages[stage] = {"first": (moved,)} | stages[stage]
    assert any(
        said.startswith(f"{stage}.first: {moved} needs ")
        for said in plan_problems(stages["layer"], stages["head"])
    )
