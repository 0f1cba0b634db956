"""Tensor-core instructions of the block model, held against :mod:`pipeline.tensor_core`."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import LaunchError, MisalignedError, OutOfRangeError
from pipeline.simt import hazards
from pipeline.simt.banks import wavefronts
from pipeline.simt.launch import count, launch
from pipeline.simt.matrix_instructions import needed_capability
from pipeline.tensor_core.ldmatrix import ldmatrix
from pipeline.tensor_core.mma import mma
from pipeline.tensor_core.shapes import MMA_SHAPES

SHAPE = MMA_SHAPES["m16n8k16"]
ROWS = 40  # of 8 halves, in shared memory
BLOCKS, WARPS = 3, 2
THREADS = 32 * WARPS
RULES = ("lecture", "hardware")

counts_of_matrices = st.sampled_from([1, 2, 4])
seeds = st.integers(0, 2**32 - 1)


def filled(blk, x, elements=8 * ROWS):
    """A shared array that holds what its block finds in ``x``."""
    tile = blk.shared("tile", elements, np.float16)
    for first in range(0, elements, 8 * THREADS):
        with blk.where(blk.tid * 8 + first < elements):
            values = blk.load(x, blk.bx * elements + blk.tid * 8 + first, width=8)
            blk.sstore(tile, blk.tid * 8 + first, values, width=8)
    blk.sync()
    return tile


def run(kernel, *arrays, grid=BLOCKS, threads=THREADS, rule="lecture"):
    """Launch, and see that counting without values gives the same."""
    launched = launch(kernel, grid, threads, *arrays, rule=rule)
    counted = count(kernel, grid, threads, *arrays, rule=rule)
    assert counted.counters == launched.counters
    assert counted.hazard_counts == launched.hazard_counts
    return launched


def halves(rng, *shape):
    return rng.standard_normal(shape).astype(np.float16)


@given(seeds, counts_of_matrices, st.booleans(), st.sampled_from([(1, 1), (BLOCKS, WARPS)]))
def test_ldmatrix__moves_and_costs_what_the_definition_says(seed, count_, trans, own):
    rng = np.random.default_rng(seed)
    x = halves(rng, BLOCKS, 8 * ROWS)
    rows = np.broadcast_to(rng.integers(0, ROWS, (*own, 32)), (BLOCKS, WARPS, 32)).copy()
    # What lanes without a row name does not matter.
    rows[..., 8 * count_ :] = 10**6
    index = 8 * rows.reshape(BLOCKS, THREADS)
    out = np.zeros((BLOCKS, THREADS, 2 * count_), np.float16)

    def kernel(blk, x, out):
        tile = filled(blk, x)
        got = blk.ldmatrix(tile, index[np.asarray(blk.bx)[:, 0]], count_, trans)
        for i in range(2 * count_):
            place = (blk.bx * THREADS + blk.tid) * 2 * count_ + i
            blk.store(out, place, got[..., i])

    for rule in RULES:
        launched = launch(kernel, BLOCKS, THREADS, x.ravel(), out.reshape(-1), rule=rule)
        used = 16 * rows[..., : 8 * count_]
        expected = ldmatrix(x[:, None, :], used, count_, trans).view(np.float16)
        np.testing.assert_array_equal(out.reshape(expected.shape), expected)
        by_hand = sum(
            wavefronts(np.append(one, [0] * 24), np.arange(32) < 8, 4 * 4, "lecture")[0]
            for one in used.reshape(-1, 8)
        )
        counters = launched.counters
        assert counters["ldmatrix_wavefronts"] == counters["lds_wavefronts"] == by_hand
        assert counters["ldmatrix_instr"] == BLOCKS * WARPS
        assert counters["lds_instr"] == 0


@given(seeds, st.integers(0, 3), st.integers(0, 3))
def test_mma__multiplies_every_pair_of_fragments(seed, p, q):
    rng = np.random.default_rng(seed)
    many = [(), (1,), (2,), (3,)]
    a, b = halves(rng, BLOCKS, THREADS, *many[p], 8), halves(rng, BLOCKS, THREADS, *many[q], 4)
    start = rng.standard_normal((BLOCKS, THREADS, *many[p], *many[q], 4), np.float32)
    seen = {}

    def kernel(blk):
        total = blk.zeros(*start.shape[2:])
        total += start
        blk.mma(a, b, total)
        seen["total"] = total

    counters = launch(kernel, BLOCKS, THREADS).counters
    pairs = max(1, p) * max(1, q)
    assert counters["mma_instr"] == counters["warp_instr"] == BLOCKS * WARPS * pairs
    assert counters["thread_instr"] == 32 * counters["warp_instr"]
    assert counters["fma"] == counters["mma_fma"] == 16 * 8 * 16 * counters["mma_instr"]
    assert counters["ffma_instr"] == 0
    lanes = (BLOCKS, WARPS, 32)
    left, right = a.reshape(*lanes, -1, 8), b.reshape(*lanes, -1, 4)
    sums = start.reshape(*lanes, left.shape[3], right.shape[3], 4)
    got = seen["total"].reshape(sums.shape)
    for i, j in np.ndindex(sums.shape[3:5]):
        expected = mma(SHAPE, left[..., i, :], right[..., j, :], sums[..., i, j, :])
        np.testing.assert_array_equal(got[..., i, j, :], expected)


def test_mma__leaves_warps_alone_that_do_not_take_part():
    seen = {}

    def kernel(blk):
        total = blk.zeros(4)
        ones = blk.zeros(8, dtype=np.float16) + np.float16(1)
        with blk.where((blk.warp == 1) & (blk.bx != 1)):
            blk.mma(ones, ones[..., :4], total)
        seen["total"] = np.array(total)

    counters = launch(kernel, BLOCKS, THREADS).counters
    assert count(kernel, BLOCKS, THREADS).counters == counters
    assert counters["mma_instr"] == BLOCKS - 1
    launch(kernel, BLOCKS, THREADS)
    by_warp = seen["total"].reshape(BLOCKS, WARPS, -1)
    assert (by_warp == 16 * np.array([[0, 1], [0, 0], [0, 1]])[..., None]).all()


@pytest.mark.parametrize("rule", RULES)
def test_instructions__cost_what_is_counted_by_hand(rule):
    def kernel(blk, x):
        tile = filled(blk, x, 512)
        # Rows of 32 bytes, plain: eight of them take twice all banks.
        left = blk.ldmatrix(tile, blk.lane % 16 * 16 + blk.lane // 16 * 8)
        right = blk.ldmatrix(tile, blk.lane % 8 * 8, count=2)
        blk.mma(left, right, blk.zeros(4))

    counters = run(kernel, np.zeros(512 * BLOCKS, np.float16), rule=rule).counters
    warps = BLOCKS * WARPS
    assert counters["ldmatrix_instr"] == 2 * warps
    assert counters["ldmatrix_wavefronts"] == (4 * 2 + 2) * warps
    assert counters["ideal_smem_wavefronts"] == (4 + 2 + 4) * warps
    assert counters["smem_wavefronts"] == (8 + 2 + 4) * warps
    assert counters["smem_instr"] == counters["sts_instr"] == warps
    assert counters["warp_instr"] == (1 + 1 + 1 + 2 + 1) * warps


def test_ldmatrix__reads_before_a_barrier_are_hazards():
    def kernel(blk, early, late):
        tile = blk.shared("tile", 8 * THREADS, np.float16)
        octet = np.zeros((blk.n_blocks, blk.n_threads, 8), np.float16)
        blk.sstore(tile, blk.tid * 8, octet, width=8)
        if not early:
            blk.sync()
        blk.ldmatrix(tile, (blk.tid * 8 + 256) % (8 * THREADS))
        if not late:
            blk.sync()
        blk.sstore(tile, blk.tid * 8, octet, width=8)

    found = {
        (early, late): set(run(partial(kernel, early=early, late=late)).hazard_counts)
        for early in (False, True)
        for late in (False, True)
    }
    assert found == {
        (False, False): set(),
        (True, False): {hazards.RAW},
        (False, True): {hazards.WAR},
        (True, True): {hazards.RAW, hazards.WAR},
    }


def test_ldmatrix__reads_no_row_that_it_does_not_need():
    def kernel(blk, count_):
        tile = blk.shared("tile", 256, np.float16)
        with blk.where(blk.tid < 8):
            blk.sstore(tile, blk.tid * 8, np.zeros((1, blk.n_threads, 8)), width=8)
        blk.sync()
        blk.ldmatrix(tile, blk.lane * 8, count=count_)

    assert not run(partial(kernel, count_=1)).hazard_counts
    assert set(run(partial(kernel, count_=2)).hazard_counts) == {hazards.UNINITIALISED}


def fragments(blk, elements=8, dtype=np.float16, *many):
    return blk.zeros(*many, elements, dtype=dtype)


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda blk, x, t: blk.ldmatrix(t, blk.lane * 8 + 4), MisalignedError, r"lane 0\).*of 8"),
        (lambda blk, x, t: blk.ldmatrix(t, blk.lane * 16), OutOfRangeError, r"8 elements at 320"),
        (lambda blk, x, t: blk.ldmatrix(x, blk.lane * 8), LaunchError, "allowed are shared"),
        (lambda blk, x, t: blk.ldmatrix(7, blk.lane * 8), LaunchError, "an object of int"),
        (
            lambda blk, x, t: blk.ldmatrix(blk.shared("f", 256), blk.lane * 8),
            LaunchError,
            "f of float32; allowed are shared arrays of 16-bit",
        ),
        (lambda blk, x, t: blk.ldmatrix(t, blk.lane, 3), LaunchError, "3 matrices.* 1, 2 and 4"),
        (lambda blk, x, t: blk.ldmatrix(t, blk.lane, True), LaunchError, "True matrices"),
        (
            lambda blk, x, t: blk.mma(fragments(blk, 4), fragments(blk, 4), blk.zeros(4)),
            LaunchError,
            r"fragments of A of shape .*holds 8 elements",
        ),
        (
            lambda blk, x, t: blk.mma(fragments(blk), fragments(blk), blk.zeros(4)),
            LaunchError,
            r"fragments of B of shape .*holds 4 elements",
        ),
        (
            lambda blk, x, t: blk.mma(fragments(blk, 8, "f4"), fragments(blk, 4), blk.zeros(4)),
            LaunchError,
            "fragments of A of float32; allowed is float16",
        ),
        (
            lambda blk, x, t: blk.mma(1.5, fragments(blk, 4), blk.zeros(4)),
            LaunchError,
            "A of float",
        ),
        (
            lambda blk, x, t: blk.mma(fragments(blk), fragments(blk, 4), blk.zeros(2)),
            LaunchError,
            r"accumulators of float32 of shape \(.*, 4\) made by zeros\(\); got float32",
        ),
        (
            lambda blk, x, t: blk.mma(fragments(blk), fragments(blk, 4), fragments(blk, 4)),
            LaunchError,
            "accumulators of float32.*got float16",
        ),
        (
            lambda blk, x, t: blk.mma(
                fragments(blk, 8, "f2", 2), fragments(blk, 4, "f2", 3), blk.zeros(3, 2, 4)
            ),
            LaunchError,
            r"of shape \(.*, 2, 3, 4\)",
        ),
    ],
)
@pytest.mark.parametrize("way", [launch, count])
def test_mistakes__are_told_with_line_and_what_is_allowed(wrong, error, text, way):
    def kernel(blk, x):
        wrong(blk, x, filled(blk, x))

    with pytest.raises(error, match=text) as raised:
        way(kernel, BLOCKS, THREADS, np.zeros(8 * ROWS * BLOCKS, np.float16))
    assert "test_matrix_instructions.py:" in str(raised.value)


@pytest.mark.parametrize("way", [launch, count])
@pytest.mark.parametrize("name", ["ldmatrix", "mma"])
def test_mistakes__all_lanes_of_a_warp_execute_it_together(name, way):
    def instruction(blk, tile):
        if name == "ldmatrix":
            blk.ldmatrix(tile, blk.lane * 0)
        else:
            blk.mma(fragments(blk), fragments(blk, 4), blk.zeros(4))

    def branch(blk):
        with blk.where(blk.tid < 40):
            instruction(blk, blk.shared("tile", 8, np.float16))

    def short(blk):
        instruction(blk, blk.shared("tile", 8, np.float16))

    with pytest.raises(LaunchError, match=f"{name} in a branch that only some lanes"):
        way(branch, BLOCKS, THREADS)
    with pytest.raises(LaunchError, match=f"{name} in blocks of 48 threads"):
        way(short, BLOCKS, 48)


def test_needed_capability__is_that_of_the_latest_instruction():
    assert needed_capability({"mma_instr": 0, "ldmatrix_instr": 0}) == 0
    assert needed_capability({"mma_instr": 1, "ldmatrix_instr": 1}) == 80
