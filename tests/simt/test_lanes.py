"""Lanes behave as the arrays they stand for."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.simt.lanes import Lanes, Part

BLOCKS, THREADS = 3, 5
small = st.integers(-20, 20)


@st.composite
def lanes(draw):
    block = draw(st.none() | st.lists(small, min_size=BLOCKS, max_size=BLOCKS))
    thread = draw(st.none() | st.lists(small, min_size=THREADS, max_size=THREADS))
    return Lanes(
        draw(small),
        None if block is None else Part(np.array(block, np.int64)[:, None]),
        None if thread is None else Part(np.array(thread, np.int64)[None, :]),
    )


def dense(value):
    array = np.asarray(value)
    return np.broadcast_to(array, (BLOCKS, THREADS)) if array.ndim else array


ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@given(lanes(), lanes() | small, st.sampled_from(ARITHMETIC + COMPARISONS), st.booleans())
def test_lanes__compute_like_arrays(left, right, op, swap):
    first, second = (right, left) if swap else (left, right)
    np.testing.assert_array_equal(dense(op(first, second)), op(dense(first), dense(second)))


@given(lanes(), st.integers(1, 9), st.sampled_from([operator.floordiv, operator.mod]))
def test_lanes__divide_like_arrays(left, divisor, op):
    np.testing.assert_array_equal(dense(op(left, divisor)), op(dense(left), divisor))
    np.testing.assert_array_equal(dense(op(100, left * left + 1)), op(100, dense(left * left + 1)))


@given(lanes(), st.integers(0, 5))
def test_lanes__shift_and_divide_exactly_like_arrays(left, bits):
    np.testing.assert_array_equal(dense(left << bits), dense(left) << bits)
    np.testing.assert_array_equal(dense(left >> bits), dense(left) >> bits)
    np.testing.assert_array_equal(dense(bits << (left * left)), bits << dense(left * left))
    np.testing.assert_array_equal(dense(64 >> (left * left)), 64 >> dense(left * left))
    np.testing.assert_array_equal(dense(left / (bits + 1)), dense(left) / (bits + 1))
    np.testing.assert_array_equal(dense(bits / (left * left + 1)), bits / dense(left * left + 1))


@given(lanes())
def test_lanes__mix_with_arrays(left):
    array = np.arange(BLOCKS * THREADS).reshape(BLOCKS, THREADS)
    np.testing.assert_array_equal(array + left, array + dense(left))
    np.testing.assert_array_equal(left - array, dense(left) - array)
    np.testing.assert_array_equal(np.minimum(left, 3), np.minimum(np.asarray(left), 3))


def test_lanes__keep_their_parts_apart():
    block, thread = Part(np.arange(3)[:, None]), Part(np.arange(5)[None, :])
    index = (Lanes(0, block) * 7 + Lanes(0, None, thread)) * 2 + 1
    assert index.const == 1
    np.testing.assert_array_equal(index.block.array[:, 0], [0, 14, 28])
    np.testing.assert_array_equal(index.thread.array[0], [0, 2, 4, 6, 8])
    assert isinstance(Lanes(0, None, thread) % 3, Lanes)
    assert "thread=[[0 1 2 3 4]]" in repr(Lanes(0, None, thread))


def test_lanes__one_number_for_all_has_no_parts():
    """In a batch of one block the block's index is no thread's index."""
    block = Lanes(0, Part(np.array([[7]])))
    for index in (block // 2, block % 4, block ^ 4, 10 // block):
        assert (index.block, index.thread) == (None, None)
    assert (block // 2).const == 3


def test_part__hands_out_the_same_array_for_the_same_sum():
    row, col = Part(np.arange(4)[None, :]), Part(np.arange(4)[None, :] * 10)
    assert row.plus(col, 1) is row.plus(col, 1)
    assert row.scaled(3) is row.scaled(3)
    assert row.plus(col, 1) is not row.plus(col, -1)
    for factor in range(200):  # more than it remembers
        np.testing.assert_array_equal(row.scaled(factor).array, row.array * factor)


def test_lanes__cannot_be_a_key():
    with pytest.raises(TypeError):
        {Lanes(): 1}
