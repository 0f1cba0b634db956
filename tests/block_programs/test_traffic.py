"""The compiled loops are the plain ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.block_programs import traffic, traffic_fast

SIZE = 40


@st.composite
def accesses(draw):
    """Offsets, mask and other of a few programs, some shared by all, some out of bounds."""
    rows, width = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    out = draw(st.booleans())
    low, high = -3, SIZE - 3
    offsets = seed.integers(low - out, high + out, (draw(st.sampled_from([1, rows])), width))
    mask = seed.random((draw(st.sampled_from([1, rows])), draw(st.sampled_from([1, width])))) < 0.7
    other = seed.integers(
        0, 99, (draw(st.sampled_from([1, rows])), draw(st.sampled_from([1, width])))
    )
    return rows, (low, high), offsets, mask, other, seed


TYPES = st.sampled_from([np.uint8, np.uint16, np.uint32, np.uint64])


@settings(max_examples=60, deadline=None)
@given(accesses(), TYPES)
def test_gather__compiled_twin_agrees(access, dtype):
    rows, bounds, offsets, mask, other, seed = access
    memory = seed.integers(0, 200, SIZE).astype(dtype)
    results = []
    for module in (traffic, traffic_fast):
        out = np.zeros((rows, offsets.shape[1]), dtype)
        stamps = np.full(SIZE, -1)
        counted = module.gather(
            memory, 3, bounds, offsets, mask, other.astype(dtype), stamps, 0, out
        )
        results.append((counted, out.tolist() if counted[2] < 0 else None))
    assert results[0] == results[1]


def resolved(module, access, size):
    rows, bounds, offsets, mask, *_ = access
    places, lanes = (np.zeros(rows * offsets.shape[1], np.int64) for _ in range(2))
    ends = np.zeros(rows, np.int64)
    counted = module.resolve(
        3, bounds, size, offsets, mask, np.full(SIZE, -1), 0, places, lanes, ends
    )
    return counted, places[: counted[0]], lanes[: counted[0]], ends


@settings(max_examples=60, deadline=None)
@given(accesses())
def test_resolve__compiled_twin_agrees(access):
    one, two = (resolved(module, access, 4) for module in (traffic, traffic_fast))
    assert one[0] == two[0]
    for plain, fast in zip(one[1:], two[1:], strict=True):
        np.testing.assert_array_equal(plain, fast)


def touched(access):
    """An access that stays in bounds, with what writes need besides."""
    rows, _, offsets, mask, _, seed = access
    inside = (rows, (-3, SIZE - 3), np.clip(offsets, -3, SIZE - 4), mask, None, seed)
    counted, places, _, ends = resolved(traffic, inside, 4)
    programs = np.sort(seed.choice(9, rows, replace=False)).astype(np.int64)
    noted = [np.where(seed.random(SIZE) < 0.3, seed.integers(0, 9, SIZE), -1).astype(np.int32)
             for _ in range(3)]  # fmt: skip
    return counted[0], places, ends, programs, noted, seed


@settings(max_examples=60, deadline=None)
@given(accesses(), st.booleans())
def test_scatter__compiled_twin_agrees(access, tracked):
    count, places, ends, programs, (writer, storer, reader), seed = touched(access)
    memory, values = (
        seed.integers(0, 3, SIZE, np.uint32),
        seed.integers(0, 3, count).astype(np.uint32),
    )
    reader = reader if tracked else reader[:0]
    results = []
    for module in (traffic, traffic_fast):
        state = [x.copy() for x in (memory, writer, storer)]
        found = np.zeros((4, 5), np.int64)
        hazards = module.scatter(
            state[0], places, values, ends, programs, state[1], state[2], reader, found
        )
        # A store that comes too late is done again, and what it found is of no use.
        shown = found.tolist() if hazards >= 0 else []
        results.append((hazards, shown, [x.tolist() for x in state]))
    assert results[0] == results[1]


@settings(max_examples=60, deadline=None)
@given(accesses())
def test_read_in_order__compiled_twin_agrees(access):
    _, places, ends, programs, (writer, _, reader), _ = touched(access)
    results = []
    for module in (traffic, traffic_fast):
        noted = reader.copy()
        results.append(
            (module.read_in_order(places, ends, programs, writer, noted), noted.tolist())
        )
    assert results[0] == results[1]


@pytest.mark.parametrize("op", ["ADD", "MAX", "MIN", "XCHG", "CAS"])
@settings(max_examples=25, deadline=None)
@given(access=accesses(), dtype=st.sampled_from([np.int32, np.int64, np.float32, np.uint32]))
def test_exchange__compiled_twin_agrees(op, access, dtype):
    count, places, ends, programs, (writer, _, reader), seed = touched(access)
    memory = seed.integers(0, 4, SIZE).astype(dtype)
    values, compare = (seed.integers(0, 4, count).astype(dtype) for _ in range(2))
    results = []
    for module in (traffic, traffic_fast):
        state, noted, old = memory.copy(), writer.copy(), np.zeros(count, dtype)
        done = module.exchange(
            state, places, values, compare, ends, programs, noted, reader,
            getattr(traffic_fast, op), old,
        )  # fmt: skip
        results.append((done, state.tolist(), noted.tolist(), old.tolist()))
    assert results[0] == results[1]
