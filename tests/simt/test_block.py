"""What a kernel sees: coordinates, memory, branches, errors that name the thread."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import LaunchError, MisalignedError, ModelError, OutOfRangeError
from pipeline.simt import hazards
from pipeline.simt.launch import launch


def run(body, *arrays, grid=1, block=32, **options):
    return launch(body, grid, block, *arrays, **options)


@given(
    grid=st.tuples(*[st.integers(1, 3)] * 3),
    block=st.tuples(*[st.integers(1, 5)] * 3),
    batch=st.sampled_from([1, 100, 10_000]),
)
def test_coordinates__are_those_of_cuda(grid, block, batch):
    (gx, gy, gz), (dx, dy, dz) = grid, block
    out = np.full((gz, gy, gx, dz, dy, dx, 6), -1, np.int64)

    def body(blk, out):
        number = (blk.bz * gy + blk.by) * gx + blk.bx
        at = (number * blk.n_threads + blk.tid) * 6
        for axis, value in enumerate((blk.bx, blk.by, blk.bz, blk.tx, blk.ty, blk.tz)):
            blk.store(out, at + axis, value)

    run(body, out, grid=grid, block=block, batch_lanes=batch)
    where = np.indices((gz, gy, gx, dz, dy, dx))
    expected = np.stack([where[i] for i in (2, 1, 0, 5, 4, 3)], axis=-1)
    np.testing.assert_array_equal(out, expected)


@given(st.sampled_from([1, 2, 4]), st.integers(1, 3), st.integers(0, 3))
def test_load__gathers_repeats_of_vectors(width, repeat, shift):
    data = np.arange(400, dtype=np.float32)
    seen = {}

    def body(blk, data):
        index = (blk.tid % 7 + shift) * width
        seen["got"] = blk.load(data, index, width, repeat, step=2 * width)

    run(body, data, block=33)
    start = (np.arange(33) % 7 + shift) * width
    parts = [start[:, None] + 2 * width * r + np.arange(width) for r in range(repeat)]
    expected = np.concatenate(parts, axis=1)
    if width * repeat == 1:
        expected = expected[:, 0]
    np.testing.assert_array_equal(seen["got"][0], expected)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float16, np.int32, np.float32, np.float64])
def test_memory__moves_every_element_type(dtype):
    source = np.arange(32).astype(dtype)
    target = np.zeros(32, dtype)

    def body(blk, source, target):
        tile = blk.shared("tile", 32, dtype)
        blk.sstore(tile, blk.tid, blk.load(source, blk.tid))
        blk.sync()
        blk.store(target, 31 - blk.tid, blk.sload(tile, blk.tid))

    counters = run(body, source, target).counters
    np.testing.assert_array_equal(target, source[::-1])
    assert counters["g_bytes_requested"] == 2 * 32 * source.itemsize


def test_where__inactive_threads_load_zero_and_store_nothing():
    data = np.arange(64, dtype=np.float32)
    out = np.full(64, -1, np.float32)

    def body(blk, data, out):
        total = blk.zeros() + np.float32(5)
        with blk.where(blk.tid < 40), blk.where(blk.tid >= 8):
            value = blk.load(data, blk.tid)
            blk.ffma(value, np.float32(2), total)
            blk.store(out, blk.tid, total)
        with blk.where(blk.tid < 0):
            blk.store(out, blk.tid + 1000, total)

    counters = run(body, data, out, block=64).counters
    expected = np.where((np.arange(64) >= 8) & (np.arange(64) < 40), 5 + 2 * data, -1)
    np.testing.assert_array_equal(out, expected)
    assert counters["fma"] == 32
    assert counters["thread_instr"] == 3 * 32
    assert counters["warp_instr"] == 3 * 2
    assert counters["divergent_branches"] == 2  # warp 1 at the first branch, warp 0 at the second


def test_ffma__adds_outer_products():
    seen = {}

    def body(blk):
        left = np.arange(3, dtype=np.float32) + blk.zeros(3) + 1
        right = np.arange(2, dtype=np.float32) + blk.zeros(2) + 10
        seen["total"] = blk.zeros(3, 2)
        blk.ffma(left, right, seen["total"])

    counters = run(body).counters
    np.testing.assert_array_equal(seen["total"][0, 0], np.outer([1, 2, 3], [10, 11]))
    assert counters["ffma_instr"] == 6
    assert counters["fma"] == 6 * 32


def test_ffma__refuses_accumulators_of_another_shape():
    def body(blk):
        blk.ffma(blk.zeros(3), blk.zeros(), blk.zeros(2))

    with pytest.raises(LaunchError, match=r"test_block\.py:\d+.*needs accumulators"):
        run(body)


@pytest.mark.parametrize(
    ("index", "width", "error", "text"),
    [
        (lambda blk: blk.tid + 40, 1, OutOfRangeError, r"thread 24 .*index 64 of data.* holds 64"),
        (lambda blk: blk.tid - 3, 1, OutOfRangeError, "thread 0 .*index -3"),
        (lambda blk: blk.tid * 4, 4, OutOfRangeError, "4 elements at 64"),
        (lambda blk: blk.tid + 1, 2, MisalignedError, "multiple of 2"),
        (lambda blk: blk.tid * 2, 4, MisalignedError, "thread 1 .*multiple of 4"),
        (lambda blk: blk.tid * 0.5, 1, LaunchError, "an index is an integer"),
        (lambda blk: np.arange(7), 1, LaunchError, "expected .blocks, threads"),
        (lambda blk: blk.tid, 3, LaunchError, "widths 1, 2, 4, 8 and 16"),
    ],
)
@pytest.mark.parametrize("memory", ["global", "shared"])
@pytest.mark.parametrize("way", ["load", "store"])
def test_access__errors_name_line_block_thread_and_array(index, width, error, text, memory, way):
    def body(blk, data):
        array = data if memory == "global" else blk.shared("data", 64)
        with blk.where(blk.bx == 1):
            name = way if memory == "global" else f"s{way}"
            arguments = (0,) if way == "store" else ()
            getattr(blk, name)(array, index(blk), *arguments, width=width)

    with pytest.raises(error, match=text) as raised:
        run(body, np.zeros(64, np.float32), grid=2)
    assert "test_block.py:" in str(raised.value)
    if error is not LaunchError:
        assert "block (1, 0, 0)" in str(raised.value)
        assert ", after 0 barriers: " in str(raised.value)
    assert isinstance(raised.value, IndexError if error is OutOfRangeError else ValueError)


def test_repeat__reaches_beyond_the_array():
    def body(blk, data):
        blk.load(data, blk.tid, repeat=3, step=20)

    with pytest.raises(OutOfRangeError, match="index 64"):
        run(body, np.zeros(64, np.float32))


def test_store__refuses_values_of_another_shape():
    def body(blk, data):
        blk.store(data, blk.tid, np.zeros((1, 5)))

    with pytest.raises(LaunchError, match=r"expected .blocks, threads, width"):
        run(body, np.zeros(64, np.float32))


@pytest.mark.parametrize(
    ("condition", "text"), [(1, "must be bool"), (np.ones(5, bool), r"got bool \(1, 5\)")]
)
def test_where__refuses_what_is_no_truth_value_per_thread(condition, text):
    def body(blk):
        with blk.where(condition):
            pass

    with pytest.raises(LaunchError, match=rf"test_block\.py:\d+: .*{text}"):
        run(body)


def test_shared__a_store_by_two_lanes_to_one_address_is_reported():
    def body(blk, data):
        tile = blk.shared("tile", 64)
        blk.sstore(tile, blk.tid // 2, 1)
        blk.store(data, blk.tid // 2 + blk.bx * 32, 1)

    launched = run(body, np.zeros(96, np.float32), grid=3)
    assert launched.hazard_counts == {hazards.COLLISION: 6}
    assert launched.counters["race_count"] == 6
    assert [hazard.array for hazard in launched.hazards] == ["tile", "data"]
    assert "which one stays is open" in str(launched.hazards[1])
    assert [(hazard.warp, hazard.other_warp) for hazard in launched.hazards] == [(0, 0), (0, 0)]


def test_sync__in_a_divergent_branch_is_reported_and_between_blocks_is_not():
    def body(blk):
        with blk.where(blk.bx == 1):
            blk.sync()
        with blk.where(blk.tid < 40):
            blk.sync()

    launched = run(body, grid=3, block=64)
    assert launched.counters["barriers"] == 1 + 3
    assert launched.hazard_counts == {hazards.DIVERGENT_BARRIER: 3}
    hazard = launched.hazards[0]
    assert (hazard.block, hazard.warp, hazard.other_warp) == ((0, 0, 0), 0, 1)
    assert "other threads of the block do not reach" in str(hazard)
    assert hazard.source == f"test_block.py:{body.__code__.co_firstlineno + 4}"


def test_where__branches_inside_branches_that_differ_between_blocks():
    out = np.zeros((2, 64), np.int32)

    def body(blk, out):
        with blk.where(blk.tid < 10 * (blk.bx + 1)):
            with blk.where(blk.tid < 5):  # the same threads in both blocks
                blk.store(out, blk.bx * 64 + blk.tid, 1)
            with blk.where(blk.tid >= 8):
                blk.store(out, blk.bx * 64 + blk.tid, 2)

    counters = run(body, out, grid=2, block=64).counters
    thread, limit = np.arange(64), np.array([[10], [20]])
    expected = np.where((thread >= 8) & (thread < limit), 2, thread < 5)
    np.testing.assert_array_equal(out, expected)
    assert counters["divergent_branches"] == 2 + 2 + 2


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (lambda blk, tile, x: blk.load(tile, blk.tid), "tile is not in global memory"),
        (lambda blk, tile, x: blk.store(tile, blk.tid, 1), "tile is not in global memory"),
        (lambda blk, tile, x: blk.sload(x, blk.tid), "x is not in shared memory"),
        (lambda blk, tile, x: blk.sstore(x, blk.tid, 1), "x is not in shared memory"),
        (lambda blk, tile, x: blk.copy_async(x, blk.tid, x, blk.tid), "x is not in shared memory"),
        (lambda blk, tile, x: blk.load([1, 2], blk.tid), "an object of type list is not in global"),
        (lambda blk, tile, x: blk.shared("more", 0), "shared array more has size 0"),
        (lambda blk, tile, x: blk.load(x, blk.tid, repeat=0), "repeat 0, step 1"),
        (lambda blk, tile, x: blk.copy_async(tile, blk.tid, x, blk.tid, 3), "width 3"),
        (lambda blk, tile, x: blk.wait(-1), "wait for -1 pending groups"),
    ],
)
def test_mistakes__are_refused_at_their_line(mistake, text):
    def body(blk, x):
        mistake(blk, blk.shared("tile", 64), x)

    with pytest.raises(LaunchError, match=rf"test_block\.py:\d+: .*{text}"):
        run(body, np.zeros(64, np.float32))


@pytest.mark.parametrize(("dtype", "width"), [("u1", 1), ("f2", 1), ("u1", 2)])
def test_copy_async__refuses_other_than_4_8_or_16_bytes(dtype, width):
    def body(blk, x):
        tile = blk.shared("tile", 64, dtype)
        blk.copy_async(tile, blk.tid * width, x, blk.tid * width, width)

    with pytest.raises(LaunchError, match=r"test_block\.py:\d+: .*allowed are 4, 8 or 16 bytes"):
        run(body, np.zeros(64, dtype))


@pytest.mark.parametrize("name", ["commit", "wait"])
def test_copy_async__groups_are_the_same_for_all_threads(name):
    def body(blk):
        with blk.where(blk.tid < 3):
            getattr(blk, name)()

    with pytest.raises(LaunchError, match=rf"test_block\.py:\d+: {name} in a divergent branch"):
        run(body)


def test_copy_async__values_arrive_with_the_wait_for_their_group():
    def body(blk, x, out):
        tile = blk.shared("tile", 64)
        for half in range(2):
            blk.copy_async(tile, blk.tid + 32 * half, x, blk.tid + 32 * half)
            blk.commit()
        blk.wait(pending=1)
        first, early = blk.sload(tile, blk.tid), blk.sload(tile, blk.tid + 32)
        blk.wait()
        for place, value in enumerate((first, early, blk.sload(tile, blk.tid + 32))):
            blk.store(out, blk.tid + 32 * place, value)

    x, out = np.arange(1, 65, dtype=np.float32), np.zeros((3, 32), np.float32)
    launched = run(body, x, out)
    np.testing.assert_array_equal(out, [x[:32], np.zeros(32), x[32:]])
    assert launched.hazard_counts == {hazards.IN_FLIGHT: 1}
    (hazard,) = launched.hazards
    assert (hazard.array, hazard.index) == ("tile", 32)
    assert hazard.source == f"test_block.py:{body.__code__.co_firstlineno + 6}"
    counters = launched.counters
    assert (counters["ldgsts_instr"], counters["gld_sectors"], counters["sts_wavefronts"]) == (
        2,
        8,
        2,
    )
    assert counters["warp_instr"] == 2 + 2 + 2 + 3 + 3


def test_hazards__of_shared_memory_say_all_that_helps():
    def body(blk):
        tile = blk.shared("tile", 128)
        blk.sstore(tile, blk.tid, 1)
        blk.sync()
        with blk.where(blk.tid >= 64):
            blk.sload(tile, blk.tid - 64)
        blk.sstore(tile, blk.tid, 1)
        blk.sload(tile, 100 - blk.tid % 3)

    launched = run(body, grid=(2, 2), block=128)
    first = body.__code__.co_firstlineno
    assert [str(hazard) for hazard in launched.hazards] == [
        f"write_after_read at test_block.py:{first + 6}: block (0, 0, 0), warp 0, tile[0], after "
        "1 barrier: overwrites what warp 2 read since the last barrier",
        f"read_after_write at test_block.py:{first + 7}: block (0, 0, 0), warp 0, tile[100], after "
        "1 barrier: reads what warp 3 wrote since the last barrier",
    ]


def test_hazards__an_uninitialised_read_names_element_and_line():
    def body(blk):
        tile = blk.shared("tile", 64)
        with blk.where(blk.tid != 40):
            blk.sstore(tile, blk.tid, 1)
        blk.sync()
        blk.sload(tile, blk.tid)

    launched = run(body, block=64)
    assert launched.hazard_counts == {hazards.UNINITIALISED: 1}
    assert launched.counters["race_count"] == 0
    (hazard,) = launched.hazards
    assert (hazard.warp, hazard.array, hazard.index, hazard.interval) == (1, "tile", 40, 1)
    assert hazard.source == f"test_block.py:{body.__code__.co_firstlineno + 5}"
    assert "nobody has written" in str(hazard)


@pytest.mark.parametrize(
    ("itemsize", "width"),
    [(size, width) for size in (1, 2, 4, 8) for width in (1, 2, 4, 8, 16) if size * width <= 16],
)
def test_memory__takes_every_element_size_in_three_dimensions(itemsize, width):
    grid, block, dtype = (2, 1, 3), (3, 4, 5), f"u{itemsize}"
    per_block = 60 * width
    x = np.random.default_rng(1).integers(0, 200, 6 * per_block).astype(dtype)
    out = np.zeros_like(x)

    def body(blk, x, out):
        tile = blk.shared("tile", per_block, dtype)
        own = ((blk.tz * 4 + blk.ty) * 3 + blk.tx) * width
        first = (blk.bz * 2 + blk.bx) * per_block
        value = blk.load(x, first + own, width)
        blk.sstore(tile, own, blk.shfl_idx(value, blk.lane), width)
        blk.sync()
        other = per_block - width - own
        blk.store(out, first + other, blk.sload(tile, other, width), width)

    launched = run(body, x, out, grid=grid, block=block)
    np.testing.assert_array_equal(out, x)
    assert launched.hazard_counts == {}
    warps = 6 * 2
    assert launched.counters["gld_instr"] == launched.counters["sts_instr"] == warps
    assert launched.counters["shfl_instr"] == warps * width * max(1, itemsize // 4)
    assert launched.counters["g_bytes_requested"] == 2 * x.nbytes


def test_sync__orders_only_the_blocks_that_pass_it():
    def body(blk):
        tile = blk.shared("tile", 64)
        blk.sstore(tile, blk.tid, 1)
        with blk.where(blk.bx == 0):
            blk.sync()
        blk.sload(tile, 63 - blk.tid)

    launched = run(body, grid=3, block=64)
    assert launched.hazard_counts == {hazards.RAW: 2}
    assert launched.hazards[0].block == (1, 0, 0)


def test_reports__are_limited_and_counts_are_not():
    def body(blk):
        tile = blk.shared("tile", 64)
        for _ in range(50):
            blk.sstore(tile, blk.tid % 4, 1)

    launched = run(body)
    assert launched.counters["race_count"] == 50
    assert len(launched.hazards) == 20


@pytest.mark.parametrize(
    ("grid", "block", "text"),
    [
        (1, 1025, "1025 threads, allowed are at most 1024"),
        (1, (32, 33), "1056 threads"),
        (0, 32, "grid 0 must be"),
        ((1, 1, 1, 1), 32, "one to three positive integers"),
        (1, (8, -1), "block .* must be"),
    ],
)
def test_launch__refuses_sizes_that_no_gpu_takes(grid, block, text):
    with pytest.raises(LaunchError, match=text):
        run(lambda blk: None, grid=grid, block=block)


def test_launch__refuses_arrays_that_stores_could_not_reach():
    with pytest.raises(LaunchError, match="C-contiguous"):
        run(lambda blk, data: None, np.zeros((4, 4)).T[:2])


def test_launch__refuses_elements_that_no_load_moves():
    def body(blk, data):
        blk.load(data, blk.tid)

    with pytest.raises(LaunchError, match="complex128"):
        run(body, np.zeros(32, complex))


def test_launch__refuses_an_unknown_rule():
    with pytest.raises(ModelError, match="allowed: lecture, hardware"):
        run(lambda blk: None, rule="textbook")


@pytest.mark.parametrize(("writer", "other"), [(0, 1), (1, 0), (2, 0)])
def test_hazards__name_a_warp_where_several_did_the_other_half(writer, other):
    def body(blk):
        tile = blk.shared("tile", 96)
        blk.sstore(tile, blk.tid, 1)
        blk.sync()
        blk.sload(tile, blk.tid % 32)
        with blk.where(blk.tid == 32 * writer):
            blk.sstore(tile, 0, 2)

    (hazard,) = run(body, block=96).hazards
    assert (hazard.kind, hazard.warp, hazard.other_warp) == (hazards.WAR, writer, other)
    assert f"overwrites what warp {other} read" in str(hazard)


def test_hazards__name_the_warp_whose_copy_is_under_way():
    def body(blk, data):
        tile = blk.shared("tile", 64)
        with blk.where(blk.warp == 1):
            blk.copy_async(tile, blk.tid % 64, data, blk.tid % 64)
        blk.commit()
        blk.sync()
        with blk.where(blk.warp == 0):
            blk.sload(tile, blk.tid % 32 + 32)

    launched = run(body, np.zeros(64, np.float32), block=64)
    assert {(h.warp, h.other_warp) for h in launched.hazards} == {(0, 1)}
