"""Sectors and lines: hand counts, the definition against sets, the compiled twin against it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.simt.coalescing import (
    LINE_BYTES,
    SECTOR_BYTES,
    repeats_per_warp,
    segments_per_warp,
)
from pipeline.simt.coalescing_fast import (
    every_block,
    nothing_known,
    repeats,
    shifts,
    transactions,
)
from tests.strategies import warps

LANE = np.arange(32)[None, :]
ALL = np.ones((1, 32), bool)


@pytest.mark.parametrize(
    ("address", "sectors", "lines"),
    [
        (LANE * 4, 4, 1),  # a row of floats: 128 B
        (LANE * 0, 1, 1),  # a broadcast
        (LANE * 4 + 16, 5, 2),  # the same row, off by half a sector
        (LANE * 1024, 32, 32),  # a column
        (LANE * 16, 16, 4),  # float4: 512 B
        (LANE * 32, 32, 8),  # every other float4 pair
        (LANE[:, ::-1] * 4, 4, 1),  # backwards
    ],
)
def test_segments__hand_counts(address, sectors, lines):
    assert segments_per_warp(address, ALL, SECTOR_BYTES) == [sectors]
    assert segments_per_warp(address, ALL, LINE_BYTES) == [lines]


def test_segments__an_inactive_warp_costs_nothing():
    assert segments_per_warp(LANE * 4, ~ALL, SECTOR_BYTES) == [0]


@given(warps(), st.sampled_from([SECTOR_BYTES, LINE_BYTES]))
def test_segments__are_distinct_addresses_over_size(warp, size):
    address, active = warp
    by_hand = len({a // size for a, on in zip(address[0], active[0], strict=True) if on})
    assert segments_per_warp(address, active, size) == [by_hand]


@given(warps(), st.permutations(range(32)))
def test_segments__lane_order_is_irrelevant(warp, order):
    address, active = warp
    np.testing.assert_array_equal(
        segments_per_warp(address[:, order], active[:, order], SECTOR_BYTES),
        segments_per_warp(address, active, SECTOR_BYTES),
    )


@given(
    st.lists(warps(), min_size=1, max_size=3),
    st.lists(st.integers(0, 200), min_size=1, max_size=4),
    st.integers(0, 9),
    st.sampled_from([1, 2, 4, 8]),
)
def test_transactions__compiled_twin_agrees(lanes, offsets, const, scale):
    thread = np.concatenate([address for address, _ in lanes], axis=1)
    active = np.concatenate([lit for _, lit in lanes], axis=1)
    block = np.array(offsets, np.int64)[:, None]
    address = ((const + block + thread) * scale).reshape(-1, 32)
    lit = np.repeat(active, len(block), axis=0).reshape(-1, 32)
    expected = (
        int(lit.any(axis=1).sum()),
        int(lit.sum()),
        int(segments_per_warp(address, lit, SECTOR_BYTES).sum()),
        int(segments_per_warp(address, lit, LINE_BYTES).sum()),
    )
    known = nothing_known()
    few = shifts(block, scale)
    assert few.weight.sum() == len(block)
    assert transactions(const, *few, thread, active, scale, known) == expected
    # The second time the counts come out of the table.
    assert transactions(const, *few, thread, active, scale, known) == expected
    # As many rows of indices as blocks, instead of one shifted row.
    each = every_block(block * 0)
    assert transactions(const, *each, block + thread, active, scale, nothing_known()) == expected


@pytest.mark.parametrize(
    ("address", "expected"), [(LANE * 4, 0), (LANE * 0, 31), (LANE % 8, 24), (LANE // 2 * 4, 16)]
)
def test_repeats__hand_counts(address, expected):
    assert repeats_per_warp(address, ALL) == [expected]
    assert repeats_per_warp(address, ~ALL) == [0]


@given(st.lists(warps(), min_size=1, max_size=3), st.integers(0, 31))
def test_repeats__compiled_twin_agrees(lanes, missing):
    address = np.concatenate([address for address, _ in lanes], axis=1)
    active = np.concatenate([lit for _, lit in lanes], axis=1)
    threads = address.size - missing
    active &= np.arange(address.size) < threads
    by_hand = sum(
        len(hit) - len(set(hit))
        for hit in (
            a[lit].tolist()
            for a, lit in zip(address.reshape(-1, 32), active.reshape(-1, 32), strict=True)
        )
    )
    assert repeats_per_warp(address.reshape(-1, 32), active.reshape(-1, 32)).sum() == by_hand
    assert repeats(address[:, :threads] - 5, active[:, :threads]) == by_hand
    both = np.concatenate([address, address * 0])[:, :threads]
    alone = [int(lit.sum()) for lit in np.split(active[0, :threads], range(32, threads, 32))]
    flat = sum(max(0, count - 1) for count in alone)
    assert repeats(both, active[:, :threads]) == by_hand + flat
