"""Races of blocks on global memory: definition, compiled twin, and what a launch says."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import LaunchError
from pipeline.simt import global_races_fast as fast
from pipeline.simt import hazards
from pipeline.simt.global_races import LaunchHistory
from pipeline.simt.hazards_fast import ATOMIC, LOAD, STORE
from pipeline.simt.launch import count, launch

ELEMENTS = 5
instructions = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from([LOAD, STORE, ATOMIC]),
        st.sets(st.integers(0, ELEMENTS - 1), max_size=2),
    ),
    max_size=6,
)


def entered(state, block, kind, elements, judging=False):
    """Enter, or judge, an instruction whose threads touch one element each."""
    thread = np.array([[*elements, 0]], np.int64)
    active = np.arange(thread.size)[None, :] < len(elements)
    numbers, report = np.array([block]), np.zeros(fast.REPORT_FIELDS, np.int64)
    zero, racing = np.zeros((1, 1), np.int64), np.zeros(1, bool)
    if not judging:
        fast.enter(0, zero, thread, active, 1, kind, numbers, state)
        return 0
    return fast.judge(0, zero, thread, active, 1, kind, numbers, state, report, racing)


@given(instructions)
def test_races__compiled_twin_agrees(program):
    history, state = LaunchHistory(), fast.new_state(ELEMENTS)
    for block, kind, elements in program:
        history.enter(block, kind, elements)
        entered(state, block, kind, elements)
    found = history.races()
    judged = [entered(state, *instruction, judging=True) for instruction in program]
    assert judged == [race is not None for race in found]
    assert fast.any_race(state) == any(found)


@given(instructions.filter(lambda program: len(program) <= 4))
def test_races__order_does_not_matter(program):
    def kinds(order):
        history = LaunchHistory()
        for instruction in order:
            history.enter(*instruction)
        return sorted(filter(None, history.races()))

    assert all(kinds(order) == kinds(program) for order in permutations(program))


# ---------- what a launch says: 4 blocks of 32 threads, 32 elements each


def shift(blk, x):
    """Every thread takes the element after its own, which may be the next block's."""
    index = blk.bx * 32 + blk.tid
    blk.store(x, index, blk.load(x, (index + 1) % 128))


def histogram(blk, x, bins):
    """A plain sum in memory that all blocks share."""
    value = blk.load(x, blk.bx * 32 + blk.tid)
    with blk.where(blk.tid == 0):
        blk.store(bins, blk.tid, blk.load(bins, blk.tid) + value)


def everybody_stores(blk, out):
    with blk.where(blk.tid == 7):
        blk.store(out, blk.tid * 0 + 3, blk.bx)


def counts_up(blk, out):
    """Atomics of all blocks on one element are in order."""
    blk.atomic_add(out, blk.tid * 0, 1)


def counts_up_and_looks(blk, out):
    counts_up(blk, out)
    with blk.where(blk.tid == 0):
        blk.load(out, blk.tid)


def resets_and_counts_up(blk, out):
    with blk.where((blk.bx == 2) & (blk.tid == 0)):
        blk.store(out, blk.tid, 0)
    counts_up(blk, out)


def line(kernel, number):
    return f"test_global_races.py:{kernel.__code__.co_firstlineno + number}"


@pytest.mark.parametrize("batch_lanes", [1, 64, 10_000])
@pytest.mark.parametrize(
    ("kernel", "arrays", "expected", "detail"),
    [
        # Each block reads one element of the next
        (shift, 1, {hazards.GLOBAL_READ: 4}, (0, 1, "x", 32, 3)),
        # Each reads what the others write; blocks 1 to 3 overwrite
        (histogram, 2, {hazards.GLOBAL_READ: 4, hazards.GLOBAL_WRITE: 3}, (0, 3, "bins", 0, 4)),
        (everybody_stores, 1, {hazards.GLOBAL_WRITE: 3}, (1, 0, "out", 3, 2)),
        (counts_up, 1, {}, None),
        # Everybody reads what others change; towards each other the atomics are in order
        (counts_up_and_looks, 1, {hazards.GLOBAL_READ: 4}, (0, 3, "out", 0, 3)),
        # The atomic of block 3 meets block 2's store, the store meets the atomics of blocks 0 and 1
        (resets_and_counts_up, 1, {hazards.GLOBAL_WRITE: 2}, None),
    ],
)
def test_launch__reports_races_of_blocks(kernel, arrays, expected, detail, batch_lanes):
    data = [np.zeros(128, np.int32) for _ in range(arrays)]
    launched = launch(kernel, 4, 32, *data, batch_lanes=batch_lanes)
    assert launched.hazard_counts == expected
    assert launched.counters["race_count"] == sum(expected.values())
    if detail:
        block, other, array, index, line_number = detail
        hazard = launched.hazards[0]
        assert (hazard.block, hazard.other_block) == ((block, 0, 0), (other, 0, 0))
        assert (hazard.array, hazard.index, hazard.other_warp) == (array, index, -1)
        assert hazard.source == line(kernel, line_number)
        assert f"block ({other}, 0, 0) writes in the same launch" in str(hazard)


