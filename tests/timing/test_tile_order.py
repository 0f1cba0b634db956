import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from pipeline.errors import ModelError
from pipeline.timing.tile_order import tile_order

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
