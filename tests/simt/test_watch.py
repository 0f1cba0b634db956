"""The compiled hazard check with all its short cuts, against the definition, block by block."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.simt.access import Access
from pipeline.simt.hazards import (
    ACCESS_KINDS,
    IN_FLIGHT,
    RACES,
    RAW,
    UNINITIALISED,
    WAR,
    WAW,
    History,
)
from pipeline.simt.hazards_fast import ATOMIC, COPY_ISSUED, COPY_LANDED, LOAD, STORE
from pipeline.simt.watch import Watch

SLOTS, WIDEST = 6, 4
ELEMENTS = (3 * SLOTS) * WIDEST


@dataclass(frozen=True)
class Touch:
    """One access of all blocks; ``access`` is what the watch sees."""

    kind: int
    access: Access

    def index(self, block: int, number: int) -> np.ndarray:
        """First element of each thread of a block at one of the repeats."""
        row = self.access.thread[block if len(self.access.thread) > 1 else 0]
        first = self.access.const + number * self.access.step + self.access.block[block, 0]
        return first + row

    def active(self, block: int) -> np.ndarray:
        return self.access.active[block if len(self.access.active) > 1 else 0]


@st.composite
def touches(draw, blocks, threads):
    """Mostly one or two warps on one or two places, so that they meet."""
    kind = draw(st.sampled_from([LOAD, LOAD, STORE, STORE, ATOMIC, COPY_ISSUED]))
    width = 1 if kind == ATOMIC else draw(st.sampled_from([1, 1, 1, 2, 4]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.sampled_from([1, 1, 1, blocks]))
    thread = rng.integers(0, draw(st.sampled_from([1, 1, 2, SLOTS])), (rows, threads)) * width
    who = draw(st.sampled_from(["all", "some", "one warp", "one warp", "one warp"]))
    active = np.ones((1, threads), bool)
    if who == "one warp":
        active = np.arange(threads)[None, :] // 32 == draw(st.integers(0, (threads - 1) // 32))
    if who == "some":
        active = rng.random((draw(st.sampled_from([1, blocks])), threads)) < 0.5
    block = np.zeros((blocks, 1), np.int64)
    if draw(st.integers(0, 3)) == 0:
        block = rng.integers(0, SLOTS, (blocks, 1)) * width
    same = not block.any() and len(thread) == len(active) == 1
    repeat = draw(st.integers(1, 2)) if kind == LOAD else 1
    const = draw(st.sampled_from([0, 0, 1])) * width
    return Touch(kind, Access(const, block, thread, active, width, same, repeat, width))


@st.composite
def launches(draw):
    """Blocks, and what they do: touches, None for a copy that lands, sets of arriving blocks."""
    blocks, threads = draw(st.integers(1, 3)), draw(st.sampled_from([32, 40, 64, 96]))
    barrier = st.frozensets(st.integers(0, blocks - 1), min_size=1)
    everybody = st.just(frozenset(range(blocks)))
    step = st.one_of(touches(blocks, threads), st.none(), barrier, everybody)
    return blocks, draw(st.lists(step, min_size=1, max_size=14))


class Definition:
    """A history for each block."""

    def __init__(self, blocks):
        self.histories = [History() for _ in range(blocks)]

    def barrier(self, arriving):
        for block in arriving:
            self.histories[block].barrier()

    def touch(self, touch, kind):
        """Count the blocks that show each kind, for every instruction that shows any."""
        found = []
        for number in range(touch.access.repeat):
            shown = [self._instruction(touch, kind, block, number) for block in self._blocks]
            counts = [sum(kind in kinds for kinds in shown) for kind in ACCESS_KINDS]
            racing = sum(any(kind in RACES for kind in kinds) for kinds in shown)
            if any(counts):
                found.append([*counts, racing])
        return found

    @property
    def _blocks(self):
        return range(len(self.histories))

    def _instruction(self, touch, kind, block, number):
        history, index = self.histories[block], touch.index(block, number)
        active, width = touch.active(block), touch.access.width
        if kind == LOAD:
            return history.load(index, active, width)
        if kind == STORE:
            return history.store(index, active, width)
        if kind == ATOMIC:
            return history.atomic(index, active)
        if kind == COPY_ISSUED:
            return history.copy(index, active, width)
        return history.land(index, active, width) or set()


@given(launches())
def test_watch__reports_what_the_definition_shows(launch):
    blocks, steps = launch
    watch, definition = Watch(blocks, ELEMENTS), Definition(blocks)
    epoch, flying = np.zeros(blocks, np.int32), []
    for step in steps:
        if isinstance(step, frozenset):
            if len(step) == blocks:
                watch.barrier()
            else:
                watch.torn_barrier(epoch)
            definition.barrier(step)
            epoch[list(step)] += 1
            continue
        kind = COPY_LANDED if step is None else step.kind
        if step is None and not flying:
            continue
        touch = flying.pop(0) if step is None else step
        if kind == COPY_ISSUED:
            flying.append(touch)
        reports = watch.access(touch.access, epoch, kind)
        assert [report[:, 0].tolist() for report in reports] == definition.touch(touch, kind)


@given(launches())
def test_watch__names_a_block_a_warp_and_an_element_that_offend(launch):
    """The details of a report belong to a thread that takes part and an element it touches."""
    blocks, steps = launch
    watch, epoch = Watch(blocks, ELEMENTS), np.zeros(blocks, np.int32)
    for touch in (step for step in steps if isinstance(step, Touch)):
        for report in watch.access(touch.access, epoch, touch.kind):
            for count, block, warp, _, element in report[:-1].tolist():
                if count:
                    threads = np.flatnonzero(touch.active(block))
                    touched = {
                        int(touch.index(block, number)[t]) + j
                        for number in range(touch.access.repeat)
                        for t in threads[threads // 32 == warp]
                        for j in range(touch.access.width)
                    }
                    assert element in touched


def by_warp(warp, element=0):
    """Lane 0 of a warp touches an element."""
    active = np.arange(96)[None, :] == 32 * warp
    zero = np.zeros((1, 1), np.int64)
    return Access(element, zero, np.zeros((1, 96), np.int64), active, 1, True)


@pytest.mark.parametrize(
    ("steps", "shown"),
    [
        ([(STORE, 0), (STORE, 1), (LOAD, 1)], [set(), {WAW}, {RAW}]),
        ([(STORE, 0), (LOAD, 0), (LOAD, 1), (STORE, 1)], [set(), set(), {RAW}, {WAR, WAW}]),
        ([(ATOMIC, 0), (ATOMIC, 1), (LOAD, 1)], [{UNINITIALISED}, set(), {RAW}]),
        ([(STORE, 0), (ATOMIC, 1), (ATOMIC, 2)], [set(), {WAW}, {WAW}]),
        ([(COPY_ISSUED, 0), "sync", (LOAD, 1)], [set(), {IN_FLIGHT}]),
        ([(COPY_ISSUED, 0), "sync", (COPY_LANDED, 0), (LOAD, 0), (LOAD, 1)], [*[set()] * 3, {RAW}]),
        ([(COPY_ISSUED, 0), (COPY_LANDED, 0), "sync", (LOAD, 1)], [set()] * 3),
        ([(COPY_ISSUED, 0), (COPY_ISSUED, 0), "sync", (COPY_LANDED, 0), (LOAD, 0)],
         [set(), {IN_FLIGHT}, set(), {IN_FLIGHT}]),
    ],
)  # fmt: skip
def test_watch__short_stories(steps, shown):
    watch, epoch, found = Watch(1, 4), np.zeros(1, np.int32), []
    for step in steps:
        if step == "sync":
            watch.barrier()
            epoch += 1
            continue
        kind, warp = step
        reports = watch.access(by_warp(warp), epoch, kind)
        counts = sum((report[:-1, 0] for report in reports), np.zeros(len(ACCESS_KINDS)))
        found.append({name for name, count in zip(ACCESS_KINDS, counts, strict=True) if count})
    assert found == shown


def test_watch__loads_before_a_late_store_are_remembered():
    """Thousands of harmless loads in one interval, then a store by another warp."""
    watch, epoch = Watch(1, 64), np.zeros(1, np.int32)
    thread, nobody = np.zeros((1, 64), np.int64), np.zeros((1, 1), np.int64)
    first, second = np.arange(64)[None, :] == 0, np.arange(64)[None, :] == 63
    whole = Access(0, nobody, np.arange(64)[None, :], np.ones((1, 64), bool), 1, True)
    watch.access(whole, epoch, STORE)
    watch.barrier()
    epoch += 1
    load = Access(5, nobody, thread, first, 1, True)
    assert not any(watch.access(load, epoch, LOAD) for _ in range(3000))
    (report,) = watch.access(Access(5, nobody, thread, second, 1, True), epoch, STORE)
    assert report[ACCESS_KINDS.index("write_after_read")].tolist() == [1, 0, 1, 0, 5]
