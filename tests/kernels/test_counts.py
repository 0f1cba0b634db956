"""Counting without values, held against the full simulation in every counter."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from pipeline.errors import LaunchError, ModelError
from pipeline.kernels import k03_smem, k12_double_buffered_async
from pipeline.kernels.half_tiles import LayoutName
from pipeline.kernels.matmul import counts, counts_of_square, multiply
from pipeline.kernels.registry import KERNELS
from pipeline.simt.hazards import IN_FLIGHT
from pipeline.simt.launch import count
from pipeline.simt.memory import GlobalArray

# Tiles so small that their multiples are no whole lines: 32-byte and 64-byte row pitches.
SMALL_TILES = {
    "k03_smem": {"bs": 8},
    "k04_blocktile_1d": {"bm": 16, "bn": 16, "bk": 4, "tm": 4},
    "k05_blocktile_2d": {"bm": 16, "bn": 8, "bk": 4, "tm": 4, "tn": 2},
    "k06_vectorized": {"bm": 16, "bn": 32, "bk": 8, "tm": 4, "tn": 4},
    "k07_banks_linearized": {"bm": 16, "bn": 32, "bk": 8, "tm": 4, "tn": 4},
    "k08_banks_padded": {"bm": 16, "bn": 32, "bk": 8, "tm": 4, "tn": 4, "pad": 3},
    "k10_warptiled": {
        "bm": 32, "bn": 16, "bk": 16, "wm": 32, "wn": 16, "wniter": 1, "tm": 4, "tn": 4,
        "threads": 32,
    },
    "k12_double_buffered_async": {
        "bm": 32, "bn": 16, "bk": 16, "wm": 32, "wn": 16, "wniter": 1, "tm": 4, "tn": 4,
        "threads": 32,
    },
    "k13_tensor_core": {"bm": 16, "bn": 16, "bk": 16, "wm": 16, "wn": 16},
}  # fmt: skip


def simulate(kernel, options, m, n, k):
    a, b = np.zeros((m, k), np.float32), np.zeros((k, n), np.float32)
    return multiply(kernel, a, b, options)[1]


def check(kernel, options, m, n, k):
    full, counted = simulate(kernel, options, m, n, k), counts(kernel, m, n, k, options)
    assert counted.counters == full.counters
    assert counted.hazard_counts == full.hazard_counts


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=lambda kernel: kernel.id)
@given(times=st.tuples(*[st.integers(1, 3)] * 3))
@settings(max_examples=6)
def test_counts__equal_the_simulation_at_random_multiples(kernel, times):
    multiple = kernel.launch(kernel.options()).multiple
    shape = [max(step, 16) * count for step, count in zip(multiple, times, strict=True)]
    check(kernel, kernel.options(), *shape)


@pytest.mark.parametrize("name", ["k01_naive", "k02_coalesced"])
@given(m=st.integers(1, 100), n=st.integers(1, 100), k=st.integers(1, 20), bs=st.integers(1, 32))
@settings(max_examples=40)
def test_counts__equal_the_simulation_at_any_shape_and_block(name, m, n, k, bs):
    check(KERNELS[name], KERNELS[name].options(bs=bs), m, n, k)


@pytest.mark.parametrize("name", SMALL_TILES)
@given(times=st.tuples(*[st.integers(1, 6)] * 3))
@settings(max_examples=10)
def test_counts__equal_the_simulation_where_rows_are_no_whole_lines(name, times):
    kernel = KERNELS[name]
    options = kernel.options(**SMALL_TILES[name])
    multiple = kernel.launch(options).multiple
    check(kernel, options, *(step * count for step, count in zip(multiple, times, strict=True)))


@given(
    warps=st.tuples(st.integers(1, 3), st.integers(1, 2)),
    tile=st.tuples(*[st.sampled_from([16, 32, 48])] * 2, st.sampled_from([16, 32, 48, 64])),
    layout=st.sampled_from(get_args(LayoutName)),
    drop_sync=st.sampled_from(["none", "first", "second"]),
    times=st.tuples(*[st.integers(1, 2)] * 3),
    rule=st.sampled_from(["lecture", "hardware"]),
)
@settings(max_examples=40)
def test_tensor_core__any_legal_tile_is_right_and_counted_as_simulated(
    warps, tile, layout, drop_sync, times, rule
):
    kernel = KERNELS["k13_tensor_core"]
    wm, wn, bk = tile
    bm, bn = warps[0] * wm, warps[1] * wn
    options = kernel.options(bm, bn, bk, wm, wn, layout, drop_sync)
    try:
        multiple = kernel.launch(options).multiple
    except LaunchError:
        reject()
    m, n, k = (step * count for step, count in zip(multiple, times, strict=True))
    rng = np.random.default_rng([m, n, k])
    a, b = (rng.integers(-8, 9, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    c, full = multiply(kernel, a, b, options, rule=rule)
    counted = counts(kernel, m, n, k, options, rule)
    assert counted.counters == full.counters
    assert counted.hazard_counts == full.hazard_counts
    assert counted.smem_bytes == kernel.launch(options).smem_bytes
    # Whole numbers: every sum is exact. The threads of a batch run in step, so that a barrier that
    # is left out shows as a hazard and not in the result.
    np.testing.assert_array_equal(c, a.astype(np.int64) @ b.astype(np.int64))
    one_warp = warps == (1, 1)
    missing = drop_sync == "first" or (drop_sync == "second" and k > bk)
    assert bool(full.hazard_counts) == (missing and not one_warp)


@pytest.mark.parametrize("rule", ["lecture", "hardware"])
def test_counts__follow_the_rule(rule):
    kernel = KERNELS["k06_vectorized"]
    a = np.zeros((128, 128), np.float32)
    full = multiply(kernel, a, a, kernel.options(), rule=rule)[1]
    assert counts(kernel, 128, 128, 128, rule=rule).counters == full.counters


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=lambda kernel: kernel.id)
def test_counts__at_4096_are_those_counted_by_hand(kernel):
    counted = counts(kernel, 4096, 4096, 4096).counters
    expected = kernel.expected(4096, 4096, 4096)
    assert {name: counted[name] for name in expected} == expected
    assert counted["fma"] == 4096**3


def test_counts__show_the_hazards_too():
    for options in (k03_smem.Options(drop_sync="first"), k03_smem.Options(drop_sync="second")):
        check(KERNELS["k03_smem"], options, 64, 96, 64)
    missing = k12_double_buffered_async.Options(drop_wait=True)
    launched = counts(KERNELS["k12_double_buffered_async"], 128, 128, 64, missing)
    assert launched.hazard_counts[IN_FLIGHT] > 0
    check(KERNELS["k12_double_buffered_async"], missing, 128, 256, 64)


def test_counts__refuse_a_shape_naming_the_multiple():
    with pytest.raises(LaunchError, match="N = 4097 must be a positive multiple of 32"):
        counts(KERNELS["k03_smem"], 4096, 4097, 4096)


def indirect(blk, table, out):
    blk.store(out, blk.load(table, blk.tid), 1)


def data_branch(blk, table, out):
    with blk.where(blk.load(table, blk.tid) > 0):
        blk.store(out, blk.tid, 1)


@pytest.mark.parametrize("body", [indirect, data_branch])
def test_count__refuses_what_depends_on_data(body):
    arrays = [GlobalArray.without_values(name, 32, np.int32) for name in ("table", "out")]
    with pytest.raises(ModelError, match="depends on data"):
        count(body, 1, 32, *arrays)


def test_count__checks_bounds():
    def body(blk, out):
        blk.store(out, blk.tid + blk.bx * 32, 1)

    with pytest.raises(IndexError, match=r"block \(1, 0, 0\), thread 8"):
        count(body, 2, 32, GlobalArray.without_values("out", 40, np.float32))


def test_counts__take_sizes_of_any_integer_type():
    kernel = KERNELS["k01_naive"]
    wanted = counts(kernel, 65_536, 65_536, 32).counters
    assert counts(kernel, np.int32(65_536), np.int32(65_536), np.int8(32)).counters == wanted


@pytest.mark.parametrize("size", [64.0, "64", None, True, np.float32(64)])
def test_counts__refuse_sizes_that_are_no_whole_numbers(size):
    with pytest.raises(LaunchError, match=r"N = .* whole numbers"):
        counts(KERNELS["k01_naive"], 64, size, 64)


@pytest.mark.parametrize("options", [k12_double_buffered_async.Options(), {"bs": 32}, 32, "x"])
def test_counts__refuse_options_of_another_kernel(options):
    kernel = KERNELS["k03_smem"]
    with pytest.raises(LaunchError, match=r"k03_smem: .*k03_smem\.Options"):
        counts(kernel, 64, 64, 64, options)
    a = np.zeros((64, 64), np.float32)
    with pytest.raises(LaunchError, match=r"k03_smem: .*k03_smem\.Options"):
        multiply(kernel, a, a, options)


@pytest.mark.parametrize(
    "factor",
    [np.zeros(64), np.zeros((2, 64, 64)), np.zeros((64, 64), complex), "text", [[1], [1, 2]], None],
    ids=str,
)
def test_multiply__refuses_factors_that_are_no_matrices(factor):
    kernel, other = KERNELS["k03_smem"], np.zeros((64, 64), np.float32)
    for name, pair in (("A", (factor, other)), ("B", (other, factor))):
        with pytest.raises(LaunchError, match=f"^{name} has .*matri"):
            multiply(kernel, *pair, kernel.options())


def test_launched__names_only_arrays_among_the_arguments():
    def body(blk, x):
        own = GlobalArray.without_values("own", 32, np.float32)
        blk.store(x, blk.tid, blk.load(own, blk.tid))

    launched = count(body, 1, 32, GlobalArray.without_values("x", 32, np.float32))
    assert (launched.loaded, launched.stored) == (frozenset(), {"x"})


@pytest.mark.parametrize("rule", ["lecture", "hardware"])
@pytest.mark.parametrize("tiles", [{}, SMALL_TILES], ids=["defaults", "small"])
@pytest.mark.parametrize("name", KERNELS)
def test_counts_of_square__are_those_of_the_whole_product(name, tiles, rule):
    kernel = KERNELS[name]
    options = kernel.options(**tiles.get(name, {}))
    n = 1280 if kernel.element == "float16" else 768
    whole = counts(kernel, n, n, n, options, rule).counters
    assert counts_of_square(kernel, n, options, rule) == whole


def test_counts_of_square__count_the_whole_where_steps_differ():
    def body(blk, a, b, c, m, n, k, options):
        for _ in range(k // 100):
            blk.sync()
        KERNELS["k01_naive"].body(blk, a, b, c, m, n, k, options)

    kernel = replace(KERNELS["k01_naive"], body=body)
    found = counts_of_square(kernel, 768, kernel.options())
    assert found == counts(kernel, 768, 768, 768).counters
    assert found["barriers"] > 0
