"""Programs that run together leave what one after another would: a plain loop is the judge."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import pipeline.block_programs.language as tl
import pipeline.block_programs.triton as triton
from pipeline.block_programs.hazards import LANES, PROGRAMS

LOAD, STORE, ADD, SWAP = range(4)


@triton.jit
def scripted(memory_ptr, result_ptr, kinds_ptr, places_ptr, values_ptr, steps):
    pid = tl.program_id(0)
    found = pid.to(tl.int64)
    for step in range(steps):
        at = pid * steps + step
        kind = tl.load(kinds_ptr + at)
        place = memory_ptr + tl.load(places_ptr + at)
        value = tl.load(values_ptr + at)
        if kind == 0:
            found += tl.load(place)
        elif kind == 1:
            tl.store(place, value + found)
        elif kind == 2:
            found += tl.atomic_add(place, value)
        else:
            found += tl.atomic_xchg(place, value)
    tl.store(result_ptr + pid, found)


def one_after_another(kinds, places, values, size):
    """Results, memory, and how many stores replaced another program's different value."""
    memory, storer = np.arange(size), np.full(size, -1)
    results, hazards = [], 0
    for pid, script in enumerate(zip(kinds, places, values, strict=True)):
        found = pid
        for kind, place, value in zip(*script, strict=True):
            old = memory[place]
            if kind == STORE:
                replaced = storer[place] not in (-1, pid) and old != value + found
                hazards += int(replaced)
                memory[place], storer[place] = value + found, pid
            elif kind == ADD:
                memory[place] += value
            elif kind == SWAP:
                memory[place] = value
            found += 0 if kind == STORE else old
        results.append(found)
    return results, memory, hazards


@st.composite
def scripts(draw, kinds=st.integers(0, 3)):
    programs, steps = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    size = draw(st.integers(1, 12))
    shape = st.lists(
        st.tuples(kinds, st.integers(0, size - 1), st.integers(0, 2)),
        min_size=programs * steps, max_size=programs * steps,
    )  # fmt: skip
    table = np.array(draw(shape)).reshape(programs, steps, 3)
    return (*np.moveaxis(table, 2, 0).copy(), size)


def check(script):
    kinds, places, values, size = script
    programs, steps = kinds.shape
    memory, results = np.arange(size), np.zeros(programs, np.int64)
    launched = scripted[(programs,)](
        memory, results, kinds.copy(), places.copy(), values.copy(), steps
    )
    right, left, hazards = one_after_another(kinds, places, values, size)
    assert results.tolist() == right
    np.testing.assert_array_equal(memory, left)
    assert launched.hazard_count == hazards
    assert launched.counters["atomics"] == (kinds >= ADD).sum()
    assert launched.counters["loads"] == 3 * kinds.size + (kinds == LOAD).sum()
    assert launched.counters["stores"] == (kinds == STORE).sum() + programs


@settings(max_examples=150, deadline=None)
@given(scripts())
def test_scripted__leaves_what_one_after_another_leaves(script):
    check(script)


@settings(max_examples=60, deadline=None)
@given(scripts(st.sampled_from([STORE, LOAD])))
def test_scripted__plain_accesses(script):
    check(script)


@triton.jit
def store_number(x_ptr, count, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.program_id(0) + i * 0, mask=i < count)


def test_hazard__two_programs_store_different_values():
    x = np.zeros(4, np.int32)
    launched = store_number[(2, 2)](x, 3, BLOCK=4)
    assert x.tolist() == [1, 1, 1, 0]
    assert launched.hazard_count == 9
    first = launched.hazards[0]
    assert first.kind == PROGRAMS
    assert (first.argument, first.offset, first.values) == ("x_ptr", 0, (0, 1))
    assert first.programs == ((0, 0, 0), (1, 0, 0))
    assert (
        "program (1, 0, 0) stores 1 to x_ptr at offset 0, where program (0, 0, 0) stored 0"
        in str(first)
    )
    assert first.source.startswith("test_order.py:")


def test_hazard__not_where_the_values_are_equal():
    assert store_number[(1, 3)](np.zeros(4, np.int32), 4, BLOCK=4).hazard_count == 0


@triton.jit
def crowded(x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i // 2, i)


def test_hazard__lanes_of_one_store():
    launched = crowded[(1,)](np.zeros(4, np.int32), BLOCK=8)
    assert launched.hazard_count == 4
    assert launched.hazards[0].kind == LANES
    assert "stores 0 and 1 to x_ptr at offset 0 in one store" in str(launched.hazards[0])


@triton.jit
def printing(BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid % 2 == 1:
        tl.device_print("odd", pid)
    print("all ", tl.arange(0, BLOCK) * pid)


def test_device_print__lines_in_launch_order():
    launched = printing[(3,)](BLOCK=2)
    assert launched.printed == (
        "pid (0, 0, 0) all 0, 0", "pid (1, 0, 0) odd1", "pid (1, 0, 0) all 0, 1",
        "pid (2, 0, 0) all 0, 2",
    )  # fmt: skip


def test_order__axis_0_is_fastest():
    order = printing[(2, 2)](BLOCK=2).order()
    assert order.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
