"""The slow hazard oracle against hazards found by hand."""

from tests.simt.hazard_oracle import (
    COLLISION,
    GLOBAL_READ,
    GLOBAL_WRITE,
    IN_FLIGHT,
    RAW,
    UNINITIALISED,
    WAR,
    WAW,
    BlockRaceOracle,
    HazardOracle,
    Offence,
    colliding_blocks,
)
from tests.simt.oracle import Lane
from tests.simt.test_oracle import every, warp_of


def shown(hazards):
    """The kinds that were found, with their counts."""
    return {kind: count for kind, count in hazards.counts.items() if count}


def one(warp, address, lane=0, block=0):
    return [Lane(block, warp, lane, address)]


def test_hazards__reading_what_another_warp_wrote():
    hazards = HazardOracle()
    assert hazards.store(one(0, 40)) == {}
    assert hazards.load(one(0, 40)) == {}  # its own word: lock-step
    assert hazards.load(one(2, 40)) == {0: {RAW: {Offence(2, 0, 40)}}}
    hazards.barrier(0)
    assert hazards.load(one(2, 40)) == {}


def test_hazards__overwriting_what_another_warp_read():
    hazards = HazardOracle()
    hazards.store(one(0, 40))
    hazards.barrier(0)
    hazards.load(one(1, 40) + one(2, 40))
    assert hazards.store(one(1, 40)) == {0: {WAR: {Offence(1, 2, 40)}}}
    hazards.barrier(0)
    assert hazards.store(one(1, 40)) == {}


def test_hazards__overwriting_what_another_warp_wrote():
    hazards = HazardOracle()
    hazards.store(one(0, 40))
    assert hazards.store(one(1, 40)) == {0: {WAW: {Offence(1, 0, 40)}}}
    # All earlier writers count, not the last one alone
    assert hazards.store(one(0, 40)) == {0: {WAW: {Offence(0, 1, 40)}}}
    assert hazards.load(one(1, 40)) == {0: {RAW: {Offence(1, 0, 40)}}}


def test_hazards__every_earlier_reader_is_remembered():
    hazards = HazardOracle()
    hazards.store(one(0, 0))
    hazards.barrier(0)
    for warp in (3, 1, 0):
        hazards.load(one(warp, 0))
    assert hazards.store(one(0, 0)) == {0: {WAR: {Offence(0, 1, 0), Offence(0, 3, 0)}}}


def test_hazards__two_warps_of_one_store_collide_as_writers():
    found = HazardOracle().store(one(0, 8) + one(1, 8))
    assert found == {0: {WAW: {Offence(1, 0, 8)}}}


def test_hazards__two_lanes_of_one_store_collide():
    found = HazardOracle().store(one(0, 8, lane=3) + one(0, 8, lane=7))
    assert found == {0: {COLLISION: {Offence(0, 0, 8)}}}


def test_hazards__two_stores_of_one_warp_are_in_order():
    hazards = HazardOracle()
    hazards.store(one(0, 8, lane=3))
    assert hazards.store(one(0, 8, lane=7)) == {}


def test_hazards__reading_what_nobody_wrote():
    hazards = HazardOracle()
    hazards.store(one(0, 0))
    hazards.barrier(0)
    # A float2 of which only the first element was written
    assert hazards.load(one(0, 0), 4, 2) == {0: {UNINITIALISED: {Offence(0, -1, 4)}}}
    assert hazards.race_count == 0


def test_hazards__inactive_lanes_do_nothing():
    hazards = HazardOracle()
    assert hazards.load(warp_of(every(4), active=())) == {}
    hazards.store(warp_of(every(4), active=(0,)))
    assert hazards.load(warp_of(every(4), active=(0,))) == {}


def test_hazards__blocks_have_their_own_memory_and_barriers():
    hazards = HazardOracle()
    hazards.store(one(0, 0) + one(0, 0, block=1))
    hazards.barrier(1)
    # Block 0 did not wait; block 1 did; block 2 never wrote
    found = hazards.load(one(1, 0) + one(1, 0, block=1) + one(1, 0, block=2))
    assert found == {0: {RAW: {Offence(1, 0, 0)}}, 2: {UNINITIALISED: {Offence(1, -1, 0)}}}


