import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from pipeline.errors import ModelError
from pipeline.timing.tile_order import ORDERS, named_order, tile_order

tiles = st.integers(1, 12)
groups = st.integers(0, 15)


def slow_order(tiles_m, tiles_n, group):
    """The definition: bands of rows, in each the columns, in each the rows."""
    height = group or 1
    return [
        (row, column)
        for top in range(0, tiles_m, height)
        for column in range(tiles_n)
        for row in range(top, min(top + height, tiles_m))
    ]


@given(tiles, tiles, groups)
def test_tile_order__equals_the_nested_loops(tiles_m, tiles_n, group):
    row, column = tile_order(tiles_m, tiles_n, group)
    assert list(zip(row, column, strict=True)) == slow_order(tiles_m, tiles_n, group)


@given(tiles, tiles, groups)
def test_tile_order__visits_every_tile_once(tiles_m, tiles_n, group):
    row, column = tile_order(tiles_m, tiles_n, group)
    visits = np.zeros((tiles_m, tiles_n), dtype=int)
    np.add.at(visits, (row, column), 1)
    assert (visits == 1).all()


@given(tiles, tiles)
def test_tile_order__groups_of_one_are_row_by_row(tiles_m, tiles_n):
    np.testing.assert_array_equal(tile_order(tiles_m, tiles_n, 1), tile_order(tiles_m, tiles_n))


@given(tiles, tiles, st.integers(0, 5))
def test_tile_order__one_band_is_column_by_column(tiles_m, tiles_n, more):
    row, column = tile_order(tiles_m, tiles_n, tiles_m + more)
    np.testing.assert_array_equal((column, row), tile_order(tiles_n, tiles_m))


@pytest.mark.parametrize("arguments", [(0, 4, 0), (4, 0, 0), (4, 4, -1)])
def test_tile_order__refuses_what_is_no_order(arguments):
    with pytest.raises(ModelError, match=f"{arguments[0]} by {arguments[1]} tiles in groups of"):
        tile_order(*arguments)


def slow_morton(row, column, size):
    """The definition: the four quarters of a square as rows of a square."""
    if size == 1:
        return [(row, column)]
    half = size // 2
    return [
        tile
        for down, right in ((0, 0), (0, 1), (1, 0), (1, 1))
        for tile in slow_morton(row + down * half, column + right * half, half)
    ]


def slow_hilbert(size):
    """The definition: four smaller curves, the first and the last mirrored at a diagonal."""
    if size == 1:
        return [(0, 0)]
    half = size // 2
    inner = slow_hilbert(half)
    return [
        *((column, row) for row, column in inner),
        *((half + row, column) for row, column in inner),
        *((half + row, half + column) for row, column in inner),
        *((half - 1 - column, size - 1 - row) for row, column in inner),
    ]


CURVES = {"morton": lambda size: slow_morton(0, 0, size), "hilbert": slow_hilbert}
grids = st.integers(1, 40)


@given(grids, grids, st.sampled_from(ORDERS))
def test_named_order__visits_every_tile_once(tiles_m, tiles_n, name):
    row, column = named_order(tiles_m, tiles_n, name)
    visits = np.zeros((tiles_m, tiles_n), dtype=int)
    np.add.at(visits, (row, column), 1)
    assert (visits == 1).all()


@given(grids, grids, st.sampled_from(sorted(CURVES)))
def test_named_order__curves_are_those_of_the_square_around_without_what_is_outside(
    tiles_m, tiles_n, name
):
    size = 1
    while size < max(tiles_m, tiles_n):
        size *= 2
    inside = [(r, c) for r, c in CURVES[name](size) if r < tiles_m and c < tiles_n]
    row, column = named_order(tiles_m, tiles_n, name)
    assert list(zip(row, column, strict=True)) == inside


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32, 64])
def test_named_order__hilbert_goes_from_a_tile_to_its_neighbour(size):
    row, column = named_order(size, size, "hilbert")
    assert (np.abs(np.diff(row)) + np.abs(np.diff(column)) == 1).all()
    assert (row[0], column[0], row[-1], column[-1]) == (0, 0, 0, size - 1)


@given(tiles, tiles)
def test_named_order__major_orders_are_groups_of_one_row_and_of_all(tiles_m, tiles_n):
    for name, group in (("row_major", 0), ("column_major", tiles_m)):
        np.testing.assert_array_equal(
            named_order(tiles_m, tiles_n, name), tile_order(tiles_m, tiles_n, group)
        )


def test_named_order__refuses_what_is_no_order():
    with pytest.raises(ModelError, match="'peano' is unknown; allowed: row_major, column_major"):
        named_order(4, 4, "peano")
    with pytest.raises(ModelError, match="0 by 4 tiles"):
        named_order(0, 4, "hilbert")
