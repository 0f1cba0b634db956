import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from pipeline.errors import ModelError
from pipeline.timing.dram import dram_bytes, dram_bytes_square
from pipeline.timing.tile_order import tile_order

lengths = st.integers(1, 60)
extents = st.integers(1, 20)
waves = st.integers(1, 80)
groups = st.integers(0, 6)


def slow_bytes(m, n, k, tile_m, tile_n, wave, group, element_bytes):
    """The definition: for each wave the set of matrix rows and columns that its blocks read.

    C has single precision.
    """
    row, column = tile_order(-(-m // tile_m), -(-n // tile_n), group)
    read = 0
    for start in range(0, len(row), wave):
        rows = {
            i
            for tile in row[start : start + wave]
            for i in range(tile * tile_m, min((tile + 1) * tile_m, m))
        }
        columns = {
            j
            for tile in column[start : start + wave]
            for j in range(tile * tile_n, min((tile + 1) * tile_n, n))
        }
        read += (len(rows) + len(columns)) * k
    return read * element_bytes + 4 * m * n


@given(lengths, lengths, lengths, extents, extents, waves, groups, st.sampled_from([2, 4, 8]))
def test_dram_bytes__equals_the_sets_of_rows_and_columns(m, n, k, tm, tn, wave, group, size):
    counted = dram_bytes(m, n, k, tile_m=tm, tile_n=tn, wave=wave, group=group, element_bytes=size)
    assert counted == slow_bytes(m, n, k, tm, tn, wave, group, size)


def test_dram_bytes__by_hand():
    # 2 by 3 tiles of 7 by 5 in waves of 2: (0,0) (0,1) | (0,2) (1,0) | (1,1) (1,2).
    # Rows read: 7, 14, 7. Columns read: 10, 10, 10. Each 13 long. C has 14 by 15 elements.
    assert dram_bytes(14, 15, 13, tile_m=7, tile_n=5, wave=2) == 4 * ((28 + 30) * 13 + 14 * 15)


def test_dram_bytes__partial_tiles_by_hand():
    # Rows 7 + 4, columns 5 + 5 + 1, one wave each: (0,0) (0,1) (0,2) (1,0) (1,1) (1,2).
    rows = 3 * 7 + 3 * 4
    columns = 2 * (5 + 5 + 1)
    expected = 4 * ((rows + columns) * 13 + 11 * 11)
    assert dram_bytes(11, 11, 13, tile_m=7, tile_n=5, wave=1) == expected


@given(lengths, lengths, lengths, extents, extents, st.integers(0, 9), groups)
def test_dram_bytes__one_wave_reads_a_and_b_once(m, n, k, tm, tn, more, group):
    wave = -(-m // tm) * -(-n // tn) + more
    once = 4 * (m * k + k * n + m * n)
    assert dram_bytes(m, n, k, tile_m=tm, tile_n=tn, wave=wave, group=group) == once


@given(lengths, lengths, lengths, extents, extents, groups)
def test_dram_bytes__waves_of_one_block_reuse_nothing(m, n, k, tm, tn, group):
    tiles_m, tiles_n = -(-m // tm), -(-n // tn)
    every = 4 * (m * k * tiles_n + k * n * tiles_m + m * n)
    assert dram_bytes(m, n, k, tile_m=tm, tile_n=tn, wave=1, group=group) == every


@given(lengths, lengths, lengths, extents, extents, waves, groups, st.integers(2, 5))
def test_dram_bytes__merging_waves_never_reads_more(m, n, k, tm, tn, wave, group, factor):
    one = dram_bytes(m, n, k, tile_m=tm, tile_n=tn, wave=wave, group=group)
    assert dram_bytes(m, n, k, tile_m=tm, tile_n=tn, wave=factor * wave, group=group) <= one


@given(lengths, lengths, lengths, extents, extents, waves)
def test_dram_bytes__one_band_is_the_transposed_product(m, n, k, tm, tn, wave):
    banded = dram_bytes(m, n, k, tile_m=tm, tile_n=tn, wave=wave, group=m)
    assert banded == dram_bytes(n, m, k, tile_m=tn, tile_n=tm, wave=wave)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 4))
def test_dram_bytes__square_groups_touch_no_more_than_rows_do(group, bands, wide):
    # Waves of group x group tiles: 2 x group tile rows and columns against 1 + group x group.
    tiles_m, tiles_n = group * bands, group * group * wide
    shape = {"m": tiles_m * 3, "n": tiles_n * 3, "k": 5, "tile_m": 3, "tile_n": 3}
    grouped = dram_bytes(**shape, wave=group * group, group=group)
    wave_count = bands * group * wide
    assert grouped == 4 * (wave_count * 2 * group * 3 * 5 + shape["m"] * shape["n"])
    assert grouped <= dram_bytes(**shape, wave=group * group)


def test_dram_bytes_square__broadcasts_and_knows_when_nothing_runs():
    n = np.array([64, 100])[:, None]
    wave, size = np.array([[0, 3, 5]]), np.array([[4, 4, 2]])
    traffic = dram_bytes_square(n, np.array(32), np.array(16), wave, size)
    assert np.isnan(traffic[:, 0]).all()
    assert traffic[:, 1:].tolist() == [
        [
            dram_bytes(s, s, s, tile_m=32, tile_n=16, wave=w, element_bytes=e)
            for w, e in ((3, 4), (5, 2))
        ]
        for s in (64, 100)
    ]


@pytest.mark.parametrize("name", ["m", "n", "k", "tile_m", "tile_n", "wave"])
def test_dram_bytes__refuses_sizes_that_are_not_positive(name):
    arguments = {"m": 8, "n": 8, "k": 8, "tile_m": 4, "tile_n": 4, "wave": 2} | {name: 0}
    with pytest.raises(ModelError, match=rf"{name} = 0; .*must be positive"):
        dram_bytes(**arguments)