def test_hazards__a_kind_counts_once_per_instruction_and_block():
    hazards = HazardOracle()
    hazards.store(warp_of(every(4)) + warp_of(every(4), block=1))
    # 32 lanes of 2 warps in 2 blocks read block-wise foreign words: one report per block
    readers = [Lane(b, w, i, 4 * i) for b in (0, 1) for w in (1, 2) for i in range(32)]
    hazards.load(readers)
    assert shown(hazards) == {RAW: 2}
    assert hazards.race_count == 2
    # A store that shows three kinds is one race of each block
    hazards.store([Lane(0, 1, lane, 0) for lane in (0, 1)])
    assert shown(hazards) == {RAW: 2, WAR: 1, WAW: 1, COLLISION: 1}
    assert hazards.race_count == 3


def test_hazards__bytes_of_one_word_are_apart():
    hazards = HazardOracle()
    hazards.store(one(0, 0), itemsize=1)
    assert hazards.store(one(1, 1), itemsize=1) == {}
    assert hazards.load(one(1, 0), itemsize=1) == {0: {RAW: {Offence(1, 0, 0)}}}


def test_hazards__a_double_is_one_element_of_two_words():
    hazards = HazardOracle()
    hazards.store(one(0, 8), itemsize=8)
    assert hazards.load(one(1, 8), itemsize=8) == {0: {RAW: {Offence(1, 0, 8)}}}


def test_hazards__k03_without_its_first_barrier():
    """128 x 128 in tiles of 32: 16 blocks of 32 warps, warp = row, 4 steps: 2048 by the lecture.

    Loads of A read the warp's own row, which it wrote itself: no hazard. Loads of B read row k,
    which warp k wrote: 32 loads a step, each with 31 foreign readers. 32 reports a step, 4 steps,
    16 blocks are 2048. One block is run here.
    """
    a_tile, b_tile = HazardOracle(), HazardOracle()
    threads = [(warp, lane) for warp in range(32) for lane in range(32)]
    own = [Lane(0, warp, lane, 4 * (32 * warp + lane)) for warp, lane in threads]
    for _ in range(4):
        a_tile.store(own)
        b_tile.store(own)
        for k in range(32):
            a_tile.load([Lane(0, warp, lane, 4 * (32 * warp + k)) for warp, lane in threads])
            b_tile.load([Lane(0, warp, lane, 4 * (32 * k + lane)) for warp, lane in threads])
        a_tile.barrier(0)
        b_tile.barrier(0)
    assert a_tile.race_count == 0
    assert b_tile.race_count == b_tile.counts[RAW] == 2048 // 16


def test_colliding_blocks__finds_two_threads_on_one_element():
    # Block 0: 32 lanes on 32 elements. Block 1: lanes 0 and 1 on one. Block 2: two warps on one.
    lanes = warp_of(every(4)) + warp_of([0, 0], block=1) + warp_of([0], block=2)
    lanes += warp_of([0], warp=1, block=2) + warp_of([0, 0], active=(1,), block=3)
    assert colliding_blocks(lanes) == {1, 2}


# ---- atomics and asynchronous copies


def test_hazards__atomics_are_in_order_among_themselves_only():
    hazards = HazardOracle()
    hazards.store(one(0, 0))
    hazards.barrier(0)
    # Lanes and warps on one word
    assert hazards.atomic(one(0, 0) + one(0, 0, lane=1) + one(1, 0) + one(2, 0)) == {}
    assert hazards.atomic(one(1, 0)) == {}
    # A plain load or store by warp 1 meets the atomics of warps 0 and 2
    assert hazards.load(one(1, 0)) == {0: {RAW: {Offence(1, 0, 0), Offence(1, 2, 0)}}}
    assert hazards.store(one(1, 0)) == {0: {WAW: {Offence(1, 0, 0), Offence(1, 2, 0)}}}
    # Warp 2's atomic meets the load and the store of warp 1, whatever atomics came between
    assert hazards.atomic(one(1, 0)) == {}
    assert hazards.atomic(one(2, 0)) == {0: {WAR: {Offence(2, 1, 0)}, WAW: {Offence(2, 1, 0)}}}
    hazards.barrier(0)
    assert hazards.atomic(one(2, 0)) == {}


