"""Generators of models, number formats and fusion plans."""

from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st

from pipeline.decode.fusion_plan import FusionPlan, plan_problems
from pipeline.decode.model import Model
from pipeline.decode.model_sheet import load_models
from pipeline.decode.number_format import TYPE_BITS, NumberFormat
from pipeline.decode.operations import Formats, step
from pipeline.decode.plan_sheet import load_plans
from pipeline.decode.primitives import HEAD, LAYER, PRIMITIVES

DATA = Path(__file__).parents[2] / "data"
MODELS = load_models(DATA / "models")
PLANS = load_plans(DATA / "fusion_plans")
LLAMA = MODELS["llama_3_2_1b"]
BF16 = NumberFormat("bf16")
PUBLISHED = Formats(BF16, BF16, BF16)


def lecture_step(plan, model=LLAMA, formats=PUBLISHED, context=160, batch=1):
    return step(model, PLANS[plan], formats, context=context, batch=batch, rows_per_block=16)


@st.composite
def models(draw):
    kv_heads = draw(st.sampled_from([1, 2, 8]))
    return Model(
        id="any",
        name="any",
        layers=draw(st.integers(1, 40)),
        hidden=draw(st.sampled_from([48, 1024, 4096])),
        heads=kv_heads * draw(st.integers(1, 8)),
        kv_heads=kv_heads,
        head_size=draw(st.sampled_from([2, 64, 128])),
        mlp=draw(st.sampled_from([100, 3072, 14336])),
        vocabulary=draw(st.integers(1, 200_000)),
        tied_embeddings=draw(st.booleans()),
        qk_norm=draw(st.booleans()),
        data_type="bf16",
    )


number_formats = st.one_of(
    st.sampled_from(list(TYPE_BITS)).map(NumberFormat),
    st.builds(
        NumberFormat,
        st.sampled_from(["fp8", "int8", "int4"]),
        st.sampled_from([32, 128, 10**6]),
        st.sampled_from(["fp16", "fp32"]),
    ),
)
formats = st.builds(Formats, number_formats, number_formats, number_formats)


def grouped(names, cuts):
    """Cut a sequence of primitives into groups, each named by its first."""
    groups, start = {}, 0
    for end in [*cuts, len(names)]:
        groups[f"from_{names[start]}"] = tuple(names[start:end])
        start = end
    return groups


@st.composite
def plans(draw):
    """A plan that is right: primitives in order, cut at any place where they may be cut."""
    layer = [name for name, one in PRIMITIVES.items() if one.stage == LAYER]
    head = [name for name, one in PRIMITIVES.items() if one.stage == HEAD]
    # Where blocks would have to wait for each other, there must be a cut.
    must = {layer.index(name) for name in ("attention", "o", "mlp_norm", "down")}
    cuts = sorted(must | draw(st.sets(st.integers(1, len(layer) - 1))))
    plan = FusionPlan(
        "any", "any", grouped(layer, cuts), grouped(head, draw(st.sampled_from([[], [1]])))
    )
    assert not plan_problems(plan.layer, plan.head)
    return plan


@st.composite
def split_plans(draw):
    """A plan, and the same with one of its groups cut in two."""
    plan = draw(plans())
    stages = {LAYER: plan.layer, HEAD: plan.head}
    long = [(s, g) for s, groups in stages.items() for g, names in groups.items() if names[1:]]
    if not long:
        return plan, plan
    stage, group = draw(st.sampled_from(long))
    names = stages[stage][group]
    cut = draw(st.integers(1, len(names) - 1))
    parts = {f"{group}_a": names[:cut], f"{group}_b": names[cut:]}
    finer = {}
    for name, held in stages[stage].items():
        finer |= parts if name == group else {name: held}
    return plan, replace(plan, **{stage: finer})
