"""mma: sums, rounding and mistakes; products of random matrices are in test_ldmatrix."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pipeline.errors import ModelError
from pipeline.tensor_core.element_types import to_tf32
from pipeline.tensor_core.fragments import fragment, matrix
from pipeline.tensor_core.mma import mma
from pipeline.tensor_core.shapes import MMA_SHAPES, wgmma

K16 = MMA_SHAPES["m16n8k16"]
K32 = MMA_SHAPES["m16n8k32"]
TF32 = MMA_SHAPES["m16n8k8_tf32"]


def zeros(shape, kind, sums=np.float32):
    return (
        fragment(np.zeros((shape.m, shape.k), kind), shape, "A"),
        fragment(np.zeros((shape.k, shape.n), kind), shape, "B"),
        fragment(np.zeros((shape.m, shape.n), sums), shape, "C"),
    )


def test_mma__adds_before_it_rounds():
    left, right, start = np.zeros((16, 16)), np.zeros((16, 8)), np.zeros((16, 8))
    left[0, :3] = 1, 2**-12, -1
    right[:3, 0] = 2**12, 2**-12, 2**12
    held = (
        fragment(left.astype(np.float16), K16, "A"),
        fragment(right.astype(np.float16), K16, "B"),
        fragment(start.astype(np.float32), K16, "C"),
    )
    # In float32 2**12 + 2**-24 would be 2**12, and the sum nothing.
    assert matrix(mma(K16, *held), K16, "C")[0, 0] == 2**-24


def test_mma__whole_numbers_wrap_around():
    a, b, _ = zeros(K32, np.int8)
    largest = np.full((32, 4), 2**31 - 1, np.int32)
    one = (a + 1).astype(np.int8), (b + 1).astype(np.int8)
    assert np.all(mma(K32, *one, largest) == -(2**31) + 31)


def test_mma__signed_by_unsigned_and_mixed_fp8():
    a, b, c = zeros(K32, np.int8, np.int32)
    assert np.all(
        mma(K32, (a - 1).astype(np.int8), np.full(b.shape, 255, np.uint8), c) == -32 * 255
    )
    left, right = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
    ones = np.ones(a.shape).astype(left), np.full(b.shape, 0.5).astype(right)
    assert np.all(mma(K32, *ones, c.astype(np.float32)) == 16)


@given(
    arrays.arrays(
        np.float32,
        st.integers(1, 20),
        elements=st.floats(width=32, allow_nan=True, allow_infinity=True),
    )
)
def test_to_tf32__is_to_nearest_and_ties_go_away_from_zero(values):
    rounded = to_tf32(values)
    for value, found in zip(values.astype(np.float64), rounded.astype(np.float64), strict=True):
        if not np.isfinite(value):
            assert found == value or (np.isnan(found) and np.isnan(value))
            continue
        # Below 2**-126 steps do not get smaller.
        step = 2.0 ** (max(np.frexp(value)[1] - 1, -126) - 10)
        wanted = np.copysign(np.floor(abs(value) / step + 0.5) * step, value)
        assert found == wanted or wanted > 3.4e38 or wanted < -3.4e38


def test_to_tf32__nan_of_any_bits_stays_nan():
    # Rounding up would turn all bits on into minus zero.
    assert np.all(np.isnan(to_tf32(np.array([0x7FFFFFFF, 0xFFFFFFFF], np.uint32).view("f4"))))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: mma(K16, *zeros(K16, np.float32)), "A: given elements of numpy type float32"),
        (
            lambda: mma(K16, *zeros(K16, np.float16, np.float16)),
            "C: given elements of numpy type float16; sums of float16 are float32",
        ),
        (
            lambda: mma(K32, *zeros(K32, np.int8)),
            "C: given elements of numpy type float32; sums of int8 are int32",
        ),
        (
            lambda: mma(K32, zeros(K32, np.int8)[0], *zeros(K32, ml_dtypes.float8_e5m2)[1:]),
            "no instruction multiplies A of int8 by B of float8_e5m2",
        ),
        (
            lambda: mma(K16, zeros(K16, np.float16)[0], *zeros(K16, ml_dtypes.bfloat16)[1:]),
            "no instruction multiplies A of float16 by B of bfloat16",
        ),
        (lambda: mma(wgmma(8), 0, 0, 0), "m64n8k16: mma is an instruction of one warp"),
        (
            lambda: mma(TF32, *(np.float32(0.1) + part for part in zeros(TF32, np.float32))),
            "m16n8k8_tf32, A: float32 values that tf32 cannot hold; round them with",
        ),
        (
            lambda: mma(K16, *zeros(K16, np.float16)[:2], np.zeros((16, 8), np.float32)),
            "each of 32 lanes holds 4 elements of C",
        ),
        (
            lambda: mma(
                K16,
                *map(
                    np.stack,
                    ([part] * n for part, n in zip(zeros(K16, np.float16), (2, 3, 2), strict=True)),
                ),
            ),
            r"the axes before the lanes do not fit: \(2,\), \(3,\) and \(2,\)",
        ),
    ],
)
def test_mistakes__are_named(wrong, message):
    with pytest.raises(ModelError, match=message):
        wrong()
