"""Layouts in shared memory: swizzles against CuTe, and places that never collide."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import MisalignedError, ModelError, OutOfRangeError
from pipeline.tensor_core.layouts import (
    LAYOUTS,
    LECTURE_SWIZZLE,
    Layout,
    Swizzle,
    padded,
    plain,
    xor_swizzle,
)
from tests.tensor_core.cute_tables import digest
from tests.tensor_core.test_fragments import rows


@st.composite
def swizzles(draw, least_base=0):
    bits = draw(st.integers(0, 3))
    shift = draw(st.integers(bits, 6)) * draw(st.sampled_from([1, -1]))
    return Swizzle(bits, draw(st.integers(least_base, 6)), shift)


@st.composite
def layouts(draw):
    row_bytes = 16 * draw(st.integers(1, 20))
    padding = 16 * draw(st.integers(0, 8))
    return Layout(row_bytes, padding, draw(swizzles(least_base=4)))


def test_swizzle__is_that_of_cute_for_all_parameters():
    compared = set()
    for row in rows("swizzles"):
        swizzle = Swizzle(int(row["bits"]), int(row["base"]), int(row["shift"]))
        images = swizzle(1 << np.arange(16))
        assert " ".join(map(str, images)) == row["images"], row
        assert digest(swizzle(np.arange(1 << 16)).tolist()) == row["digest"], row
        compared.add((swizzle.bits, swizzle.base, swizzle.shift))
    assert compared == {
        (bits, base, sign * shift)
        for bits in range(4)
        for base in range(6)
        for shift in range(max(bits, 1), 7)
        for sign in (1, -1)
    }


def test_xor_swizzle__of_wgmma_tiles_is_that_of_cute():
    compared = 0
    for row in rows("shared"):
        offsets = [int(offset) for offset in row["offsets"].split()]
        swizzle = Swizzle(int(row["bits"]), int(row["base"]), int(row["shift"]))
        layout = Layout(16 * len(offsets), swizzle=swizzle)
        found = layout.address(int(row["row"]), 16 * np.arange(len(offsets)), 16)
        assert found.tolist() == offsets, row
        compared += 1
    assert compared == 3 * 8


@given(st.integers(0, 200), st.integers(0, 255), st.sampled_from([16, 64, 72, 256]))
def test_xor_swizzle__is_that_of_the_lecture(row, column, row_elems):
    column %= row_elems
    linear = 2 * (row * row_elems + column)
    line, chunk = linear // 128, linear % 128 // 16
    wanted = 128 * line + 16 * (chunk ^ line % 8) + linear % 16
    assert xor_swizzle(2 * row_elems).address(row, 2 * column) == wanted


@given(swizzles(), st.integers(0, 2**20), st.integers(0, 2**20))
def test_swizzle__is_linear_and_stays_in_its_block(swizzle, one, other):
    assert swizzle(one ^ other) == swizzle(one) ^ swizzle(other)
    assert swizzle(one) // swizzle.block == one // swizzle.block
    assert swizzle(swizzle(one)) == one


@given(swizzles(), st.sampled_from([1, 2, 4, 8]), st.integers(0, 2**16))
def test_on_elements__is_the_same_swizzle(swizzle, size, element):
    if 1 << swizzle.base < size:
        with pytest.raises(ModelError, match=f"elements of {size} bytes must divide"):
            swizzle.on_elements(size)
    else:
        assert swizzle(size * element) == size * swizzle.on_elements(size)(element)


def test_on_elements__of_the_lecture():
    assert LECTURE_SWIZZLE.on_elements(2) == Swizzle(3, 3, 3)


@given(layouts(), st.integers(1, 40))
def test_address__no_two_places_share_one_and_all_are_within_the_size(layout, rows):
    row, byte = np.ogrid[:rows, 0 : layout.row_bytes : 16]
    found = layout.address(row, byte, 16)
    assert np.unique(found).size == found.size
    assert found.min() >= 0
    assert found.max() + 16 <= layout.size(rows)
    assert np.all(found % 16 == 0)
    assert layout.extra_bytes(rows) == layout.size(rows) - rows * layout.row_bytes >= 0


@given(st.integers(1, 600))
def test_padded__rows_start_an_odd_number_of_chunks_apart(row_bytes):
    layout = padded(row_bytes)
    assert layout.pitch % 32 == 16
    assert 0 <= layout.padding < 32


def test_layouts__say_what_they_are():
    names = [str(make(128)) for make in LAYOUTS.values()]
    assert names == ["plain", "16 B of padding", "swizzle (3, 4, 3)"]
    assert str(Layout(128, 16, Swizzle(1, 4, 3))) == "16 B of padding and swizzle (1, 4, 3)"


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: Swizzle(3, 4, 2), ModelError, r"swizzle \(3, 4, 2\): .* shift at least bits"),
        (lambda: Swizzle(-1, 4, 2), ModelError, "bits and base at least 0"),
        (lambda: Swizzle(1, 4.0, 2), ModelError, "must be whole numbers"),
        (lambda: Swizzle(True, 4, 2), ModelError, "must be whole numbers"),
        (lambda: LECTURE_SWIZZLE.on_elements(3), ModelError, "elements of 3 bytes must divide"),
        (lambda: LECTURE_SWIZZLE.on_elements(0), ModelError, "elements of 0 bytes must divide"),
        (lambda: Layout(0), ModelError, "at least 1 byte"),
        (lambda: Layout(16, -16), ModelError, "given 16 and -16"),
        (lambda: Layout(12.5), ModelError, "whole numbers; given 12.5 and 0"),
        (lambda: Layout(128, 0, (3, 4, 3)), ModelError, r"given \(3, 4, 3\) as swizzle"),
        (lambda: plain(128).address(0.5, 0), ModelError, "layout plain, rows: must be whole"),
        (lambda: LECTURE_SWIZZLE(5.5), ModelError, r"swizzle \(3, 4, 3\), offsets: must be whole"),
        (
            lambda: plain(128).address(3, 120, 16),
            OutOfRangeError,
            "16 bytes from byte 120 of row 3 on are in no row; rows have 128 bytes",
        ),
        (lambda: plain(128).address(-1, 0), OutOfRangeError, "from byte 0 of row -1"),
        (
            lambda: plain(40).address(np.arange(8), 0, 16),
            MisalignedError,
            "byte 0 of row 1 is at address 40, no multiple of the 16 bytes",
        ),
        (
            lambda: Layout(128, swizzle=Swizzle(3, 3, 3)).address(0, 0, 16),
            MisalignedError,
            "keeps 8 bytes together, and an access has 16; take a larger base",
        ),
    ],
)
def test_mistakes__are_named(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong()
