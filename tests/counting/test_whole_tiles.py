"""Counts from two small ones, against counts of the whole product."""

import itertools
from dataclasses import asdict

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pipeline.counting.whole_tiles import WholeTiles, period
from pipeline.errors import LaunchError, ModelError
from pipeline.kernels.matmul import counts
from pipeline.kernels.registry import KERNELS
from pipeline.vocab.counters import COUNTERS

SIDES, DEPTHS, THREAD = (8, 16, 32, 48, 64, 96), (2, 4, 8, 12, 16, 32), (2, 4, 8)
TILES = [
    dict(zip(("bm", "bn", "bk", "tm", "tn"), sizes, strict=True))
    for sizes in itertools.product(SIDES, SIDES, DEPTHS, THREAD, THREAD)
]


def launched(kernel, tile):
    known = {name: size for name, size in tile.items() if name in kernel.option_names}
    options = kernel.options(**known)
    try:
        return options, kernel.launch(options)
    except LaunchError:
        return None


FITTING = [
    (name, options, launch)
    for name in ("k04_blocktile_1d", "k05_blocktile_2d", "k06_vectorized")
    for tile in TILES
    if (found := launched(KERNELS[name], tile))
    for options, launch in [found]
]


@settings(max_examples=25)
@given(st.sampled_from(FITTING), st.integers(1, 3), st.sampled_from(["lecture", "hardware"]))
def test_square__equal_those_of_the_whole_product(fitting, times, rule):
    name, options, launch = fitting
    n = times * max(period(launch))
    assume(all(n % step == 0 for step in period(launch)) and n <= 288)
    whole = counts(KERNELS[name], n, n, n, options, rule).counters
    counter = WholeTiles(rule)
    # Another depth first: what it shares with this one is taken from there.
    for depth in (4, 8, options.bk):
        other = launched(KERNELS[name], {**asdict(options), "bk": depth})
        if other and all(n % step == 0 for step in period(other[1])):
            (row,) = counter.square(KERNELS[name], other[0], [n])
    assert dict(zip(COUNTERS, row, strict=True)) == dict(whole)


@pytest.mark.parametrize("name", ["k09_autotuned", "k10_warptiled"])
def test_square__equal_those_of_the_whole_product_for_defaults(name):
    kernel = KERNELS[name]
    whole = counts(kernel, 4096, 4096, 4096).counters
    (row,) = WholeTiles().square(kernel, kernel.options(), [4096])
    assert dict(zip(COUNTERS, row, strict=True)) == dict(whole)


def test_square__refuse_cut_tiles_and_lines():
    kernel = KERNELS["k06_vectorized"]
    with pytest.raises(ModelError, match=r"n = 192 .* multiple of 128"):
        WholeTiles().square(kernel, kernel.options(), [128, 192])
