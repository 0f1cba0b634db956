"""The example reductions: right, free of hazards, and as costly as their head says."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.simt import hazards
from pipeline.simt.launch import count, launch

PATH = Path(__file__).resolve().parents[2] / "examples" / "reduction.py"
SPEC = importlib.util.spec_from_file_location("reduction", PATH)
reduction = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(reduction)
KERNELS = ("atomics", "interleaved", "halved", "shuffled")


def run(name, n, threads=256, how=launch, **options):
    """Sum the rows of whole numbers, which floats add exactly."""
    x = np.random.default_rng(n).integers(-9, 9, (n, n)).astype(np.float32)
    out = np.zeros(n, np.float32)
    grid = (-(-n // threads), n)
    return x, out, how(getattr(reduction, name), grid, threads, x, out, n, **options)


@pytest.mark.parametrize("name", KERNELS)
@given(
    n=st.integers(1, 70),
    threads=st.sampled_from([32, 64, 256]),
    batch_lanes=st.sampled_from([1, 1 << 15]),
)
def test_reduction__equals_its_specification_without_hazards(name, n, threads, batch_lanes):
    x, out, launched = run(name, n, threads, batch_lanes=batch_lanes)
    np.testing.assert_array_equal(out, reduction.row_sums(x))
    assert launched.hazard_counts == {}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [7, 256, 300])
def test_reduction__is_counted_without_values_alike(name, n):
    assert run(name, n)[2].counters == run(name, n, how=count)[2].counters


# 256 rows of 256: 256 blocks of 8 warps
EXPECTED = {
    # A warp adds 32 values to one word: 31 lanes wait
    "atomics": {"gatom_instr": 8, "gatom_conflicts": 8 * 31, "barriers": 0},
    # Steps 1 to 128. Warps with active threads: 4, 2, and 1 six times. Wavefronts: 4 warps x 2,
    # 2 x 4, 1 x 8, then 16 threads on 2 banks, 8, 4, 2 and 1 on one bank: 5 x 8 + 4 + 2 + 1 = 47.
    # Two loads and a store each; 8 warps store their elements; one thread loads the result.
    "interleaved": {
        "lds_instr": 2 * 12 + 1,
        "lds_wavefronts": 2 * 47 + 1,
        "sts_wavefronts": 47 + 8,
        "ideal_smem_wavefronts": 3 * 12 + 1 + 8,
        "barriers": 8,
        "gatom_conflicts": 0,
    },
    # The same warps, and each is served at once
    "halved": {
        "lds_instr": 2 * 12 + 1,
        "lds_wavefronts": 2 * 12 + 1,
        "sts_wavefronts": 12 + 8,
        "ideal_smem_wavefronts": 3 * 12 + 1 + 8,
        "barriers": 8,
    },
    # 5 shuffles in 8 warps, and in the first one again; each warp stores one word
    "shuffled": {
        "shfl_instr": 5 * 8 + 5,
        "lds_wavefronts": 1,
        "sts_wavefronts": 8,
        "barriers": 1,
        "warp_instr": 8 + 45 + 8 + 8 + 1 + 1,
    },
}


@pytest.mark.parametrize("name", KERNELS)
def test_reduction__costs_by_hand(name):
    counters = run(name, 256)[2].counters
    blocks = 256
    shared = {"gld_instr": 8, "gld_sectors": 32, "race_count": 0, "g_bytes_requested": 0}
    expected = shared | {"gatom_instr": 1, "gatom_sectors": 1} | EXPECTED[name]
    expected["gatom_sectors"] = expected["gatom_instr"]
    threads_adding = 256 if name == "atomics" else 1
    expected["g_bytes_requested"] = 4 * (256 + threads_adding)
    for counter, value in expected.items():
        assert counters[counter] == blocks * value, counter


@pytest.mark.parametrize("name", ["interleaved", "halved", "shuffled"])
def test_reduction__needs_its_barriers(name, monkeypatch):
    monkeypatch.setattr("pipeline.simt.block.Block.sync", lambda blk: None)
    launched = run(name, 256)[2]
    assert launched.hazard_counts[hazards.RAW] > 0
    assert launched.hazards[0].array == "sums"
    assert launched.hazards[0].source.startswith("reduction.py:")


def test_reduction__needs_its_atomics(monkeypatch):
    def plainly(blk, out, index, value):
        blk.store(out, index, blk.load(out, index) + value)

    monkeypatch.setattr("pipeline.simt.block.Block.atomic_add", plainly)
    launched = run("halved", 300)[2]
    # Two blocks to a row: each reads what the other writes, and the second one overwrites
    assert launched.hazard_counts == {hazards.GLOBAL_READ: 600, hazards.GLOBAL_WRITE: 300}
    hazard = launched.hazards[0]
    assert (hazard.block, hazard.other_block) == ((0, 0, 0), (1, 0, 0))
