"""What a launch says about itself besides counters, and who wrote an element."""

import numpy as np
import pytest

from pipeline.simt.last_store import last_store
from pipeline.simt.launch import count, launch

GRID, BLOCK = (2, 2), (32, 2)


def stores_twice(blk, x, out):
    """Block (bx, by) writes 64 elements of its own, thread 0 of each block also element 7."""
    index = (blk.by * 2 + blk.bx) * 64 + blk.tid
    blk.store(out, index, blk.load(x, index))
    with blk.where(blk.tid == 0):
        blk.store(out, blk.tid * 0 + 7, blk.load(x, index))


def arrays():
    return np.arange(256, dtype=np.float32), np.zeros(256, np.float32)


def test_last_store__names_thread_block_and_line():
    found = last_store(stores_twice, GRID, BLOCK, *arrays(), array="out", element=64 * 3 + 37)
    assert (found.block, found.thread) == ((1, 1, 0), 37)
    line = stores_twice.__code__.co_firstlineno + 3
    assert str(found) == f"test_last_store.py:{line}: block (1, 1, 0), thread 37 (warp 1, lane 5)"


@pytest.mark.parametrize("batch_lanes", [64, 1 << 15])
def test_last_store__is_the_one_whose_value_stays(batch_lanes):
    x, out = arrays()
    launch(stores_twice, GRID, BLOCK, x, out, batch_lanes=batch_lanes)
    found = last_store(stores_twice, GRID, BLOCK, *arrays(), array="out", element=7)
    assert found.thread == 0
    assert x[(found.block[1] * 2 + found.block[0]) * 64] == 192
    assert out[7] == 192


def test_last_store__is_none_where_nobody_writes():
    assert last_store(stores_twice, GRID, BLOCK, *arrays(), array="x", element=0) is None


def test_last_store__sees_every_element_of_a_vector_store():
    def quads(blk, out):
        blk.store(out, blk.tid * 4, blk.zeros(4), width=4)

    found = last_store(quads, 1, 32, np.zeros(128, np.float32), array="out", element=126)
    assert found.thread == 31


@pytest.mark.parametrize("run", [launch, count])
def test_launched__says_what_memory_was_used(run):
    def kernel(blk, x, out, spare):
        tile = blk.shared("tile", 64)
        half = blk.shared("half", 10, np.float16)
        blk.sstore(tile, blk.tid, blk.load(x, blk.tid))
        with blk.where(blk.tid < 10):
            blk.sstore(half, blk.tid, blk.zeros())
        with blk.where(blk.tid < 0):
            blk.load(spare, blk.tid)
        blk.store(out, blk.tid, blk.sload(tile, blk.tid))

    launched = run(kernel, 3, 64, *arrays(), np.zeros(64, np.float32))
    assert launched.smem_bytes == 64 * 4 + 10 * 2
    assert (launched.loaded, launched.stored) == ({"x"}, {"out"})


def test_launched__counts_an_asynchronous_copy_as_a_load():
    def kernel(blk, x):
        tile = blk.shared("tile", 64)
        blk.copy_async(tile, blk.tid, x, blk.tid)
        blk.commit()
        blk.wait()

    launched = launch(kernel, 1, 64, np.zeros(64, np.float32))
    assert (launched.loaded, launched.stored) == ({"x"}, frozenset())
