"""Operations of a step: the lecture's ledger, and laws that hold for every model and plan."""

import numpy as np
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from pipeline.decode.number_format import NumberFormat
from pipeline.decode.operations import Formats, step
from pipeline.decode.primitives import primitives_of
from tests.decode.generators import BF16, LLAMA, MODELS, PLANS, formats, lecture_step, models, plans

LECTURE = {
    "qkv": (3072, 12_582_912, 192),
    "attention": (0, 327_680, 8),
    "o": (2048, 8_388_608, 128),
    "gate_up": (16384, 67_108_864, 1024),
    "down": (2048, 33_554_432, 128),
    "lm_head": (128_256, 525_336_576, 8016),
}


def made(model, plan, kinds, context=160, batch=1, rows_per_block=16):
    return step(model, plan, kinds, context=context, batch=batch, rows_per_block=rows_per_block)


def test_step__operations_are_those_of_the_lecture():
    fused = lecture_step("fused")
    assert {o.id: (o.rows, o.bytes, o.blocks) for o in fused.operations} == LECTURE
    assert [o.count for o in fused.operations] == [16] * 5 + [1]
    assert fused.bytes == 2_476_736_512


def test_step__only_attention_reads_no_weights_of_what_reads_at_all():
    for plan in PLANS:
        reading = [o for o in lecture_step(plan).operations if o.bytes]
        assert [o.id for o in reading if not o.weight_bytes] == ["attention"]


@given(models(), formats, st.lists(plans(), min_size=2, max_size=2))
def test_step__bytes_do_not_depend_on_the_plan(model, kinds, two):
    one, other = (made(model, plan, kinds).bytes for plan in two)
    assert one == other


@given(models(), plans())
def test_step__runs_every_primitive_of_the_model_once_a_layer_and_no_empty_group(model, plan):
    whole = made(model, plan, Formats(BF16, BF16, BF16))
    names = [name for one in whole.operations for name in one.primitives]
    assert names == primitives_of(model)
    assert all(one.primitives for one in whole.operations)
    assert whole.launches == model.layers * len(whole.layer) + len(whole.head)


@given(models(), plans(), formats, st.integers(0, 9999), st.integers(1, 99))
def test_step__bytes_grow_linearly_with_context_and_batch(model, plan, kinds, context, batch):
    def read(context, batch):
        return made(model, plan, kinds, context, batch).bytes

    weights = read(0, batch)
    assert weights == read(context, 0)
    per_token = read(1, 1) - weights
    assert per_token > 0
    assert read(context, batch) == weights + context * batch * per_token


@given(models(), plans(), formats)
def test_step__weights_are_the_published_parameters_without_norms_and_tables(model, plan, kinds):
    weights = sum(o.count * o.weight_bytes for o in made(model, plan, kinds).operations)
    bf16 = Formats(BF16, BF16, BF16)
    exact = sum(o.count * o.weight_bytes for o in made(model, plan, bf16).operations)
    norms = model.layers * (2 * model.hidden + 2 * model.head_size * model.qk_norm) + model.hidden
    table = 0 if model.tied_embeddings else model.vocabulary * model.hidden
    assert exact == 2 * (model.parameters - norms - table)
    # FP32 is the widest type; nothing is narrower than 4 bits.
    assert exact / 4 <= weights <= 2 * exact + 8 * exact


def test_step__int4_weights_leave_the_head_as_it_was():
    int4 = NumberFormat("int4", group=128, scale="fp16")
    quantised = lecture_step("fused", formats=Formats(int4, BF16, BF16))
    read = {o.id: o.weight_bytes for o in quantised.operations}
    assert read["lm_head"] == LECTURE["lm_head"][1]
    # 4 bits and an eighth of a bit of scales instead of 16.
    assert read["gate_up"] == LECTURE["gate_up"][1] * (4 + 16 / 128) / 16


def test_step__a_model_whose_heads_are_wider_than_its_vector():
    qwen = lecture_step("fused", model=MODELS["qwen3_0_6b"])
    rows = {o.id: o.rows for o in qwen.operations}
    assert rows["qkv"] == (16 + 8 + 8) * 128
    o = qwen.layer[2]
    assert (o.rows, o.weight_bytes) == (1024, 1024 * 2048 * 2)
    assert "qk_norm" in qwen.layer[0].primitives


def test_step__the_last_block_of_a_matrix_may_be_short():
    wide = made(LLAMA, PLANS["fused"], Formats(BF16, BF16, BF16), rows_per_block=1000)
    assert [o.blocks for o in wide.operations] == [4, 8, 3, 17, 3, 129]


def test_step__context_and_batch_may_be_arrays():
    context = xr.DataArray([160, 320], dims="context")
    batch = xr.DataArray([1, 2, 4], dims="batch")
    whole = lecture_step("kernels7", context=context, batch=batch)
    attention = whole.layer[2]
    np.testing.assert_array_equal(attention.bytes, 327_680 * np.array([[1, 2, 4], [2, 4, 8]]))
    np.testing.assert_array_equal(attention.blocks, [8, 16, 32])
    assert all(isinstance(o.bytes, int) for o in whole.operations if o is not attention)
