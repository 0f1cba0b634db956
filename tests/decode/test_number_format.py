import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.decode.number_format import TYPE_BITS, NumberFormat
from tests.decode.generators import number_formats


@pytest.mark.parametrize(
    ("number", "per_row"),
    [
        (NumberFormat("bf16"), 2 * 300),
        (NumberFormat("fp8"), 300),
        (NumberFormat("int8", group=100, scale="fp32"), 300 + 3 * 4),
        (NumberFormat("int4", group=128, scale="fp16"), 150 + 3 * 2),
        (NumberFormat("int4", group=1000, scale="fp16"), 150 + 2),
        (NumberFormat("int4", group=32, scale="fp8"), 150 + 10),
    ],
)
def test_bytes__by_hand(number, per_row):
    assert number.bytes(rows=7, columns=300) == 7 * per_row


def test_bytes__half_a_byte_is_filled_up():
    assert NumberFormat("int4").bytes(rows=3, columns=5) == 9


@given(number_formats, st.integers(0, 100), st.integers(0, 100), st.integers(1, 999))
def test_bytes__rows_add_up(number, some, others, columns):
    together = number.bytes(some, columns) + number.bytes(others, columns)
    assert number.bytes(some + others, columns) == together


@given(number_formats, st.integers(1, 999), st.integers(1, 999))
def test_bytes__scales_cost_something_and_smaller_types_less(number, rows, columns):
    plain = NumberFormat(number.type).bytes(rows, columns)
    assert number.bytes(rows, columns) >= plain
    assert plain * 8 >= rows * columns * TYPE_BITS[number.type]
