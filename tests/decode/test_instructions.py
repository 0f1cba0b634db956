import numpy as np
import pytest
from hypothesis import given, settings

from pipeline.decode.instructions import Dealing, program
from pipeline.decode.program import HEAD_LAYER, lists
from pipeline.errors import ModelError
from tests.decode.generators import LLAMA, MODELS, PUBLISHED, lecture_step
from tests.decode.programs import dealt, programs, small_model


def lecture_program(n_sm, assignment="contiguous"):
    return program(LLAMA, lecture_step("fused"), Dealing(n_sm, assignment, 16, 160, 1))


@pytest.mark.parametrize(("n_sm", "per_layer", "whole"), [(132, 532, 8644), (148, 580, 9428)])
@pytest.mark.parametrize("assignment", ["contiguous", "round_robin"])
def test_program__llama_1b_has_the_published_number_of_instructions(
    n_sm, per_layer, whole, assignment
):
    made = lecture_program(n_sm, assignment)
    assert np.count_nonzero(made.layer == 0) == per_layer
    assert made.size == whole
    assert np.count_nonzero(made.layer == HEAD_LAYER) == n_sm


def test_program__instructions_of_a_layer_by_hand():
    made = lecture_program(132)
    counts = np.bincount(made.operation[made.layer == 3])
    # 192, 1024 and 4 times 128 blocks give every SM an instruction; O has 128 blocks.
    by_hand = {"qkv": 132, "attention": 8, "o": 128, "gate_up": 132, "down": 132}
    assert dict(zip(made.operations, counts.tolist(), strict=False)) == by_hand


@pytest.mark.parametrize("model", MODELS)
def test_program__reads_what_the_ledger_says(model):
    step = lecture_step("fused", MODELS[model])
    made = program(MODELS[model], step, Dealing(132, "contiguous", 16, 160, 1))
    assert made.bytes == step.bytes
    weights = made.weight_bytes > 0
    bytes_per_number = PUBLISHED.weights.bytes(1, 2) / 2
    np.testing.assert_allclose(
        made.numbers[weights] * bytes_per_number, made.weight_bytes[weights], rtol=1e-12
    )


def test_program__down_begins_with_a_quarter_of_its_input():
    made = lecture_program(148)
    down = made.operations.index("down")
    gate_up = made.operations.index("gate_up")
    layer = made.layer == 0
    waits = [made.waits.of(i) for i in np.flatnonzero(layer & (made.operation == down))]
    assert len(set(np.concatenate(waits))) == 4
    # A quarter of 148 SMs makes a quarter of the blocks, so no instruction lies across two.
    assert {len(one) for one in waits} == {1}
    raisers = [made.raises.of(i) for i in np.flatnonzero(layer & (made.operation == gate_up))]
    assert np.bincount(np.concatenate(raisers) - min(map(min, raisers))).tolist() == [37] * 4


def test_program__attention_head_waits_for_its_queries_keys_and_values_only():
    made = lecture_program(132)
    attention = np.flatnonzero((made.layer == 0) & (made.operation == 1))
    makers = [
        {i for i in range(132) if set(made.raises.of(i)) & set(made.waits.of(one).tolist())}
        for one in attention
    ]
    assert [len(made.waits.of(one)) for one in attention] == [3] * 8
    # 256 + 64 + 64 of 3072 rows, in blocks of 16 that 132 instructions share.
    assert all(24 / 192 * 132 - 1 <= len(one) <= 24 / 192 * 132 + 6 for one in makers)
    assert set.union(*makers) == set(range(132))


@given(programs)
@settings(max_examples=60)
def test_program__every_counter_is_raised_before_it_is_read_and_instructions_take_turns(made):
    np.testing.assert_array_equal(made.sm, np.arange(made.size) % made.n_sm)
    makers = {int(c): [] for c in range(made.n_counters)}
    for one in range(made.size):
        for counter in made.raises.of(one):
            makers[int(counter)].append(one)
    for one in range(made.size):
        for counter in made.waits.of(one):
            assert makers[int(counter)]
            assert max(makers[int(counter)]) < one


def test_program__batch_multiplies_work_and_keys_but_not_weights():
    one, four = dealt(small_model()), dealt(small_model(), batch=4)
    assert four.weight_bytes.sum() == one.weight_bytes.sum()
    assert four.late_bytes.sum() == 4 * one.late_bytes.sum()
    assert four.numbers.sum() == 4 * one.numbers.sum()


def test_program__plan_with_a_kernel_that_reads_nothing_is_refused():
    with pytest.raises(ModelError, match=r"attention_norm .* reads neither weights nor"):
        program(LLAMA, lecture_step("kernels7"), Dealing(4, "contiguous", 16, 160, 1))


def test_program__plan_in_which_an_operation_reads_from_further_back_is_refused():
    step = lecture_step("fused")
    swapped = type(step)(step.layers, (step.layer[0], *step.layer[2:]), step.head)
    with pytest.raises(ModelError, match="o reads what attention makes, and the operation before"):
        program(LLAMA, swapped, Dealing(4, "contiguous", 16, 160, 1))


def test_lists__give_back_what_went_in():
    made = lists([[3, 1], [], [2]])
    assert [made.of(i).tolist() for i in range(3)] == [[3, 1], [], [2]]
