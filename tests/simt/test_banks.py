"""Wavefronts: hand counts of both rules, and the compiled twin against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.simt.banks import RULES, atomic_wavefronts, wavefronts
from pipeline.simt.banks_fast import atomic_wavefronts as compiled_atomic
from pipeline.simt.banks_fast import wavefronts as compiled
from tests.strategies import ACCESS_BYTES, warps

LANE = np.arange(32)
ALL = np.ones(32, bool)


@pytest.mark.parametrize(
    ("address", "size", "lecture", "hardware"),
    [
        (LANE * 4, 4, (1, 1), (1, 1)),  # consecutive words
        (LANE * 0, 4, (1, 1), (1, 1)),  # broadcast
        (LANE * 128, 4, (32, 1), (32, 1)),  # one bank
        (LANE * 8, 4, (2, 1), (2, 1)),  # every other bank
        (LANE * 16, 16, (4, 4), (4, 4)),  # consecutive float4
        (LANE * 0, 16, (4, 4), (2, 2)),  # uniform float4: pairs merge two quarters
        (LANE * 0, 8, (2, 2), (1, 1)),  # uniform float2
        (LANE % 4 * 16, 16, (4, 4), (4, 4)),  # lane mod 4: no lane agrees with its neighbour
        (LANE // 2 * 16, 16, (4, 4), (2, 2)),  # neighbours agree
        (LANE % 8 * 32, 16, (8, 4), (8, 4)),  # stride 32 B: two words per bank in each quarter
        (LANE, 1, (1, 1), (1, 1)),  # bytes: four lanes share a word
    ],
)
def test_wavefronts__hand_counts(address, size, lecture, hardware):
    assert wavefronts(address, ALL, size, "lecture") == lecture
    assert wavefronts(address, ALL, size, "hardware") == hardware


def test_wavefronts__ideal_of_a_wide_store_knows_no_pairs():
    assert wavefronts(LANE * 0, ALL, 16, "hardware", store=True) == (2, 4)


def test_wavefronts__groups_without_active_lane_are_free():
    first_quarter = LANE < 8
    assert wavefronts(LANE * 16, first_quarter, 16, "lecture") == (1, 1)
    assert wavefronts(LANE * 16, ~ALL, 16, "lecture") == (0, 0)


@given(st.data(), st.sampled_from(ACCESS_BYTES), st.sampled_from(RULES), st.booleans())
def test_wavefronts__compiled_twin_agrees(data, size, rule, store):
    lanes = data.draw(st.lists(warps(access_bytes=size), min_size=1, max_size=3))
    threads = 32 * len(lanes) - data.draw(st.integers(0, 31))
    scale = data.draw(st.sampled_from([s for s in (1, 2, 4, 8) if size % s == 0 and s * 4 >= size]))
    width = size // scale
    address = np.concatenate([a for a, _ in lanes], axis=1)
    active = np.concatenate([lit for _, lit in lanes], axis=1) & (np.arange(address.size) < threads)
    each = [
        wavefronts(a, lit, size, rule, store)
        for a, lit in zip(address.reshape(-1, 32), active.reshape(-1, 32), strict=True)
    ]
    block = np.array([[0], [width]], np.int64)
    counted = compiled(
        0, block, address[:, :threads] // scale, active[:, :threads], scale, width,
        rule == "hardware", store, 1,
    )  # fmt: skip
    lit_warps = active.reshape(-1, 32).any(axis=1).sum()
    assert counted == (lit_warps, active.sum(), *np.sum(each, axis=0))


@given(warps(), st.integers(0, 100))
def test_wavefronts__a_shift_by_whole_words_changes_nothing(warp, words):
    address, active = warp
    assert wavefronts(address[0] + 4 * words, active[0], 4, "lecture") == wavefronts(
        address[0], active[0], 4, "lecture"
    )


@pytest.mark.parametrize(
    ("address", "size", "expected"),
    [
        (LANE * 4, 4, 1),  # a bank each
        (LANE * 0, 4, 32),  # one word: one after the other
        (LANE * 128, 4, 32),  # one bank
        (LANE % 4 * 4, 4, 8),
        (LANE * 8, 8, 2),
        (LANE * 0, 8, 32),  # 16 in each half
        (LANE * 2, 2, 2),  # two lanes to a word
    ],
)
def test_atomic_wavefronts__hand_counts(address, size, expected):
    assert atomic_wavefronts(address, ALL, size) == expected
    assert atomic_wavefronts(address, ~ALL, size) == 0


@given(st.data(), st.sampled_from([2, 4, 8]))
def test_atomic_wavefronts__compiled_twin_agrees(data, size):
    lanes = data.draw(st.lists(warps(access_bytes=size), min_size=1, max_size=3))
    threads = 32 * len(lanes) - data.draw(st.integers(0, 31))
    address = np.concatenate([a for a, _ in lanes], axis=1)
    active = np.concatenate([lit for _, lit in lanes], axis=1) & (np.arange(address.size) < threads)
    taken = sum(
        atomic_wavefronts(a, lit, size)
        for a, lit in zip(address.reshape(-1, 32), active.reshape(-1, 32), strict=True)
    )
    counted = compiled_atomic(
        3, np.array([[0], [9]]), address[:, :threads] // size - 3, active[:, :threads], size, 1
    )
    assert counted == (active.reshape(-1, 32).any(axis=1).sum(), active.sum(), taken)