def test_hazards__an_atomic_reads_what_was_there():
    hazards = HazardOracle()
    assert hazards.atomic(one(0, 0)) == {0: {UNINITIALISED: {Offence(0, -1, 0)}}}
    assert hazards.atomic(one(0, 0)) == {}
    assert hazards.race_count == 0


def test_hazards__a_copy_may_not_be_touched_before_its_wait():
    hazards = HazardOracle()
    hazards.copy(one(0, 0))
    for touch in (hazards.load, hazards.store, hazards.atomic):
        assert touch(one(0, 0)) == {0: {IN_FLIGHT: {Offence(0, -1, 0)}}}
    # A barrier does not wait for copies
    hazards.barrier(0)
    assert hazards.load(one(1, 0)) == {0: {IN_FLIGHT: {Offence(1, -1, 0)}}}


def test_hazards__a_landed_copy_is_seen_by_others_after_a_barrier():
    hazards = HazardOracle()
    hazards.copy(one(0, 0))
    hazards.barrier(0)
    hazards.land(one(0, 0))
    assert hazards.load(one(0, 0)) == {}
    assert hazards.load(one(1, 0)) == {0: {RAW: {Offence(1, 0, 0)}}}
    hazards.barrier(0)
    assert hazards.load(one(1, 0)) == {}


def test_hazards__a_copy_writes_when_it_starts():
    hazards = HazardOracle()
    hazards.store(one(0, 0))
    hazards.load(one(0, 0))
    found = hazards.copy(one(1, 0))
    assert found == {0: {WAR: {Offence(1, 0, 0)}, WAW: {Offence(1, 0, 0)}}}


# ---- races of blocks: kind and lanes of every instruction -> offences


def races(*instructions):
    oracle = BlockRaceOracle()
    for kind, lanes in instructions:
        oracle.enter(kind, lanes)
    return [(kind, block) for kind, block, _ in oracle.offences()]


def test_block_races__the_reader_offends_whoever_comes_first():
    written, read = ("store", one(0, 0, block=0)), ("load", one(0, 0, block=1))
    assert races(written, read) == races(read, written) == [(GLOBAL_READ, 1)]
    written, read = ("store", one(0, 0, block=1)), ("load", one(0, 0, block=0))
    assert races(written, read) == races(read, written) == [(GLOBAL_READ, 0)]


def test_block_races__of_two_writers_the_higher_block_offends():
    first, second = ("store", one(0, 0, block=0)), ("store", one(3, 0, block=2))
    assert races(first, second) == races(second, first) == [(GLOBAL_WRITE, 2)]


def test_block_races__own_elements_and_elements_apart_are_fine():
    assert races(("store", one(0, 0)), ("load", one(5, 0)), ("store", one(5, 0))) == []
    assert races(("store", one(0, 0)), ("store", one(0, 4, block=1))) == []
    assert races(("load", one(0, 0)), ("load", one(0, 0, block=1))) == []


def test_block_races__atomics_race_with_plain_accesses_only():
    atomic, later = ("atomic", one(0, 0)), ("atomic", one(0, 0, block=1))
    assert races(atomic, later) == []
    assert races(atomic, later, ("load", one(0, 0))) == [(GLOBAL_READ, 0)]
    assert races(atomic, ("store", one(0, 0, block=1))) == [(GLOBAL_WRITE, 1)]
    assert races(later, ("store", one(0, 0))) == [(GLOBAL_WRITE, 1)]


def test_block_races__count_once_per_instruction_and_block():
    read = ("load", warp_of(every(4), block=1) + warp_of(every(4), warp=1, block=2))
    assert (
        races(("store", warp_of(every(4))), read, read)
        == [
            (GLOBAL_READ, 1),
            (GLOBAL_READ, 2),
        ]
        * 2
    )
