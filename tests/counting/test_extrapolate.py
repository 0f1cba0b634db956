from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given

from pipeline.counting.extrapolate import extrapolate
from pipeline.errors import ModelError, VocabularyError
from pipeline.vocab.counters import COUNTERS

REFERENCE = Path(__file__).parents[1] / "data" / "reference_counters.csv"
SIZES = (128, 256, 384, 512, 640)


def k01_by_hand(n):
    """A warp step reads 32 rows of A and one word of B; a store touches 32 rows of C."""
    warps = n * n // 32
    return {
        "blocks": (n // 32) ** 2,
        "threads": n * n,
        "warp_instr": warps * (3 * n + 1),
        "thread_instr": n * n * (3 * n + 1),
        "ffma_instr": warps * n,
        "fma": n**3,
        "gld_instr": 2 * warps * n,
        "gst_instr": warps,
        "gld_sectors": warps * n * (32 + 1),
        "gst_sectors": warps * 32,
        "gld_lines": warps * n * (32 + 1),
        "gst_lines": warps * 32,
        "g_bytes_requested": 4 * (2 * n**3 + n * n),
    }


def k02_by_hand(n):
    """A warp step reads one word of A and one line of B; a store fills one line of C."""
    warps = n * n // 32
    return k01_by_hand(n) | {
        "gld_sectors": warps * n * (1 + 4),
        "gst_sectors": warps * 4,
        "gld_lines": warps * n * (1 + 1),
        "gst_lines": warps,
    }


def k03_by_hand(n):
    """Per chunk of 32: load and store one element of A and of B, 32 steps, two barriers."""
    warps, chunks, blocks = n * n // 32, n // 32, (n // 32) ** 2
    loads, reads = 2 * warps * chunks, 2 * 32 * warps * chunks
    return k02_by_hand(n) | {
        "warp_instr": warps * (chunks * (2 + 2 + 2 * 32 + 32 + 2) + 1),
        "thread_instr": 32 * warps * (chunks * (2 + 2 + 2 * 32 + 32 + 2) + 1),
        "gld_instr": loads,
        "gld_sectors": 4 * loads,
        "gld_lines": loads,
        "g_bytes_requested": 4 * (32 * loads + n * n),
        "smem_instr": loads + reads,
        "sts_instr": loads,
        "lds_instr": reads,
        "smem_wavefronts": loads + reads,
        "sts_wavefronts": loads,
        "lds_wavefronts": reads,
        "ideal_smem_wavefronts": loads + reads,
        "barriers": 2 * chunks * blocks,
    }


BY_HAND = {"k01_naive": k01_by_hand, "k02_coalesced": k02_by_hand, "k03_smem": k03_by_hand}


def dataset(laws, sizes=SIZES):
    """Counts (kernel, n) of kernels that follow ``laws``; counters that a law omits are 0."""
    rows = [[law(n) for n in sizes] for law in laws.values()]
    return xr.Dataset(
        {
            name: (("kernel", "n"), np.array([[c.get(name, 0) for c in row] for row in rows]))
            for name in COUNTERS
        }
        | {"simulated": (("kernel", "n"), np.ones((len(laws), len(sizes)), dtype=bool))},
        coords={
            "kernel": list(laws),
            "n": list(sizes),
            "kernel_label": ("kernel", [f"label of {kernel}" for kernel in laws]),
        },
    )


def cubic(**coefficients):
    """A law in which the named counters are polynomials, lowest power first."""
    return lambda n: (
        {"fma": n**3}
        | {
            name: sum(c * n**power for power, c in enumerate(values))
            for name, values in coefficients.items()
        }
    )


@pytest.mark.parametrize("kernel", BY_HAND)
def test_hand_counts__equal_the_lecture(kernel):
    table = pd.read_csv(REFERENCE, comment="#").set_index(["kernel", "n"])
    for n in (128, 256):
        by_hand = BY_HAND[kernel](n)
        assert table.loc[(kernel, n)].to_dict() == {name: by_hand.get(name, 0) for name in table}


def test_polynomial__equals_the_hand_count_at_any_size():
    result = extrapolate(dataset(BY_HAND), (128, 896, 4096), held_out=640, per_fma_base=128)
    exact = result.sel({"method": "polynomial"})
    for kernel, law in BY_HAND.items():
        for n in (128, 896, 4096):
            counted = {name: int(exact[name].sel(kernel=kernel, n=n)) for name in COUNTERS}
            assert counted == dict.fromkeys(COUNTERS, 0) | law(n)


def test_per_fma__divides_and_multiplies_as_the_lecture_does():
    counts = dataset(BY_HAND)
    result = extrapolate(counts, (256, 4096), held_out=640, per_fma_base=256)
    base = counts.sel(n=256)
    for n in (256, 4096):
        scaled = result.sel({"method": "per_fma", "n": n})
        for name in COUNTERS:
            np.testing.assert_allclose(scaled[name], base[name] / base.fma * float(n) ** 3, 1e-15)
    # What happens once per element of C grows with n squared, so it comes out n / base too large.
    exact = result.sel({"method": "polynomial", "n": 4096})
    ratio = result.sel({"method": "per_fma", "n": 4096}).gst_lines / exact.gst_lines
    np.testing.assert_array_equal(ratio, 4096 / 256)


def test_held_out_error__is_the_worst_counter():
    # Blocks, threads and stores go with n squared: 640 / 128 times too large, an error of 4.
    result = extrapolate(dataset(BY_HAND), (4096,), held_out=640, per_fma_base=128)
    assert result.held_out_error.dims == ("kernel", "method")
    assert (result.held_out_error.sel({"method": "per_fma"}) == 4.0).all()
    assert (result.held_out_counter.sel({"method": "per_fma"}) == "blocks").all()
    assert (result.held_out_error.sel({"method": "polynomial"}) == 0.0).all()
    assert (result.held_out_counter.sel({"method": "polynomial"}) == "none").all()
    assert result.attrs == {"held_out": 640, "per_fma_base": 128}


def test_held_out_error__predicting_what_never_happens_is_infinitely_wrong():
    # 16 races at n = 4, none at n = 20; scaling by multiply-adds makes 2000 of them.
    laws = {"k": lambda n: {"fma": n**3, "race_count": (n - 20) ** 2 // 16}}
    result = extrapolate(dataset(laws, (4, 8, 12, 16, 20)), (4,), held_out=20, per_fma_base=4).sel(
        {"kernel": "k", "method": "per_fma"}
    )
    assert np.isinf(result.held_out_error)
    assert result.held_out_counter == "race_count"


@given(
    step=st.integers(1, 64),
    coefficients=st.lists(
        st.tuples(*[st.integers(0, 9)] * 4), min_size=len(COUNTERS), max_size=len(COUNTERS)
    ),
    multiples=st.lists(st.integers(1, 12), min_size=5, max_size=7, unique=True),
    target=st.integers(1, 500),
)
def test_polynomial__finds_every_cubic_from_any_sizes_in_any_order(
    step, coefficients, multiples, target
):
    law = cubic(**dict(zip(COUNTERS, coefficients, strict=True)) | {"fma": (0, 0, 0, 1)})
    sizes = [step * multiple for multiple in multiples]
    n = step * int(np.gcd.reduce(multiples)) * target
    counts = dataset({"k": law}, sizes)
    result = extrapolate(counts, (n,), held_out=sizes[0], per_fma_base=sizes[1])
    exact = result.sel({"method": "polynomial", "kernel": "k", "n": n})
    assert {name: int(exact[name]) for name in COUNTERS} == dict.fromkeys(COUNTERS, 0) | law(n)


def test_polynomial__is_the_nearest_float_beyond_two_to_the_53():
    n = 128 * 1_000_003
    law = cubic(gld_lines=(1, 0, 0, 7))
    result = extrapolate(dataset({"k": law}), (n,), held_out=640, per_fma_base=128)
    value = result.gld_lines.sel({"kernel": "k", "n": n, "method": "polynomial"}).item()
    assert law(n)["gld_lines"] > 2**53
    assert value == float(law(n)["gld_lines"])


@pytest.mark.parametrize("n", SIZES)
def test_polynomial__refuses_a_counter_that_misses_anywhere(n):
    counts = dataset(BY_HAND, SIZES[::-1])
    counts.barriers.loc["k03_smem", n] += 1
    with pytest.raises(ModelError, match=r"k03_smem: barriers at size 640 was counted as") as error:
        extrapolate(counts, (4096,), held_out=640, per_fma_base=128)
    assert "128, 256, 384, 512" in str(error.value)
    assert "tile" in str(error.value)


def test_polynomial__checks_every_size_that_it_does_not_fit():
    counts = dataset(BY_HAND, (*SIZES, 768))
    counts.gst_lines.loc["k01_naive", 640] += 1
    with pytest.raises(ModelError, match=r"k01_naive: gst_lines at size 640") as error:
        extrapolate(counts, (4096,), held_out=768, per_fma_base=128)
    assert f"{640 * 640 + 1}, but" in str(error.value)
    assert f"gives {640 * 640} (1 of {2 * len(COUNTERS)}" in str(error.value)


@pytest.mark.parametrize(
    ("law", "shown"),
    [
        # Whole at 1, 2, 4, 8 and 16, and 100 - 2/168 at 3.
        (lambda n: 100 + (n - 1) * (n - 2) * (n - 4) // 168, "8399/84 = 99.9881"),
        (lambda n: (n - 2) * (n - 4), "-1"),
    ],
    ids=["a fraction", "negative"],
)
def test_polynomial__refuses_what_is_no_count(law, shown):
    counts = dataset({"k": lambda n: {"fma": n**3, "barriers": law(n)}}, (1, 2, 4, 8, 16))
    with pytest.raises(ModelError, match=f"barriers at size 3 comes out as {shown} "):
        extrapolate(counts, (3,), held_out=16, per_fma_base=1)


def test_simulated__sizes_that_a_kernel_does_not_take_are_left_out():
    counts = dataset(BY_HAND, (96, *SIZES))
    counts = counts.where(counts.n != 96, 0).astype(int)
    counts["simulated"] = (counts.fma > 0).drop_attrs()
    result = extrapolate(counts, (4096,), held_out=640, per_fma_base=128)
    assert result.fma.sel({"kernel": "k01_naive", "n": 4096, "method": "polynomial"}) == 4096**3


def left_out(counts, kernel, *sizes):
    """The counts of a kernel that does not take some sizes."""
    here = (counts.kernel == kernel) & counts.n.isin(sizes)
    return counts.where(~here, 0).astype(int).assign(simulated=counts.simulated & ~here)


def test_held_out__of_a_kernel_that_does_not_take_it_is_its_largest_size():
    counts = left_out(dataset(BY_HAND, (*SIZES, 768, 1024)), "k02_coalesced", 128, 384, 640)
    with pytest.raises(
        ModelError, match=r"k02_coalesced: 3 sizes .* held-out 1024 \(256, 512, 768"
    ):
        extrapolate(counts, (4096,), held_out=640, per_fma_base=128)
    counts = left_out(dataset(BY_HAND, (*SIZES, 768, 1024, 1280)), "k02_coalesced", 128, 384, 640)
    result = extrapolate(counts, (4096,), held_out=640, per_fma_base=128)
    assert result.held_out_n.to_series().to_dict() == dict.fromkeys(BY_HAND, 640) | {
        "k02_coalesced": 1280
    }
    assert int(result.per_fma_base_n.sel(kernel="k02_coalesced")) == 256
    assert (result.held_out_error.sel({"method": "polynomial"}) == 0).all()
    # Stores go with n squared: 1280 / 256 times too large.
    error = result.held_out_error.sel({"method": "per_fma", "kernel": "k02_coalesced"})
    assert float(error) == 1280 / 256 - 1
    exact = result.sel({"method": "polynomial", "kernel": "k02_coalesced", "n": 4096})
    assert int(exact.gst_lines) == k02_by_hand(4096)["gst_lines"]


def test_held_out__a_miss_at_the_largest_size_is_refused_too():
    counts = left_out(dataset(BY_HAND, (*SIZES, 768, 1024, 1280)), "k02_coalesced", 128, 384, 640)
    counts.gld_lines.loc["k02_coalesced", 1280] += 1
    with pytest.raises(ModelError, match="k02_coalesced: gld_lines at size 1280 was counted as"):
        extrapolate(counts, (4096,), held_out=640, per_fma_base=128)


def test_roles__a_base_at_the_end_leaves_another_size_to_hold_out():
    counts = left_out(dataset(BY_HAND, (*SIZES, 768)), "k01_naive", 640)
    result = extrapolate(counts, (4096,), held_out=640, per_fma_base=768)
    assert int(result.held_out_n.sel(kernel="k01_naive")) == 512
    assert int(result.per_fma_base_n.sel(kernel="k01_naive")) == 768


def test_simulated__too_few_sizes_name_kernel_and_sizes():
    counts = dataset(BY_HAND)
    counts.simulated.loc["k02_coalesced", 384] = False
    with pytest.raises(ModelError, match=r"k02_coalesced: 3 sizes .* 640 \(128, 256, 512\)"):
        extrapolate(counts, (4096,), held_out=640, per_fma_base=128)


def test_simulated__nowhere_is_said_plainly():
    counts = left_out(dataset(BY_HAND), "k03_smem", *SIZES)
    with pytest.raises(ModelError, match=r"k03_smem: was simulated at 0 sizes \(none\)"):
        extrapolate(counts, (4096,), held_out=640, per_fma_base=128)


@pytest.mark.parametrize(
    ("sizes", "held_out", "base", "message"),
    [
        (
            (4096, 1000),
            640,
            128,
            r"k01_naive: .* size 1000\. .* multiples of 128; .* all kernels is 1024",
        ),
        ((0,), 640, 128, "size 0"),
        ((-128,), 640, 128, "size -128"),
        ((), 640, 128, "none; give at least one"),
        ((4096, 4096), 640, 128, "4096, 4096; give .* each once"),
        ((4096,), 1024, 128, r"held_out is 1024, but .* 128, 256, 384, 512, 640; choose"),
        ((4096,), 640, 64, "per_fma_base is 64, but"),
        ((4096,), 128, 128, "held_out and per_fma_base are both 128"),
    ],
)
def test_extrapolate__refuses_sizes_outside_its_range(sizes, held_out, base, message):
    with pytest.raises(ModelError, match=message):
        extrapolate(dataset(BY_HAND), sizes, held_out=held_out, per_fma_base=base)


def test_per_fma__refuses_a_kernel_without_multiply_adds():
    with pytest.raises(ModelError, match="k: no multiply-add was counted at size 128"):
        extrapolate(
            dataset({"k": lambda n: {"blocks": n}}), (4096,), held_out=640, per_fma_base=128
        )


def test_extrapolate__names_what_the_counts_lack():
    counts = dataset(BY_HAND)
    with pytest.raises(VocabularyError, match="lack gld_lines, simulated"):
        extrapolate(counts.drop_vars(["simulated", "gld_lines"]), (4096,), 640, 128)
    with pytest.raises(VocabularyError, match=r"hold blocks over \('n',\)"):
        extrapolate(counts.isel(kernel=0), (4096,), 640, 128)


def test_extrapolate__result_explains_itself():
    result = extrapolate(dataset(BY_HAND), (256, 128), held_out=640, per_fma_base=128)
    assert result.gld_lines.dims == ("kernel", "n", "method")
    assert list(result.n) == [256, 128]
    assert list(result.method) == ["per_fma", "polynomial"]
    assert result.kernel_label.sel(kernel="k03_smem") == "label of k03_smem"
    assert result.held_out_counter.dtype.kind == "U"
    assert {name for name in COUNTERS if result[name].dtype != np.float64} == set()
    assert all({"units", "long_name"} <= set(result[name].attrs) for name in result.variables)
