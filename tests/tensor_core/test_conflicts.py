"""Wavefronts of patterns, against the definition for warps; the cheapest layout, by brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.errors import MisalignedError, ModelError
from pipeline.simt import banks
from pipeline.tensor_core.conflicts import Pattern, cheapest_layout, tile_loads, wavefronts
from pipeline.tensor_core.layouts import LAYOUTS, Layout, Swizzle, padded, plain, xor_swizzle
from tests.tensor_core.test_layouts import layouts

ALL = np.ones(32, bool)


@given(layouts(), st.data())
def test_wavefronts__are_those_of_warp_instructions(layout, data):
    size = data.draw(st.sampled_from([1, 2, 4, 8, 16]))
    count = data.draw(st.integers(1, 3))
    lanes = st.lists(st.integers(0, 2**16), min_size=32 * count, max_size=32 * count)
    row = np.array(data.draw(lanes)).reshape(count, 32) % data.draw(st.integers(1, 20))
    byte = np.array(data.draw(lanes)).reshape(count, 32) % (layout.row_bytes // size) * size
    found = wavefronts(Pattern(row, byte, size), layout)
    for instruction in range(count):
        address = layout.address(row[instruction], byte[instruction], size)
        assert found[instruction] == banks.wavefronts(address, ALL, size, "lecture")[0]


@given(st.integers(1, 40), st.integers(0, 50), st.integers(0, 50))
def test_tile_loads__padded_rows_never_conflict(chunks, row0, chunk0):
    row_bytes = 16 * (chunks + 1)
    pattern = tile_loads([row0], [16 * (chunk0 % chunks)])
    assert wavefronts(pattern, padded(row_bytes)) == 4


def test_wavefronts__of_the_lecture():
    pattern = tile_loads([0], [0])
    assert wavefronts(pattern, plain(128)) == 32
    assert wavefronts(pattern, xor_swizzle(128)) == 4
    assert pattern.ideal == 4


@pytest.mark.parametrize(
    ("row_elems", "taken"),
    [(16, (8, 4, 4)), (32, (16, 4, 4)), (64, (32, 4, 4)), (128, (32, 4, 8)), (256, (32, 4, 16))],
)
def test_wavefronts__of_rows_of_powers_of_two(row_elems, taken):
    # 128 and 256: a row is two or four lines, so only four or two of eight chunks change places.
    pattern = tile_loads([0, 16, 48], [0, 0, 0])
    for make, wanted in zip(LAYOUTS.values(), taken, strict=True):
        assert np.all(wavefronts(pattern, make(2 * row_elems)) == wanted)


@given(st.integers(2, 40), st.integers(0, 63), st.integers(0, 40))
def test_wavefronts__repeat_after_64_rows(chunks, row0, chunk0):
    byte0 = 16 * (chunk0 % (chunks - 1))
    pattern = tile_loads([row0, row0 + 64], [byte0, byte0])
    for make in LAYOUTS.values():
        one, other = wavefronts(pattern, make(16 * chunks))
        assert one == other


def every_layout(row_bytes):
    """All paddings below 128 bytes with all swizzles of up to five bits, by brute force."""
    swizzles = [Swizzle()] + [
        Swizzle(bits, base, shift)
        for base, bits, shift in itertools.product(range(2, 7), range(1, 6), range(1, 12))
        if shift >= bits
    ]
    for padding, swizzle in itertools.product(range(128), swizzles):
        yield Layout(row_bytes, padding, swizzle)


def conflict_free(pattern, layout):
    """By the definition for one warp; whether it is also possible."""
    try:
        address = layout.address(pattern.row, pattern.byte, pattern.access_bytes)
    except MisalignedError:
        return False
    for one in address:
        for group in one.reshape(-1, pattern.together):
            ends = [(a // 4, -(-(a + pattern.access_bytes) // 4)) for a in group]
            words = {word for first, last in ends for word in range(first, last)}
            if len({word % 32 for word in words}) < len(words):
                return False
    return True


PATTERNS = {
    "ldmatrix, rows of 128 bytes": (tile_loads([0, 8], [0, 32]), 128),
    "ldmatrix, rows of 512 bytes": (tile_loads([0], [480]), 512),
    "ldmatrix, rows of 40 bytes": (tile_loads([0], [0]), 40),
    "rows and columns of 32 words": (
        Pattern(
            np.stack([np.arange(32), np.zeros(32, int), np.full(32, 5)]),
            4 * np.stack([np.full(32, 7), np.arange(32), np.arange(32)]),
            4,
        ),
        128,
    ),
    "columns of 8-byte elements": (
        Pattern(np.arange(32)[None], np.full((1, 32), 8), 8),
        256,
    ),
    "columns of two-byte elements": (
        Pattern(np.arange(32)[None], np.full((1, 32), 6), 2),
        64,
    ),
    "three rows of odd length": (
        Pattern(np.arange(32)[None] % 3, np.arange(32)[None] // 3 * 4, 4),
        44,
    ),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_cheapest_layout__is_free_of_conflicts_and_no_other_wastes_less(name):
    pattern, row_bytes = PATTERNS[name]
    found = cheapest_layout(pattern, row_bytes)
    assert conflict_free(pattern, found)
    wasted = found.extra_bytes(pattern.rows)
    for layout in every_layout(row_bytes):
        if layout.extra_bytes(pattern.rows) < wasted:
            assert not conflict_free(pattern, layout), layout


def test_cheapest_layout__is_the_simplest_of_those():
    assert str(cheapest_layout(*PATTERNS["ldmatrix, rows of 128 bytes"])) == "swizzle (3, 4, 3)"
    assert str(cheapest_layout(*PATTERNS["rows and columns of 32 words"])) == "swizzle (5, 2, 5)"
    assert str(cheapest_layout(tile_loads([0], [0]), 48)) == "plain"
    # Every other row starts between two multiples of 16 without padding.
    assert str(cheapest_layout(tile_loads([0], [0]), 40)) == "8 B of padding"


@given(st.data())
def test_cheapest_layout__of_random_patterns_is_as_cheap_as_any(data):
    row_bytes = 16 * data.draw(st.integers(1, 10))
    lanes = st.lists(st.integers(0, 2**16), min_size=8, max_size=8)
    row = np.array([data.draw(lanes)]) % data.draw(st.integers(1, 16))
    byte = np.array([data.draw(lanes)]) % (row_bytes // 16) * 16
    pattern = Pattern(row, byte, 16)
    free = [
        Layout(row_bytes, padding, swizzle).extra_bytes(pattern.rows)
        for padding in range(0, 128, 16)
        for swizzle in [Swizzle()]
        + [Swizzle(b, a, s) for a in (4, 5, 6) for b in range(1, 8 - a) for s in range(b, 10)]
        if conflict_free(pattern, Layout(row_bytes, padding, swizzle))
    ]
    assume(free)
    assert cheapest_layout(pattern, row_bytes).extra_bytes(pattern.rows) == min(free)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Pattern(np.zeros((1, 8), int), np.zeros((1, 8), int), 3), "given accesses of 3"),
        (lambda: Pattern(np.zeros((1, 7), int), np.zeros((1, 7), int), 16), "multiple of 8 lanes"),
        (
            lambda: Pattern(np.zeros(8, int), np.zeros(8, int), 16),
            r"given \(8,\) and \(8,\)",
        ),
        (lambda: Pattern(np.zeros((1, 8)), np.zeros((1, 8)), 16), "whole numbers"),
        (lambda: tile_loads(np.zeros(0, int), np.zeros(0, int)), r"given \(0, 32\)"),
        (lambda: tile_loads([0.5], [0]), "tile, first row: must be whole numbers; given"),
        (lambda: tile_loads([0, 1], [0, 0, 0]), r"given \(2, 32\) and \(3, 32\)"),
        (lambda: cheapest_layout(tile_loads([0], [8]), 128), "start at no multiple of their 16"),
        (lambda: cheapest_layout(tile_loads([0], [0]), 0), "a row has at least 1 byte"),
        (lambda: cheapest_layout(tile_loads([0], [0]), 128, rows=8), "has 16 rows, the tile 8"),
        (
            # One swizzle takes one group of bits, and one row knows no padding.
            lambda: cheapest_layout(
                Pattern(np.zeros((2, 32), int), np.array([[128], [4096]]) * np.arange(32), 4), 2**17
            ),
            r"brings it down to 2 wavefronts; the best, swizzle \(.*\), takes",
        ),
    ],
)
def test_mistakes__are_named(wrong, message):
    with pytest.raises(ModelError, match=message):
        wrong()
