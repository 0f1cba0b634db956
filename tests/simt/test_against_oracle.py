"""Random kernels on the block model, against an interpreter that runs one lane at a time."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from pipeline.simt import hazards
from pipeline.simt.launch import count, launch
from tests.simt import hazard_oracle
from tests.simt.interpreter import SIZE, Interpreter
from tests.strategies import Program, Step, programs

RULES = st.sampled_from(["lecture", "hardware"])
IN_ONE_BATCH = 10_000
GLOBAL = (hazards.GLOBAL_READ, hazards.GLOBAL_WRITE)


class Run:
    """A program on the block model, with the values that it leaves."""

    def __init__(self, program: Program, rule="lecture", how=launch, **options):
        self.program = program
        self.data = np.zeros(SIZE, program.dtype)
        self.votes: list[np.ndarray] = []
        self.held = np.zeros(())
        self.launched = how(
            self._kernel, program.grid, program.block, self.data, rule=rule, **options
        )

    def _kernel(self, blk, data):
        self.votes.clear()  # a launch may start again
        self._blk, self._tile = blk, blk.shared("tile", SIZE, self.program.dtype)
        gx, gy, _ = self.program.grid
        self._number = (blk.bz * gy + blk.by) * gx + blk.bx
        self.held = ((self._number + 3 * blk.tid) % 7 + blk.zeros(dtype=self.program.dtype)).astype(
            self.program.dtype
        )
        for step in self.program.steps:
            masks = [
                np.array(True) if mask is None else self._rows(mask)
                for mask in (step.outer, step.active)
            ]
            with blk.where(masks[0]), blk.where(masks[1]):
                self._issue(step, data, masks[0] & masks[1])

    def _rows(self, array):
        here = np.broadcast_to(np.asarray(self._number)[:, 0], (self._blk.n_blocks,))
        return array[here] if np.ndim(array) and len(array) > 1 else array

    def _index(self, step):
        if step.start is not None:
            return self._rows(step.start)
        thread = self._blk.tid * step.stride % step.modulus if step.stride else 0
        return (step.const + step.by_block * self._number + thread) * step.width

    def _issue(self, step: Step, data, mask):
        blk, held, name = self._blk, self.held, step.kind.rsplit("_", 1)[0]
        array = self._tile if step.kind[:2] in ("sl", "ss", "sa") else data
        if name in ("load", "sload", "store", "sstore", "atomic", "satomic", "copy"):
            got = self._access(step, array, self._index(step))
        elif name == "shfl":
            got = getattr(blk, step.kind)(held, self._rows(step.lane))
        elif name in ("ballot", "vote"):
            self.votes.append(getattr(blk, step.kind)(held >= step.least))
            return
        else:
            got = blk.wait(step.pending) if name == "wait" else getattr(blk, step.kind)()
        if got is not None:
            self.held = np.where(mask, got, held)

    def _access(self, step, array, index):
        blk, held, kind, width = self._blk, self.held, step.kind, step.width
        if kind.endswith("load"):
            got = getattr(blk, kind)(array, index, width, step.repeat, step.step * width)
            return got if got.ndim == 2 else got[..., -1]
        if kind.endswith("store"):
            value = held if width == 1 else np.stack([held] * width, axis=-1)
            return getattr(blk, kind)(array, index, value, width)
        if kind == "copy_async":
            return blk.copy_async(self._tile, index, array, index, width)
        return getattr(blk, kind.removeprefix("s"))(array, index, held)


def interpreted(program: Program, rule: str) -> Interpreter:
    machine = Interpreter(program, rule)
    machine.run()
    return machine


@given(programs(), RULES, st.sampled_from([1, 64, IN_ONE_BATCH]))
def test_random_programs__every_counter_and_hazard_agrees(program, rule, batch_lanes):
    launched = Run(program, rule, batch_lanes=batch_lanes).launched
    machine = interpreted(program, rule)
    for step in program.steps:
        event(step.kind)
    assert +Counter(launched.counters) == +machine.count
    assert +Counter(launched.hazard_counts) == +machine.found


@given(programs())
def test_random_programs__every_value_agrees(program):
    run, machine = Run(program, batch_lanes=IN_ONE_BATCH), interpreted(program, "lecture")
    shape = (program.blocks, program.threads)
    np.testing.assert_array_equal(run.data, np.array(machine.data, program.dtype))
    held = np.array(list(machine.held.values()), program.dtype).reshape(shape)
    np.testing.assert_array_equal(np.broadcast_to(run.held, shape), held)
    assert len(run.votes) == len(machine.votes)
    for got, expected in zip(run.votes, machine.votes, strict=True):
        np.testing.assert_array_equal(got, np.reshape(list(expected.values()), shape))


@given(programs(), RULES)
def test_random_programs__counting_without_values_changes_nothing(program, rule):
    full = Run(program, rule).launched
    counted = Run(program, rule, how=count).launched
    hazard_counts = Counter(full.hazard_counts)
    between_blocks = sum(hazard_counts.pop(kind, 0) for kind in GLOBAL)
    assert Counter(counted.hazard_counts) == hazard_counts
    expected = dict(full.counters)
    races = expected.pop("race_count")
    counters = dict(counted.counters)
    assert races - between_blocks <= counters.pop("race_count") <= races
    assert counters == expected


@given(programs())
def test_random_programs__batches_change_nothing(program):
    whole, single = (Run(program, batch_lanes=lanes).launched for lanes in (IN_ONE_BATCH, 1))
    assert whole.counters == single.counters
    assert whole.hazard_counts == single.hazard_counts


@pytest.mark.parametrize("kind", hazards.KINDS)
def test_hazard_kinds__are_those_of_the_oracle(kind):
    assert kind in vars(hazard_oracle).values()
