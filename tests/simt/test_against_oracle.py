"""Random kernels on the block model, against an interpreter that runs one lane at a time."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.simt import hazards
from pipeline.simt.launch import launch
from tests.simt import oracle
from tests.strategies import SLOTS, Program, Step, programs

DTYPES = {1: np.uint8, 2: np.float16, 4: np.float32, 8: np.float64}
SIZE = (3 + 4 * 3 + SLOTS + 3 * 4) * 4
RULES = st.sampled_from(["lecture", "hardware"])


def starts(program: Program, step: Step) -> np.ndarray:
    """First element of every (block, thread)."""
    shape = (program.blocks, program.threads)
    if step.start is not None:
        return np.broadcast_to(step.start, shape)
    block, thread = np.ogrid[: program.blocks, : program.threads]
    slot = step.const + step.by_block * block + thread * step.stride % step.modulus
    return slot * step.width


def run(program: Program, rule: str, batch_lanes: int):
    """Run the program on the block model."""

    def kernel(blk, data):
        tile = blk.shared("tile", SIZE, DTYPES[program.itemsize])
        here = np.asarray(blk.bx)[:, 0]
        for step in program.steps:
            mask = True if step.active is None else _rows(step.active, here)
            if step.start is None:
                slot = step.const + step.by_block * blk.bx + blk.tid * step.stride % step.modulus
                index = slot * step.width
            else:
                index = _rows(step.start, here)
            with blk.where(mask):
                _issue(blk, step, index, tile if step.kind.startswith("s") else data)

    data = np.zeros(SIZE, DTYPES[program.itemsize])
    return launch(kernel, program.blocks, program.threads, data, rule=rule, batch_lanes=batch_lanes)


def _rows(array, here):
    return array[here] if len(array) > 1 else array


def _issue(blk, step, index, array):
    if step.kind == "sync":
        blk.sync()
    elif step.kind.endswith("load"):
        method = blk.load if step.kind == "load" else blk.sload
        method(array, index, step.width, step.repeat, step.step * step.width)
    else:
        method = blk.store if step.kind == "store" else blk.sstore
        method(array, index, 1, step.width)


def interpret(program: Program, rule: str) -> tuple[Counter, Counter]:
    """Run the program lane by lane."""
    count: Counter = Counter(
        blocks=program.blocks, threads=program.blocks * program.threads, race_count=0
    )
    shared, torn, collisions = oracle.HazardOracle(), 0, 0
    for step in program.steps:
        active = np.broadcast_to(
            True if step.active is None else step.active, (program.blocks, program.threads)
        )
        count["divergent_branches"] += _divided_warps(active)
        start = starts(program, step)
        for number in range(step.repeat):
            lanes = [
                oracle.Lane(
                    block,
                    thread // 32,
                    thread % 32,
                    int(start[block, thread] + number * step.step * step.width) * program.itemsize,
                    bool(active[block, thread]),
                )
                for block in range(program.blocks)
                for thread in range(program.threads)
            ]
            lit = [lane for lane in lanes if lane.active]
            count["thread_instr"] += len(lit)
            count["warp_instr"] += len({(lane.block, lane.warp) for lane in lit})
            if step.kind == "sync":
                for block in {lane.block for lane in lit}:
                    shared.barrier(block)
                    count["barriers"] += 1
                    torn += sum(lane.block == block for lane in lit) < program.threads
            elif step.kind in ("load", "store"):
                _count_global(count, program, step, lanes)
                if step.kind == "store":
                    collisions += len(oracle.colliding_blocks(lanes, program.itemsize, step.width))
            else:
                _count_shared(count, program, step, lanes, rule, shared)
    found = Counter(shared.counts)
    found[oracle.COLLISION] += collisions
    found[hazards.DIVERGENT_BARRIER] = torn
    count["race_count"] = shared.race_count + collisions
    return count, +found


def _divided_warps(active: np.ndarray) -> int:
    warps = [row[i : i + 32] for row in active for i in range(0, active.shape[1], 32)]
    return sum(0 < warp.sum() < warp.size for warp in warps)


def _count_global(count, program, step, lanes):
    one = oracle.global_access(lanes, program.itemsize, step.width)
    prefix = "gld" if step.kind == "load" else "gst"
    count[f"{prefix}_instr"] += one["instructions"]
    count[f"{prefix}_sectors"] += one["sectors"]
    count[f"{prefix}_lines"] += one["lines"]
    count["g_bytes_requested"] += one["bytes"]


def _count_shared(count, program, step, lanes, rule, shared):
    store = step.kind == "sstore"
    one = oracle.shared_access(lanes, rule, program.itemsize, step.width, store=store)
    prefix = "sts" if store else "lds"
    for name, key in (("instr", "instructions"), ("wavefronts", "wavefronts")):
        count[f"{prefix}_{name}"] += one[key]
        count[f"smem_{name}"] += one[key]
    count["ideal_smem_wavefronts"] += one["ideal"]
    (shared.store if store else shared.load)(lanes, program.itemsize, step.width)


@given(programs(), RULES, st.sampled_from([1, 64, 10_000]))
def test_random_programs__every_counter_and_hazard_agrees(program, rule, batch_lanes):
    launched = run(program, rule, batch_lanes)
    counters, found = interpret(program, rule)
    assert +Counter(launched.counters) == +counters
    assert +Counter(launched.hazard_counts) == found


@given(programs())
def test_random_programs__batches_change_nothing(program):
    whole, single = run(program, "lecture", 10_000), run(program, "lecture", 1)
    assert whole.counters == single.counters
    assert whole.hazard_counts == single.hazard_counts


@pytest.mark.parametrize("kind", hazards.KINDS)
def test_hazard_kinds__are_those_of_the_oracle(kind):
    modelled_elsewhere = (hazards.DIVERGENT_BARRIER, hazards.IN_FLIGHT)
    assert kind in modelled_elsewhere or kind in vars(oracle).values()
