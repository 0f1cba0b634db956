"""Atomics on global and shared memory: values, costs, types."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import LaunchError, OutOfRangeError
from pipeline.simt import hazards
from pipeline.simt.launch import count, launch


def run(body, *arrays, grid=1, block=32, **options):
    return launch(body, grid, block, *arrays, **options)


def test_atomic_add__every_update_happens_and_finds_the_ones_before():
    out, old = np.array([100, 0], np.int32), np.full((2, 64), -1, np.int32)

    def body(blk, out, old):
        with blk.where(blk.tid % 2 == 0):
            found = blk.atomic_add(out, blk.tid * 0, blk.tid)
        blk.store(old, blk.bx * 64 + blk.tid, found)

    run(body, out, old, grid=2, block=64)
    even = np.arange(0, 64, 2)
    assert out.tolist() == [100 + 2 * even.sum(), 0]
    before = 100 + np.concatenate([[0], np.cumsum(np.tile(even, 2))[:-1]])
    np.testing.assert_array_equal(old[:, ::2].ravel(), before)
    assert not old[:, 1::2].any()


@pytest.mark.parametrize(("name", "best"), [("atomic_max", max), ("atomic_min", min)])
@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8"])
def test_atomic_extremes__keep_the_best(name, best, dtype):
    values = np.random.default_rng(3).integers(-50 if dtype[0] == "i" else 0, 50, 96).astype(dtype)
    out = np.full(3, 10, dtype)

    def body(blk, values, out):
        getattr(blk, name)(out, blk.tid // 32, blk.load(values, blk.tid))

    run(body, values, out, block=96)
    assert out.tolist() == [best(10, *part.tolist()) for part in np.split(values, 3)]


@pytest.mark.parametrize("memory", ["global", "shared"])
@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_atomic_add__takes_the_types_of_cuda_in_three_dimensions(dtype, memory):
    out = np.zeros((2, 3, 2, 4), dtype)

    def body(blk, out):
        block = (blk.bz * 3 + blk.by) * 2 + blk.bx
        place = blk.tx
        bins = blk.shared("bins", 4, dtype)
        with blk.where(blk.tid < 4):
            blk.sstore(bins, blk.tid, 0)
        blk.sync()
        if memory == "shared":
            blk.atomic_add(bins, place, 1)
            blk.sync()
            with blk.where(blk.tid < 4):
                blk.store(out, block * 4 + blk.tid, blk.sload(bins, blk.tid))
        else:
            blk.atomic_add(out, block * 4 + place, 1)

    launched = run(body, out, grid=(2, 3, 2), block=(4, 3, 3))
    np.testing.assert_array_equal(out, np.full(out.shape, 9))
    assert launched.hazard_counts == {}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("atomic_add", "i1"), ("atomic_add", "i2"), ("atomic_add", "?"), ("atomic_max", "f4")],
)
def test_atomics__refuse_types_that_cuda_refuses(name, dtype):
    def body(blk, out):
        getattr(blk, name)(out, blk.tid, 1)

    with pytest.raises(LaunchError, match=rf"test_atomics\.py:\d+: {name} on out.*CUDA has it for"):
        run(body, np.zeros(32, dtype))


def test_atomics__errors_name_the_thread_and_change_nothing():
    out = np.zeros(32, np.int32)

    def body(blk, out):
        blk.atomic_add(out, blk.tid + 1, 1)

    with pytest.raises(OutOfRangeError, match=r"thread 31 .*index 32 of out, which holds 32"):
        run(body, out)
    assert not out.any()


def test_atomic_add__integers_wrap_around():
    out = np.full(2, 2**32 - 1, np.uint32)

    def body(blk, out):
        blk.atomic_add(out, blk.tid, 2)

    run(body, out, block=2)
    assert out.tolist() == [1, 1]


@pytest.mark.parametrize("rule", ["lecture", "hardware"])
@pytest.mark.parametrize(
    ("index", "itemsize", "conflicts", "sectors", "lines", "wavefronts"),
    [
        (lambda blk: blk.tid, 4, 0, 8, 2, 2),  # a word each: 2 warps, nothing shared
        (lambda blk: blk.tid * 0, 4, 62, 2, 2, 64),  # one word: 31 wait in each warp
        (lambda blk: blk.tid % 2, 4, 60, 2, 2, 32),  # two banks with 16 lanes each, twice
        (lambda blk: blk.tid % 2 * 32, 4, 60, 4, 4, 64),  # two words in one bank
        (lambda blk: blk.tid, 8, 0, 16, 4, 4),  # halves of 16 lanes fill the banks
        (lambda blk: blk.tid * 0, 8, 62, 2, 2, 64),
    ],
)
def test_costs__hand_counted(index, itemsize, conflicts, sectors, lines, wavefronts, rule):
    dtype = f"i{itemsize}"

    def body(blk, out):
        tile = blk.shared("tile", 64, dtype)
        blk.sstore(tile, blk.tid, 0)
        blk.sync()
        blk.atomic_add(out, index(blk), 1)
        blk.atomic_add(tile, index(blk), 1)

    counters = run(body, np.zeros(64, dtype), block=64, rule=rule).counters
    assert counters["gatom_instr"] == counters["satom_instr"] == 2
    assert counters["gatom_conflicts"] == conflicts
    assert (counters["gatom_sectors"], counters["gatom_lines"]) == (sectors, lines)
    assert counters["satom_wavefronts"] == wavefronts
    assert counters["g_bytes_requested"] == 64 * itemsize
    # They are no loads and no stores: only the two stores of the zeros are
    assert counters["smem_instr"] == counters["sts_instr"] == 2
    names = ("gld_instr", "gst_instr", "gld_sectors", "gst_sectors", "lds_wavefronts")
    assert not any(counters[name] for name in names)
    assert counters["warp_instr"] == 2 + 2 + 2 + 2
    assert counters["thread_instr"] == 4 * 64


@given(st.sampled_from([1, 32, 40]), st.sampled_from([1, 64, 10_000]))
def test_costs__do_not_depend_on_batches_nor_on_values(threads, batch_lanes):
    def body(blk, out):
        bins = blk.shared("bins", 8, np.int32)
        with blk.where(blk.tid < 8):
            blk.sstore(bins, blk.tid, 0)
        blk.sync()
        blk.atomic_add(bins, (blk.tid + blk.bx) % 8, 1)
        blk.sync()
        with blk.where(blk.tid < 8):
            blk.atomic_add(out, blk.tid, blk.sload(bins, blk.tid))

    out = np.zeros(8, np.int32)
    launched = run(body, out, grid=5, block=threads, batch_lanes=batch_lanes)
    assert out.sum() == 5 * threads if threads >= 8 else True
    assert count(body, 5, threads, out).counters == launched.counters


def test_histogram__needs_zeros_a_barrier_and_atomics():
    """Each mistake is a hazard; without mistakes the bins are right."""
    values = np.random.default_rng(0).integers(0, 16, 256).astype(np.int32)

    def histogram(blk, values, out, zeroed=True, synced=True, atomic=True):
        bins = blk.shared("bins", 16, np.int32)
        if zeroed:
            with blk.where(blk.tid < 16):
                blk.sstore(bins, blk.tid, 0)
        if synced:
            blk.sync()
        value = blk.load(values, blk.tid)
        if atomic:
            blk.atomic_add(bins, value, 1)
        else:
            blk.sstore(bins, value, blk.sload(bins, value) + 1)
        blk.sync()
        with blk.where(blk.tid < 16):
            blk.store(out, blk.tid, blk.sload(bins, blk.tid))

    def found(**mistake):
        def body(blk, values, out):
            histogram(blk, values, out, **mistake)

        out = np.zeros(16, np.int32)
        return set(run(body, values, out, block=256).hazard_counts), out

    kinds, out = found()
    assert kinds == set()
    np.testing.assert_array_equal(out, np.bincount(values, minlength=16))
    assert found(zeroed=False)[0] == {hazards.UNINITIALISED}
    assert found(synced=False)[0] == {hazards.WAW}
    kinds, out = found(atomic=False)
    assert kinds >= {hazards.WAR, hazards.WAW, hazards.COLLISION}
    assert out.sum() < 256
