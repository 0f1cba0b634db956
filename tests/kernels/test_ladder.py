"""The kernels of the ladder: right products, hand counts, the lecture's own counters."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import LaunchError
from pipeline.kernels import k03_smem, k05_blocktile_2d, k13_tensor_core
from pipeline.kernels.launches import FACTS, launch_facts, launches
from pipeline.kernels.matmul import counts, misfit, multiply
from pipeline.kernels.registry import KERNELS
from pipeline.simt import hazards
from pipeline.simt.matrix_instructions import needed_capability

LADDER = list(KERNELS.values())
REFERENCE = Path(__file__).parents[1] / "data" / "reference_counters.csv"
ANY_SHAPE = ["k01_naive", "k02_coalesced"]


def factors(m, n, k):
    rng = np.random.default_rng([m, n, k])
    return (
        rng.standard_normal((m, k), dtype=np.float32),
        rng.standard_normal((k, n), dtype=np.float32),
    )


def check_product(kernel, options, m, n, k):
    a, b = (factor.astype(kernel.element) for factor in factors(m, n, k))
    c, launched = multiply(kernel, a, b, options)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), atol=1e-3)
    assert launched.counters["race_count"] == 0
    assert not launched.hazards
    return launched.counters


def smallest(kernel):
    """Smallest M, N and K that a kernel takes and that fill whole lines."""
    return [max(step, 32) for step in kernel.launch(kernel.options()).multiple]


def reference_rows():
    lines = [line for line in REFERENCE.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


@pytest.mark.parametrize("row", reference_rows(), ids=lambda row: f"{row['kernel']}-{row['n']}")
def test_counters__are_those_of_the_lecture(row):
    kernel = KERNELS[row["kernel"]]
    n = int(row["n"])
    counters = check_product(kernel, kernel.options(), n, n, n)
    given_counters = {name: int(row[name]) for name in row if name in counters}
    assert len(given_counters) > 15
    assert {name: counters[name] for name in given_counters} == given_counters


@pytest.mark.parametrize("kernel", LADDER, ids=lambda kernel: kernel.id)
@pytest.mark.parametrize("times", [(1, 1, 1), (2, 1, 3), (1, 3, 2)])
def test_counters__are_those_counted_by_hand(kernel, times):
    shape = [size * count for size, count in zip(smallest(kernel), times, strict=True)]
    counters = check_product(kernel, kernel.options(), *shape)
    expected = kernel.expected(*shape)
    assert {name: counters[name] for name in expected} == expected
    assert counters["fma"] == np.prod(shape)


@pytest.mark.parametrize("name", ANY_SHAPE)
@given(m=st.integers(1, 70), n=st.integers(1, 70), k=st.integers(1, 9))
@settings(max_examples=25)
def test_product__of_any_shape(name, m, n, k):
    counters = check_product(KERNELS[name], KERNELS[name].options(), m, n, k)
    assert counters["fma"] == m * n * k


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("k01_naive", {"bs": 8}),
        ("k02_coalesced", {"bs": 16}),
        ("k03_smem", {"bs": 8}),
        ("k04_blocktile_1d", {"bm": 32, "bn": 32, "bk": 8, "tm": 4}),
        ("k05_blocktile_2d", {"bm": 64, "bn": 32, "bk": 16, "tm": 4, "tn": 2}),
        ("k05_blocktile_2d", {"bm": 64, "bn": 64, "tm": 8, "tn": 4, "vec_b": True}),
        ("k06_vectorized", {"bm": 64, "bn": 64, "bk": 16, "tm": 4, "tn": 8}),
        ("k13_tensor_core", {"bm": 32, "bn": 64, "bk": 32, "wm": 16, "wn": 32}),
        ("k13_tensor_core", {"bm": 48, "bn": 32, "bk": 16, "wm": 48, "wn": 32, "layout": "plain"}),
    ],
)
def test_product__with_other_tiles(name, options):
    kernel = KERNELS[name]
    chosen = kernel.options(**options)
    m, n, k = kernel.launch(chosen).multiple
    check_product(kernel, chosen, m * 2, n * 3, k * 4)


def test_vec_b__saves_shared_loads_and_a_third_of_the_wavefronts():
    counters = check_product(
        KERNELS["k05_blocktile_2d"], k05_blocktile_2d.Options(vec_b=True), 128, 128, 128
    )
    expected = {"warp_instr": 78592, "lds_instr": 10240, "lds_wavefronts": 32768}
    assert {name: counters[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("dropped", "count", "kind"), [("first", 2048, hazards.RAW), ("second", 48, hazards.WAR)]
)
def test_dropped_barrier__makes_the_races_of_the_lecture(dropped, count, kind):
    a, b = factors(128, 128, 128)
    options = k03_smem.Options(drop_sync=dropped)
    _, launched = multiply(KERNELS["k03_smem"], a, b, options)
    assert launched.counters["race_count"] == count
    assert launched.hazard_counts == {kind: count}
    first = launched.hazards[0]
    assert first.array == "b_tile"
    assert first.other_warp >= 0
    assert first.warp != first.other_warp
    assert first.source.startswith("k03_smem.py:")


@pytest.mark.parametrize(
    ("bk", "layout", "wavefronts"),
    [
        # Rows of the tile of A: 128 bytes apart, all eight in the same banks; 64 bytes, four.
        (64, "plain", (8 + 8) / 2),
        (32, "plain", (4 + 8) / 2),
        (64, "padded", 1),
        (32, "padded", 1),
        *((bk, "xor_swizzle", 1) for bk in (16, 32, 64, 128)),
    ],
)
@pytest.mark.parametrize("rule", ["lecture", "hardware"])
def test_layout__decides_the_conflicts_of_ldmatrix(bk, layout, wavefronts, rule):
    kernel = KERNELS["k13_tensor_core"]
    options = k13_tensor_core.Options(bk=bk, layout=layout)
    counters = counts(kernel, 256, 128, 128, options, rule).counters
    assert counters["ldmatrix_wavefronts"] == 4 * wavefronts * counters["ldmatrix_instr"]


@pytest.mark.parametrize(("dropped", "kind"), [("first", hazards.RAW), ("second", hazards.WAR)])
def test_tensor_core__needs_both_barriers(dropped, kind):
    kernel = KERNELS["k13_tensor_core"]
    a, b = factors(128, 128, 128)
    _, launched = multiply(kernel, a, b, k13_tensor_core.Options(drop_sync=dropped))
    assert set(launched.hazard_counts) == {kind}


@pytest.mark.parametrize("kernel", LADDER, ids=lambda kernel: kernel.id)
def test_launch__asks_for_the_compute_capability_of_what_is_counted(kernel):
    counters = counts(kernel, *smallest(kernel)).counters
    assert kernel.launch(kernel.options()).capability == needed_capability(counters)


@pytest.mark.parametrize("kernel", LADDER, ids=lambda kernel: kernel.id)
def test_misfit__names_the_multiple(kernel):
    multiple = kernel.launch(kernel.options()).multiple
    for axis, (name, step) in enumerate(zip("MNK", multiple, strict=True)):
        shape = list(multiple)
        shape[axis] += 1
        reason = misfit(kernel, kernel.options(), *shape)
        if step == 1:
            assert reason is None
        else:
            assert f"{name} = {step + 1} must be a positive multiple of {step}" in reason
            with pytest.raises(LaunchError, match=f"multiple of {step}"):
                multiply(kernel, *factors(*shape), kernel.options())


def test_multiply__inner_sizes_must_agree():
    a, b = np.ones((4, 5), np.float32), np.ones((6, 4), np.float32)
    with pytest.raises(LaunchError, match="inner sizes must agree"):
        multiply(KERNELS["k01_naive"], a, b, KERNELS["k01_naive"].options())


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("k01_naive", {"bs": 33}, "bs must be between 1 and 32"),
        ("k03_smem", {"drop_sync": "third"}, "none, first or second"),
        ("k04_blocktile_1d", {"bk": 16}, "each thread loads one value"),
        ("k05_blocktile_2d", {"tm": 0}, "at least 1"),
        ("k05_blocktile_2d", {"bm": 120}, "rounds of whole rows"),
        ("k05_blocktile_2d", {"tn": 2, "vec_b": True}, "multiple of 4"),
        ("k06_vectorized", {"tm": 6}, "multiple of 4"),
        ("k06_vectorized", {"bm": 256, "bn": 256, "tm": 4, "tn": 4}, "between 1 and 1024"),
        ("k13_tensor_core", {"wm": 24}, "positive multiple of 16"),
        ("k13_tensor_core", {"bk": 0}, "positive multiple of 16"),
        ("k13_tensor_core", {"wm": 48}, "bm must be a multiple of wm"),
        ("k13_tensor_core", {"wm": 16, "wn": 16}, "between 32 and 1024"),
        ("k13_tensor_core", {"bk": 48, "bm": 96, "wm": 48}, "powers of two"),
        ("k13_tensor_core", {"bk": 48, "layout": "padded"}, "rounds of whole rows"),
        ("k13_tensor_core", {"layout": "swizzled"}, "plain, padded, xor_swizzle"),
        ("k13_tensor_core", {"drop_sync": "third"}, "none, first or second"),
    ],
)
def test_launch__refuses_options_that_contradict(name, options, reason):
    kernel = KERNELS[name]
    with pytest.raises(LaunchError, match=reason):
        kernel.launch(kernel.options(**options))


def test_launches__hold_the_facts_of_every_kernel():
    facts = {kernel.id: launch_facts(kernel, kernel.options()) for kernel in LADDER}
    dataset = launches(facts)
    assert list(dataset.kernel.values) == list(KERNELS)
    assert set(dataset.data_vars) == set(FACTS)
    assert dataset.smem_bytes.sel(kernel="k04_blocktile_1d") == 4096
    assert dataset.kernel_label.sel(kernel="k06_vectorized") == "vectorized"


def test_registry__is_the_ladder_in_order():
    assert [kernel.number for kernel in LADDER] == sorted({kernel.number for kernel in LADDER})
    for kernel in LADDER:
        assert kernel.id.startswith(f"k{kernel.number:02d}_")
        assert kernel.body.__module__ == f"pipeline.kernels.{kernel.id}"
