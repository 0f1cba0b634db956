"""Pointers and masks over arrays of any strides, against numpy; and accesses that miss."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pipeline.block_programs.language as tl
import pipeline.block_programs.triton as triton
from pipeline.errors import KernelError, LaunchError, OutOfRangeError


@triton.jit
def copy_tile(
    x_ptr, y_ptr, rows, columns, x_row, x_column, y_row, y_column, other,
    BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    j = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    x = tl.load(x_ptr + i * x_row + j * x_column, mask=(i < rows) & (j < columns - 1), other=other)
    tl.store(y_ptr + i * y_row + j * y_column, x, mask=(i < rows) & (j < columns))


@st.composite
def views(draw, dtype):
    """An array of two axes, and a view of it with any order, step and direction."""
    shape = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    steps = draw(st.tuples(st.sampled_from([1, 2, -1, -3]), st.sampled_from([1, 2, -1])))
    whole = np.arange(3 * shape[0] * 2 * shape[1]).reshape(3 * shape[0], 2 * shape[1]).astype(dtype)
    view = whole[:: steps[0], :: steps[1]][: shape[0], : shape[1]]
    return view.T if draw(st.booleans()) else view


@settings(max_examples=80, deadline=None)
@given(st.data(), st.sampled_from([np.float32, np.int8, np.float16, np.int64]))
def test_copy__of_any_view_into_any_view(data, dtype):
    x = data.draw(views(dtype))
    y = (
        np.zeros((x.shape[1], x.shape[0]), dtype).T
        if data.draw(st.booleans())
        else np.zeros_like(x)
    )
    strides = [stride // x.itemsize for array in (x, y) for stride in array.strides]
    grid = (triton.cdiv(x.shape[0], 4), triton.cdiv(x.shape[1], 2))
    launched = copy_tile[grid](x, y, *x.shape, *strides, 7, BM=4, BN=2)
    right = x.copy()
    right[:, -1] = 7
    np.testing.assert_array_equal(y, right)
    assert launched.counters["load_bytes"] == x[:, :-1].nbytes
    assert launched.counters["store_bytes"] == x.nbytes


@triton.jit
def strided(x_ptr, y_ptr, step, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i * step))


@pytest.mark.parametrize(
    ("step", "first", "sectors"), [(1, 0, 4), (1, 1, 5), (2, 0, 8), (8, 0, 32), (0, 0, 1)]
)
def test_sectors__distinct_per_load_by_address(step, first, sectors):
    x, y = np.zeros(260, np.float32), np.zeros(32, np.float32)
    counters = strided[(1,)](x[first:], y, step, BLOCK=32).counters
    assert counters["load_sectors"] == sectors
    assert counters["store_sectors"] == 4


def test_load__out_of_range_names_program_argument_and_offset():
    with pytest.raises(OutOfRangeError) as raised:
        copy_tile[(2, 2)](np.zeros((4, 4)), np.zeros((4, 4)), 8, 5, 4, 1, 4, 1, 0, BM=4, BN=2)
    said = str(raised.value)
    assert said.startswith("test_memory.py:")
    assert "program (1, 0, 0) loads x_ptr at offset 16 (element 0 of its block)" in said
    assert "offsets 0 to 15 are allowed: check the mask" in said


def test_store__out_of_range_leaves_what_programs_before_it_stored():
    y = np.zeros(6, np.float32)
    with pytest.raises(OutOfRangeError, match=r"program \(1, 0, 0\) stores to y_ptr at offset 6"):
        copy_tile[(2, 1)](np.ones((2, 4), np.float32), y, 2, 4, 4, 1, 4, 1, 0, BM=1, BN=4)
    assert y.tolist() == [1, 1, 1, 0, 0, 0]


def test_view__belongs_to_the_program_and_its_surroundings_do_not():
    whole = np.zeros(10, np.float32)
    with pytest.raises(OutOfRangeError, match=r"at offset 4 .* offsets 0 to 3"):
        strided[(1,)](whole[2:6], np.zeros(8, np.float32), 1, BLOCK=8)


@triton.jit
def far(x_ptr, stride):
    tl.store(x_ptr + (tl.program_id(0) + 2) * stride, 1.0)


def test_offset__below_zero_hints_at_overflow():
    with pytest.raises(OutOfRangeError, match=r"at offset -2147483648 .*overflowed: convert one"):
        far[(1,)](np.zeros(8, np.float32), 2**30)


def test_store__to_a_read_only_array_is_refused():
    y = np.zeros(8, np.float32)
    y.flags.writeable = False
    with pytest.raises(KernelError, match="y_ptr is read-only, and the program stores to it"):
        strided[(1,)](np.zeros(8, np.float32), y, 1, BLOCK=8)


def test_arguments__that_share_memory_are_one_memory():
    x = np.arange(8, dtype=np.float32)
    strided[(1,)](x, x[4:], 1, BLOCK=4)
    assert x.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


def test_arguments__that_share_memory_as_different_types_are_refused():
    x = np.zeros(8, np.float32)
    with pytest.raises(LaunchError, match=r"y_ptr \(int32\) and x_ptr \(fp32\) share memory"):
        strided[(1,)](x, x.view(np.int32), 1, BLOCK=4)


@triton.jit
def block_pointer_copy(
    x_ptr, y_ptr, M, N, stride_m, stride_n, BM: tl.constexpr, BN: tl.constexpr, PAD: tl.constexpr
):
    x = tl.make_block_ptr(
        base=x_ptr, shape=(M, N), strides=(stride_m, stride_n),
        offsets=(tl.program_id(0) * BM, -BN), block_shape=(BM, BN), order=(1, 0),
    )  # fmt: skip
    y = tl.make_block_ptr(y_ptr, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    x = tl.advance(x, (0, BN))
    for _ in range(0, tl.cdiv(N, BN)):
        tile = tl.load(x, boundary_check=(0, 1), padding_option=PAD)
        tl.store(y, tl.where(tile == tile, tile, 0), boundary_check=(0, 1))
        tl.device_assert(tl.sum((tile != tile).to(tl.int32)) <= BM * BN)
        x, y = tl.advance(x, (0, BN)), tl.advance(y, (0, BN))


@settings(max_examples=30, deadline=None)
@given(views(np.float32), st.sampled_from(["zero", "nan"]))
def test_block_pointer__copies_all_that_lies_in_the_array(x, padding):
    y = np.zeros(x.shape, np.float32)
    strides = [stride // 4 for stride in x.strides]
    grid = (triton.cdiv(x.shape[0], 2),)
    launched = block_pointer_copy[grid](x, y, *x.shape, *strides, BM=2, BN=4, PAD=padding)
    np.testing.assert_array_equal(y, x)
    assert launched.counters["load_bytes"] == launched.counters["store_bytes"] == x.nbytes


@triton.jit
def block_pointer_edge(x_ptr, y_ptr, PAD: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (3,), (1,), (0,), (4,), (0,))
    tl.store(y_ptr + tl.arange(0, 4), tl.load(x, boundary_check=(0,), padding_option=PAD))


@pytest.mark.parametrize(("padding", "last"), [("", 0), ("zero", 0), ("nan", np.nan)])
def test_block_pointer__pads(padding, last):
    y = np.full(4, -1, np.float32)
    block_pointer_edge[(1,)](np.arange(3, dtype=np.float32), y, PAD=padding)
    np.testing.assert_array_equal(y, np.array([0, 1, 2, last], np.float32))
