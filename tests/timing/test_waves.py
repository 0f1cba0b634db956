import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from pipeline.errors import ModelError
from pipeline.timing.tile_order import ORDERS, named_order, tile_order
from pipeline.timing.waves import Waves, grouped_waves, named_waves

lengths = st.integers(1, 60)
extents = st.integers(1, 9)
waves = st.integers(1, 90)
groups = st.integers(0, 15)


def slow_waves(m, n, tile_m, tile_n, wave, row, column):
    """The definition: for each wave the set of tile rows and columns, and of matrix rows."""
    found = np.zeros(5, int)
    for start in range(0, len(row), wave):
        tiles = {*row[start : start + wave].tolist()}, {*column[start : start + wave].tolist()}
        found[:3] += 1, len(tiles[0]), len(tiles[1])
        found[3] += sum(min(tile_m, m - tile * tile_m) for tile in tiles[0])
        found[4] += sum(min(tile_n, n - tile * tile_n) for tile in tiles[1])
    return found.tolist()


@given(lengths, lengths, extents, extents, waves, groups)
def test_grouped_waves__equal_the_sets_of_the_order(m, n, tm, tn, wave, group):
    order = tile_order(-(-m // tm), -(-n // tn), group)
    found = grouped_waves(m, n, tile_m=tm, tile_n=tn, wave=wave, group=group)
    assert [int(field) for field in found] == slow_waves(m, n, tm, tn, wave, *order)


@given(lengths, lengths, extents, extents, waves, st.sampled_from(ORDERS))
def test_named_waves__equal_the_sets_of_the_order(m, n, tm, tn, wave, name):
    order = named_order(-(-m // tm), -(-n // tn), name)
    found = named_waves(m, n, tile_m=tm, tile_n=tn, wave=wave, order=name)
    assert [int(field) for field in found] == slow_waves(m, n, tm, tn, wave, *order)


@given(st.integers(1, 2000), st.integers(1, 2000), st.integers(1, 400), st.integers(0, 3000))
def test_grouped_waves__of_many_tiles_equal_the_sets_of_the_order(m, n, wave, group):
    # Waves wrap round in a band many times: where columns begin has a period.
    tiles_m, tiles_n = -(-m // 16), -(-n // 16)
    found = grouped_waves(m, n, tile_m=16, tile_n=16, wave=wave, group=group)
    order = tile_order(tiles_m, tiles_n, group)
    assert [int(field) for field in found] == slow_waves(m, n, 16, 16, wave, *order)


def test_grouped_waves__broadcast():
    wave, group = np.array([[3], [5]]), np.array([0, 2, 7])
    every = grouped_waves(30, 40, tile_m=4, tile_n=4, wave=wave, group=group)
    for at in np.ndindex(2, 3):
        one = grouped_waves(30, 40, tile_m=4, tile_n=4, wave=wave[at[0], 0], group=group[at[1]])
        assert Waves(*(field[at] for field in every)) == one


@pytest.mark.parametrize("name", ORDERS)
def test_named_waves__broadcast(name):
    wave = np.array([[3, 5], [8, 13]])
    every = named_waves(30, 40, tile_m=4, tile_n=4, wave=wave, order=name)
    for at in np.ndindex(2, 2):
        one = named_waves(30, 40, tile_m=4, tile_n=4, wave=wave[at], order=name)
        assert Waves(*(field[at] for field in every)) == one


@given(lengths, lengths, waves, groups)
def test_grouped_waves__touch_no_more_than_there_is(m, n, wave, group):
    found = grouped_waves(m, n, tile_m=1, tile_n=1, wave=wave, group=group)
    assert found.number == -(-m * n // wave)
    for tiles, there in ((found.tile_rows, m), (found.tile_columns, n)):
        assert there <= tiles <= found.number * min(there, wave)
    assert found.tile_rows == found.rows
    assert found.tile_columns == found.columns


def test_grouped_waves__a_band_higher_than_c_is_one_band():
    sizes = {"tile_m": 4, "tile_n": 4, "wave": 7}
    assert grouped_waves(30, 50, **sizes, group=2**60) == grouped_waves(30, 50, **sizes, group=8)


def test_grouped_waves__a_square_wave_of_square_groups():
    # Bands of 12 rows, waves of 12 x 12 tiles: every wave is a square.
    found = grouped_waves(96, 144, tile_m=4, tile_n=4, wave=144, group=12)
    assert (found.number, found.tile_rows, found.tile_columns) == (6, 6 * 12, 6 * 12)


@pytest.mark.parametrize("name", ["m", "n", "tile_m", "tile_n", "wave", "group"])
def test_grouped_waves__refuse_sizes_that_are_not_positive(name):
    sizes = {"m": 8, "n": 8, "tile_m": 4, "tile_n": 4, "wave": 2, "group": 1} | {name: -1}
    with pytest.raises(ModelError, match=rf"{name} = -1; .*must be positive"):
        grouped_waves(sizes.pop("m"), sizes.pop("n"), **sizes)


def test_grouped_waves__refuse_launches_that_whole_numbers_do_not_hold():
    with pytest.raises(ModelError, match=r"about 1\.84e\+19 blocks"):
        grouped_waves(2**32, 2**32, tile_m=1, tile_n=1, wave=8)


def test_grouped_waves__the_largest_launches_are_no_matter():
    n = 2**20
    found = grouped_waves(n, n, tile_m=1, tile_n=1, wave=2**10, group=2**5)
    squares = n * n // 2**10
    assert (found.number, found.tile_rows, found.tile_columns) == (squares, *[2**5 * squares] * 2)