@pytest.mark.parametrize("batch_lanes", [1, 10_000])
def test_launch__starts_again_with_the_arrays_as_they_were(batch_lanes):
    """Read and written by one block each: no race, and every element is doubled once."""
    runs = []

    def double(blk, x):
        runs.append(blk.n_blocks)
        index = blk.bx * 32 + blk.tid
        blk.store(x, index, 2 * blk.load(x, index))

    x = np.arange(128, dtype=np.float32)
    launched = launch(double, 4, 32, x, batch_lanes=batch_lanes)
    np.testing.assert_array_equal(x, 2 * np.arange(128))
    assert launched.hazard_counts == {}
    assert launched.counters["gld_instr"] == launched.counters["gst_instr"] == 4
    # The first batch found out; with it the launch began anew
    assert runs == [1] * 5 if batch_lanes == 1 else [4, 4]


def test_launch__a_racing_kernel_leaves_what_one_run_leaves():
    x = np.arange(128, dtype=np.int32)
    launch(shift, 4, 32, x)
    np.testing.assert_array_equal(x, np.roll(np.arange(128), -1))


def test_launch__one_array_under_two_names_is_one_array():
    def copies_back(blk, source, target):
        index = blk.bx * 32 + blk.tid
        blk.store(target, index, blk.load(source, 127 - index))

    x = np.arange(128, dtype=np.float32)
    assert launch(copies_back, 4, 32, x, x).hazard_counts == {hazards.GLOBAL_READ: 4}
    assert launch(copies_back, 4, 32, x, x.copy()).hazard_counts == {}


def test_launch__refuses_to_store_to_part_of_another_array():
    def copies(blk, source, target):
        blk.store(target, blk.bx * 32 + blk.tid, blk.load(source, blk.bx * 32 + blk.tid))

    x = np.zeros(160, np.float32)
    with pytest.raises(LaunchError, match=r"test_global_races\.py:\d+.*its memory with source"):
        launch(copies, 4, 32, x[:128], x[32:])
    launch(copies, 2, 32, x[:64], x[64:])  # side by side


def test_launch__refuses_to_store_to_a_read_only_array():
    x = np.zeros(128, np.float32)
    x.flags.writeable = False
    with pytest.raises(LaunchError, match=r"test_global_races\.py:\d+: .*x, which is read-only"):
        launch(shift, 4, 32, x)


def test_launch__several_blocks_of_a_grid_are_told_apart():
    def corner(blk, out):
        with blk.where((blk.tid == 0) & ((blk.bx == 1) | (blk.bz == 1))):
            blk.store(out, blk.tid, 1)

    launched = launch(corner, (2, 3, 2), 32, np.zeros(4, np.float32))
    # (1, 0, 0) is the first of 3 + 6 blocks that write
    assert launched.hazard_counts == {hazards.GLOBAL_WRITE: 8}
    assert launched.hazards[0].block == (1, 1, 0)
    assert launched.hazards[0].other_block == (1, 0, 0)


def test_launch__a_store_that_races_twice_over_is_one_race():
    def everybody(blk, out):
        blk.store(out, blk.tid * 0, 1)

    launched = launch(everybody, 3, 32, np.zeros(1, np.float32))
    assert launched.hazard_counts == {hazards.COLLISION: 3, hazards.GLOBAL_WRITE: 2}
    assert launched.counters["race_count"] == 3


def test_launch__asynchronous_copies_read():
    def copies(blk, x):
        tile = blk.shared("tile", 32)
        blk.copy_async(tile, blk.tid, x, blk.tid)
        blk.commit()
        blk.wait()
        blk.store(x, blk.bx * 32 + blk.tid, blk.sload(tile, blk.tid))

    launched = launch(copies, 2, 32, np.zeros(64, np.float32))
    # Block 1 copies what block 0 writes
    assert launched.hazard_counts == {hazards.GLOBAL_READ: 1}
    assert launched.hazards[0].block == (1, 0, 0)


def test_count__does_not_look_for_races_of_blocks():
    assert count(everybody_stores, 4, 32, np.zeros(128, np.float32)).hazard_counts == {}
