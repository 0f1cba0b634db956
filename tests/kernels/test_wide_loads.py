"""Variants that read shared memory as compiled code does: same products, fewer instructions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import LaunchError
from pipeline.kernels.matmul import counts, multiply
from pipeline.kernels.registry import KERNELS

VARIANTS = [
    ("k03_smem", {"bs": 32}, True),
    ("k03_smem", {"bs": 8}, True),
    ("k04_blocktile_1d", {}, True),
    ("k04_blocktile_1d", {"bm": 32, "bn": 32, "bk": 8, "tm": 4}, True),
    ("k05_blocktile_2d", {}, "whole"),
    ("k05_blocktile_2d", {}, "first_twice"),
    ("k05_blocktile_2d", {"bm": 64, "bn": 64, "bk": 16, "tm": 4, "tn": 8}, "first_twice"),
]
# What no width of a shared load changes.
SAME = (
    "ffma_instr",
    "fma",
    "gld_instr",
    "gld_sectors",
    "gst_sectors",
    "sts_wavefronts",
    "barriers",
)


def variant(name, options, wide):
    return KERNELS[name], KERNELS[name].options(**options, wide_loads=wide)


def product(kernel, options, shape, rule):
    m, n, k = shape
    rng = np.random.default_rng(shape)
    a = rng.standard_normal((m, k), dtype=np.float32)
    b = rng.standard_normal((k, n), dtype=np.float32)
    c, launched = multiply(kernel, a, b, options, rule)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, atol=1e-3)
    assert not launched.hazards
    return c, launched.counters


@pytest.mark.parametrize("rule", ["lecture", "hardware"])
@pytest.mark.parametrize(("name", "options", "wide"), VARIANTS)
@given(times=st.tuples(*[st.integers(1, 2)] * 3))
@settings(max_examples=4)
def test_wide_loads__change_neither_product_nor_anything_but_shared_loads(
    name, options, wide, rule, times
):
    kernel, narrow = KERNELS[name], KERNELS[name].options(**options)
    shape = [t * step for t, step in zip(times, kernel.launch(narrow).multiple, strict=True)]
    _, chosen = variant(name, options, wide)
    c, counted = product(kernel, chosen, shape, rule)
    plain, before = product(kernel, narrow, shape, rule)
    np.testing.assert_array_equal(c, plain)
    assert {key: counted[key] for key in SAME} == {key: before[key] for key in SAME}
    assert counted["lds_instr"] < before["lds_instr"]
    assert dict(counts(kernel, *shape, chosen, rule).counters) == dict(counted)


# Wavefronts per warp and step of the main loop, counted by hand. The hardware rule first.
BY_HAND = {
    # 8 uniform LDS.128 on A, 32 LDS.32 on B; a uniform LDS.128 takes 2 wavefronts, or 4 phases.
    ("k03_smem", True): (8 * 2 + 32, 8 * 4 + 32, 8 + 32, 32),
    # 8 rows of A in 2 LDS.128 each, 8 LDS.32 on B.
    ("k04_blocktile_1d", True): (16 * 2 + 8, 16 * 4 + 8, 16 + 8, 8),
    # Two rows of A at once: lanes pair up, and no phase sees both. Eight float4 of B with a stride
    # of 32 bytes fall into 4 banks each: two wavefronts for a quarter of a warp.
    ("k05_blocktile_2d", "whole"): (16 * 2 + 16 * 8, 16 * 4 + 16 * 8, 32, 8),
    # Eight LDS.32 on A before that: the two rows are 64 words apart, in one bank.
    ("k05_blocktile_2d", "first_twice"): (
        8 * 2 + 16 * 2 + 16 * 8,
        8 * 2 + 16 * 4 + 16 * 8,
        8 + 32,
        8,
    ),
}


@pytest.mark.parametrize(("name", "wide"), BY_HAND)
def test_wide_loads__cost_what_was_counted_by_hand(name, wide):
    kernel, options = variant(name, {}, wide)
    m, n, k = (max(step, 64) for step in kernel.launch(options).multiple)
    hardware, lecture, loads, depth = BY_HAND[name, wide]
    tile_m, tile_n = kernel.launch(options).tile
    warps = m // tile_m * (n // tile_n) * kernel.launch(options).threads // 32
    steps = warps * k // depth
    for rule, wavefronts in (("hardware", hardware), ("lecture", lecture)):
        counted = counts(kernel, m, n, k, options, rule).counters
        assert counted["lds_wavefronts"] == wavefronts * steps
        assert counted["lds_instr"] == loads * steps


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("k03_smem", {"bs": 6, "wide_loads": True}, "bs to be a multiple of 4"),
        (
            "k04_blocktile_1d",
            {"bm": 16, "bn": 16, "bk": 2, "wide_loads": True},
            "bk to be a multiple",
        ),
        ("k05_blocktile_2d", {"tn": 2, "wide_loads": "whole"}, "bk and tn to be multiples of 4"),
        ("k05_blocktile_2d", {"wide_loads": "half"}, "none, whole or first_twice"),
    ],
)
def test_launch__refuses_loads_that_would_leave_their_row(name, options, reason):
    with pytest.raises(LaunchError, match=reason):
        KERNELS[name].launch(KERNELS[name].options(**options))
