"""Mistakes in a kernel or a launch end in a message, never in a wrong result."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import LaunchError, OutOfRangeError, PaperGpuError
from pipeline.simt.launch import count, launch


def refused(body, *arrays, match, grid=1, block=32, run=launch):
    with pytest.raises(LaunchError, match=match) as caught:
        run(body, grid, block, *arrays)
    return str(caught.value)


# ---------- indices ----------

HUGE = [2**63 - 1, 2**63, 2**62, 2**70, -(2**63), -(2**63) - 1, 2**64 - 1]


@pytest.mark.parametrize("run", [launch, count])
@pytest.mark.parametrize("huge", HUGE)
@pytest.mark.parametrize("width", [1, 4])
def test_index__so_large_that_sums_would_wrap_is_refused(run, huge, width):
    x = np.zeros(64, np.float32)

    def number(blk, x):
        blk.store(x, huge, 7.0, width)

    def lanes(blk, x):
        blk.store(x, blk.tid * width + huge, 7.0, width)

    def loaded(blk, x):
        blk.load(x, blk.tid * width + huge, width)

    for body in (number, lanes, loaded):
        with pytest.raises(PaperGpuError, match=r"test_mistakes.py:\d+"):
            run(body, 1, 32, x)
    assert not x.any()


@pytest.mark.parametrize("huge", [2**63 - 1, 2**63 - 4, -(2**63)])
def test_index__of_one_thread_at_the_end_of_integers_is_out_of_range(huge):
    def body(blk, x):
        blk.store(x, np.where(np.asarray(blk.tid) == 7, huge, 0), 7.0)

    with pytest.raises(OutOfRangeError, match="thread 7"):
        launch(body, 1, 32, np.zeros(64, np.float32))


@given(st.integers(0, 2**64), st.integers(0, 2**64), st.integers(-(2**64), 2**64))
def test_index__is_that_of_whole_numbers_or_refused(first, second, shift):
    seen = {}

    def body(blk):
        seen["got"] = np.asarray((blk.tid * first + blk.bx) * second + shift)

    try:
        launch(body, 2, 3)
    except LaunchError:
        return
    expected = [[(t * first + b) * second + shift for t in range(3)] for b in range(2)]
    assert np.broadcast_to(seen["got"], (2, 3)).tolist() == expected


def test_index__products_that_wrap_are_refused():
    def body(blk, x):
        blk.store(x, (blk.tid * 2**61) * 8 + 3, 1.0)

    refused(body, np.zeros(64, np.float32), match=r"test_mistakes.py:\d+: .*beyond 64-bit")


def test_load__in_repeats_that_span_more_than_integers_is_refused():
    def body(blk, x):
        blk.load(x, blk.tid, repeat=2, step=2**62)

    refused(body, np.zeros(64, np.float32), match="span more than")


@given(repeat=st.integers(1, 4), step=st.integers(1, 9), width=st.sampled_from([1, 2, 4]))
def test_load__in_repeats_is_refused_exactly_where_one_of_them_is(repeat, step, width):
    size = 24
    starts = [number * step for number in range(repeat)]
    fine = all(at % width == 0 and at + width <= size for at in starts)

    def body(blk, x):
        blk.load(x, 0, width, repeat, step)

    x = np.zeros(size, np.float32)
    if fine:
        launch(body, 1, 1, x)
    else:
        with pytest.raises(PaperGpuError, match=r"thread 0"):
            launch(body, 1, 1, x)


def test_index__divided_by_zero_is_refused():
    for divide in (lambda v: v // 0, lambda v: v % 0, lambda v: 5 // v):
        refused(lambda blk, divide=divide: divide(blk.tid), match="divides by zero")


# ---------- branches ----------


@pytest.mark.parametrize("run", [launch, count])
@pytest.mark.parametrize("grid", [1, 4])
@pytest.mark.parametrize(
    "condition",
    [
        lambda blk: blk.tid % 2,
        lambda blk: blk.tid == 0,
        lambda blk: blk.bx == 0,
        lambda blk: blk.tid < 1000,
        lambda blk: not blk.bx,
        lambda blk: (blk.tid < 5) & (blk.bx > 0),
    ],
)
def test_if__on_a_value_per_thread_names_where(condition, grid, run):
    def body(blk):
        if condition(blk):
            blk.sync()

    refused(body, match=r"test_mistakes.py:\d+: .*with blk.where", grid=grid, run=run)


def test_if__on_loaded_values_names_where():
    def body(blk, x):
        if blk.load(x, blk.tid) > 0:
            blk.sync()

    refused(body, np.zeros(32), match=r"test_mistakes.py:\d+: .*with blk.where")


@pytest.mark.parametrize("run", [launch, count])
def test_where__without_with_names_its_line(run):
    def body(blk):
        with blk.where(blk.tid < 3):
            blk.sync()
        blk.where(blk.tid < 5)
        blk.sync()

    line = body.__code__.co_firstlineno + 3
    refused(body, match=rf"blk.where in line {line} ", run=run)


# ---------- launches ----------


@pytest.mark.parametrize("run", [launch, count])
def test_kernel__that_gives_something_back_is_refused(run):
    def body(blk):
        yield blk.sync()

    refused(body, match=r"test_mistakes.py:\d+: body: a kernel gives generator", run=run)
    refused(lambda blk: blk.tid, match="gives Lanes", run=run)


@pytest.mark.parametrize("run", [launch, count])
@pytest.mark.parametrize(
    ("grid", "block", "match"),
    [
        (1, (1, 1, 1024), "at most .*64"),
        (1, (1, 1, 65), "at most .*64"),
        ((1, 65_536), 1, "at most .*65535"),
        ((1, 1, 65_536), 1, "at most .*65535"),
        (2**31, 1, "at most .*2147483647"),
        (1, 1025, "at most"),
        (1, (32, 33), "1056 threads"),
        (np.int32(2**31 - 1), (np.int32(65536), np.int32(65536)), "at most"),
        (1.0, 32, "positive integers"),
        ("32", 32, "positive integers"),
        (None, 32, "positive integers"),
        (True, 32, "positive integers"),
        (1, (32, 1.5), "positive integers"),
        (1, (32, np.nan), "positive integers"),
        (1, (1, 1, 1, 1), "positive integers"),
        (1, (), "positive integers"),
        (1, 0, "positive integers"),
    ],
)
def test_sizes__that_cuda_refuses_are_refused(grid, block, match, run):
    refused(lambda blk: None, match=match, grid=grid, block=block, run=run)


def test_sizes__at_the_limits_are_taken():
    for block in ((1024, 1, 1), (1, 1024, 1), (1, 16, 64), np.int64(1024), (np.int32(32), 32)):
        counters = launch(lambda blk: blk.sync(), (np.int32(1), 2, 1), block).counters
        assert counters["threads"] == 2 * int(np.prod(block))


@pytest.mark.parametrize("run", [launch, count])
@pytest.mark.parametrize("count_given", [0, 2])
def test_launch__with_other_arguments_than_the_kernel_takes_is_refused(count_given, run):
    def body(blk, x):
        blk.load(x, 0)

    refused(body, *[np.zeros(4)] * count_given, match=rf"with {count_given} arguments", run=run)


@pytest.mark.parametrize("run", [launch, count])
@pytest.mark.parametrize("dtype", ["c8", "O", "U3", "M8[s]", "g", "V16"])
def test_arrays__of_types_that_memory_does_not_move_are_refused(dtype, run):
    def shared(blk):
        blk.shared("tile", 32, dtype)

    refused(lambda blk, x: blk.load(x, 0), np.zeros(4, dtype), match="array x has", run=run)
    refused(shared, match=r"test_mistakes.py:\d+: .*tile", run=run)


def test_launch__of_one_block_sees_memory_that_arrays_share():
    memory = np.arange(40, dtype=np.float32)

    def body(blk, x, y):
        blk.store(y, blk.tid, blk.load(x, blk.tid))

    launch(body, 1, 32, memory[4:36], memory[:32])
    np.testing.assert_array_equal(memory[:32], np.arange(4, 36))
    refused(body, memory[4:36], memory[:32], match="share|overlap", grid=2)


# ---------- shared memory ----------


@pytest.mark.parametrize("run", [launch, count])
@pytest.mark.parametrize("size", [2**40, 58_113, 1.0, "x", None, True, 0, -1, 2**70])
def test_shared__of_a_size_that_no_block_has_is_refused(size, run):
    refused(
        lambda blk: blk.shared("t", size), match=r"test_mistakes.py:\d+: shared array t", run=run
    )


@pytest.mark.parametrize("run", [launch, count])
def test_shared__counts_all_arrays_of_a_block_against_the_limit(run):
    def body(blk, first, second):
        blk.shared("one", first)
        blk.shared("two", second)

    assert run(body, 3, 32, 58_000, 112).smem_bytes == 232_448
    refused(body, 58_000, 113, match="two of 113 elements .* 232452 bytes, .*232448", run=run)


def test_count__of_shared_arrays_takes_no_memory_per_block():
    sizes = []

    def body(blk):
        tile = blk.shared("tile", 50_000)
        blk.sstore(tile, blk.tid, 1.0)
        sizes.append((tile.flat.size, tile.flat.base.nbytes))

    assert count(body, 1000, 32).smem_bytes == 200_000
    assert sizes == [(1000 * 50_000, 4)]


# ---------- values ----------

UNFIT = [None, 1j, "7", [1, [2]], np.array([None] * 32), np.zeros((1, 32), complex)]


@pytest.mark.parametrize("run", [launch, count])
@pytest.mark.parametrize("value", UNFIT, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_values__that_are_no_real_numbers_are_refused(value, dtype, run):
    def store(blk, x):
        blk.store(x, blk.tid, value)

    def add(blk, x):
        blk.atomic_add(x, blk.tid, value)

    def ffma(blk, x):
        blk.ffma(value, 1.0, blk.zeros())

    for body in (store, add, ffma):
        refused(body, np.zeros(32, dtype), match=r"test_mistakes.py:\d+", run=run)


@pytest.mark.parametrize("run", [launch, count])
@pytest.mark.parametrize("threads", [2, 4, 32])
@pytest.mark.parametrize("width", [2, 4])
def test_store__of_one_number_per_thread_as_vectors_is_refused(threads, width, run):
    x = np.zeros(threads * width, np.float32)
    refused(
        lambda blk, x: blk.store(x, blk.tid * width, blk.tid, width),
        x,
        match="or one number for all",
        block=threads,
        run=run,
    )


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
@given(value=st.integers(-(2**70), 2**70))
def test_store__of_whole_numbers_wraps_as_in_c(dtype, value):
    x = np.zeros(1, dtype)
    launch(lambda blk, x: blk.store(x, 0, value), 1, 1, x)
    bits = 8 * x.itemsize
    assert int(x[0]) % 2**bits == value % 2**bits


@pytest.mark.parametrize("run", [launch, count])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e20, -1e20, 2.0**63, np.float32(1e10)])
def test_store__of_floats_that_no_integer_holds_is_refused(value, run):
    refused(
        lambda blk, x: blk.store(x, 0, value), np.zeros(1, "i4"), match="does not hold", run=run
    )


def test_store__of_floats_to_integers_cuts_the_fraction_off():
    x = np.zeros(4, np.int32)
    values = [1.9, -1.9, 2147483647.5, -2147483648.5]
    launch(lambda blk, x: blk.store(x, blk.tid, np.array([values])), 1, 4, x)
    assert x.tolist() == [1, -1, 2**31 - 1, -(2**31)]


def test_atomic_add__of_minus_one_to_unsigned_numbers_takes_one_away():
    x = np.array([5], np.uint32)

    def body(blk, x):
        blk.atomic_add(x, 0, -1)

    launch(body, 1, 3, x)
    assert x[0] == 2


@pytest.mark.parametrize("run", [launch, count])
def test_instructions__with_arguments_of_other_types_are_refused(run):
    x = np.zeros(64, np.float32)
    wrong = [
        lambda blk, x: blk.load(x, blk.tid, width=2.0),
        lambda blk, x: blk.load(x, blk.tid, repeat=1.5),
        lambda blk, x: blk.load(x, blk.tid, step="1"),
        lambda blk, x: blk.load(x, blk.tid, width=True),
        lambda blk, x: blk.wait(None),
        lambda blk, x: blk.shfl_down(blk.tid, 2**70),
        lambda blk, x: blk.shfl_xor(blk.tid, -(2**70)),
        lambda blk, x: blk.atomic_add(np.zeros(4), 0, 1),
        lambda blk, x: blk.ffma(1.0, 1.0, blk.zeros(dtype="f2")),
        lambda blk, x: blk.ffma(1.0, 1.0, blk.zeros(dtype="i4")),
        lambda blk, x: blk.ffma(1.0, 1.0, 0.0),
    ]
    for body in wrong:
        refused(body, x, match=r"test_mistakes.py:\d+: (?!<lambda>).*allowed", run=run)


def test_shfl_idx__takes_a_lane_of_any_size_modulo_32():
    seen = {}

    def body(blk):
        seen["got"] = [blk.shfl_idx(blk.tid, lane)[0, 0] for lane in (2**70 + 5, -(2**70) - 1, 33)]

    launch(body, 1, 32)
    assert seen["got"] == [5, 31, 1]
