"""Two threads of one store on one element."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.simt.collisions import collisions


def test_collisions__names_block_thread_and_offset():
    thread = np.array([[5, -6, 5, 7], [1, 2, 3, 2], [4, 4, 4, 4]])
    active = np.array([[True, True, False, True], [True] * 4, [True] * 4])
    found = collisions(thread, active)
    assert found.colliding.tolist() == [False, True, True]
    assert (found.row, found.thread, found.offset) == (1, 3, 2)


@given(st.data(), st.sampled_from([(1, 1), (1, 3), (3, 1), (3, 3)]), st.integers(1, 70))
def test_collisions__are_pairs_of_active_threads(data, rows, threads):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    thread = rng.integers(-3, data.draw(st.sampled_from([0, 50, 2000])), (rows[0], threads))
    active = rng.random((rows[1], threads)) < data.draw(st.sampled_from([0.1, 0.9]))
    both, lit = np.broadcast_arrays(thread, active)
    by_hand = [
        len(set(row[on].tolist())) < int(on.sum()) for row, on in zip(both, lit, strict=True)
    ]
    found = collisions(thread, active)
    assert (found.colliding.tolist() if found else [False] * max(rows)) == by_hand
    if found:
        at = np.flatnonzero((both[found.row] == found.offset) & lit[found.row])
        assert at[0] < found.thread
        assert found.thread in at
