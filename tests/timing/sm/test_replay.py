"""The compiled replay against its plain definition, on traces that nobody would write."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import ModelError
from pipeline.timing.sm import code as units
from pipeline.timing.sm import memory as lay
from pipeline.timing.sm import replay_fast
from pipeline.timing.sm.code import Code
from pipeline.timing.sm.numbers import P_ISSUE, SELECTED
from pipeline.timing.sm.rates import Rates
from pipeline.timing.sm.replay_plain import Replay
from pipeline.timing.sm.trace import Trace

RATES = Rates(
    fma_pipes=2, fma_interval=2, alu_interval=2, uniform_interval=2, special_interval=8,
    double_interval=16, tensor_rate=128.0, special_latency=25, operand_latency=10,
    operand_window=3, banks=1, reuse=1, greedy=1, youngest=1, hints=1, queue=5, address_interval=4,
    address_latency=4, access_interval=2, backlog=8, operand_release=5, pending=8,
    shared_latency=20, l1_latency=29, tag_part=256, fill_part=512, l1=1, l1_lines=48, l2_near=60,
    l2_far=90, l2_two=0, l2_part=1500, l2_burst=512, dram_burst=4, dram_extra=80,
    dram_part=4000, barrier_latency=20, code_lines=2, code_latency=15, stagger=0,
    log_first=0, log_cycles=0,
)  # fmt: skip
MEMORY = range(units.FIRST_MEMORY, units.LAST_MEMORY + 1)
ANY_UNIT = [*range(units.FREE + 1), *MEMORY, units.BARRIER, units.GROUP, units.WAIT_GROUPS]


@st.composite
def programs(draw: st.DrawFn) -> Code:
    """Instructions of every kind; the last one ends a warp."""
    count = draw(st.integers(2, 30))

    def column(strategy: st.SearchStrategy[int]) -> np.ndarray:
        return np.array(draw(st.lists(strategy, min_size=count, max_size=count)), np.int32)

    def slots(strategy: st.SearchStrategy[int]) -> np.ndarray:
        size = 3 * count
        values = draw(st.lists(strategy, min_size=size, max_size=size))
        return np.array(values, np.int32).reshape(count, 3)

    unit = column(st.sampled_from(ANY_UNIT))
    unit[-1] = units.EXIT
    stores = np.isin(unit, [units.STORE]) | (
        np.isin(unit, [units.SHARED, units.LOCAL]) & (column(st.integers(0, 1)) == 1)
    )
    return Code(
        unit=unit,
        stall=column(st.integers(0, 6)),
        stay=column(st.integers(0, 1)),
        write_barrier=column(st.integers(-1, 2)),
        read_barrier=column(st.integers(-1, 2)),
        wait=column(st.sampled_from([0, 0, 0, 1, 2, 5, 7])),
        register=slots(st.integers(-1, 9)),
        words=slots(st.integers(1, 4)),
        reuse=slots(st.integers(0, 1)),
        long=np.isin(unit, [units.LOAD, units.LOCAL, units.ATOMIC, units.COPY]).astype(np.int32),
        store=stores.astype(np.int32),
        size=np.ones(count, np.int32),
        number=column(st.integers(0, 2)),
        warps=np.zeros(count, np.int32),
        products=np.where(unit == units.TENSOR, 2048, 0).astype(np.int32),
    )


@st.composite
def traces(draw: st.DrawFn, code: Code) -> Trace:
    """Warps of one or two blocks that all go one way through a program, with a span in it."""
    count = len(code.unit)
    inside = draw(st.lists(st.integers(0, count - 2), min_size=0, max_size=40))
    position = np.array([*inside, count - 1], np.int32)
    blocks, each = draw(st.integers(1, 2)), draw(st.integers(1, 6))
    warps, steps = blocks * each, len(position)
    touching = np.isin(code.unit[position], [one for one in MEMORY if one != units.SHUFFLE])
    rows = int(touching.sum()) * warps
    row = np.full((warps, steps), -1, np.int32)
    row[:, touching] = np.arange(rows, dtype=np.int32).reshape(warps, -1)
    seed = draw(st.integers(0, 1000))
    rng = np.random.default_rng(seed)
    lines_of = np.where(rng.random(rows) < 0.1, 0, rng.integers(1, 4, rows))
    line = rng.integers(0, 40, int(lines_of.sum()))
    low = int(rng.integers(0, steps)) * warps
    return Trace(
        path_start=np.array([0, steps]),
        position=position,
        path=np.zeros(warps, np.int32),
        block=np.repeat(np.arange(blocks, dtype=np.int32), each),
        row_start=np.arange(warps) * steps,
        row=row.reshape(-1),
        wavefronts=rng.integers(1, 5, rows).astype(np.int32),
        stored_wavefronts=rng.integers(0, 3, rows).astype(np.int32),
        line_start=np.concatenate([[0], np.cumsum(lines_of)]),
        line=line * 7919 + 100_000,
        number=np.unique(line, return_inverse=True)[1].astype(np.int32),
        sectors=rng.integers(1, 16, len(line)).astype(np.uint8),
        lines=len(np.unique(line)),
        span=(np.arange(steps) >= steps // 2).astype(np.int16),
        turns=np.array([1.0, 2.0]),
        left_out=np.array([0.0, 5.0]),
        low=np.array([0, low]),
        high=np.array([0, low + 1]),
        measured=np.array([1.0, 1.0]),
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[Code, Trace, Rates, list[int], list[int]]:
    code = draw(programs())
    trace = draw(traces(code))
    switch = st.integers(0, 1)
    rates = RATES._replace(
        fma_pipes=draw(st.integers(1, 2)), banks=draw(switch), reuse=draw(switch),
        greedy=draw(switch), youngest=draw(switch), hints=draw(switch), l1=draw(switch),
        l2_two=draw(switch), queue=draw(st.integers(1, 6)), pending=draw(st.integers(1, 20)),
        access_interval=draw(st.integers(0, 3)), backlog=draw(st.integers(0, 20)),
        dram_part=draw(st.integers(0, 9000)), stagger=draw(st.integers(0, 60)),
    )  # fmt: skip
    parts = st.integers(0, 1024)
    count = len(code.unit)
    lists = st.lists(parts, min_size=count, max_size=count)
    return code, trace, rates, draw(lists), draw(lists)


@given(cases())
@settings(max_examples=150, deadline=None)
def test_replay__the_compiled_twin_does_what_the_plain_one_does(
    case: tuple[Code, Trace, Rates, list[int], list[int]],
) -> None:
    code, trace, rates, share, retained = case
    plain = Replay(trace, code, rates, share, retained)
    end = plain.run(200_000)
    memory, at = lay.lay_out(trace, code, rates, np.array(share), np.array(retained))
    assert replay_fast.run(memory, at, rates, 200_000) == end
    spans = len(trace.turns)
    stalls = memory[at.stalls : at.work].reshape(plain.stalls.shape)
    np.testing.assert_array_equal(stalls, plain.stalls)
    np.testing.assert_array_equal(stalls[..., SELECTED], plain.executed)
    work = memory[at.work : at.traffic].reshape(spans, -1)
    np.testing.assert_array_equal(work[:, P_ISSUE + 1 :], plain.tables.work[:, P_ISSUE + 1 :])
    np.testing.assert_array_equal(plain.tables.work[:, P_ISSUE], plain.executed.sum(axis=1))
    np.testing.assert_array_equal(
        memory[at.traffic : at.log].reshape(spans, -1), plain.tables.traffic
    )
    progress = memory[at.progress : at.stalls].reshape(spans, -1)
    for mark, field in ((trace.low[1], lay.G_FROM), (trace.high[1], lay.G_TO)):
        if mark:
            assert progress[1, field] == plain.reached[mark]


def test_lay_out__refuses_more_warps_than_an_sm_holds() -> None:
    code = Code(*(np.zeros((1, 3) if name in ("register", "words", "reuse") else 1, np.int32)
                  for name in Code._fields))  # fmt: skip
    many = lay.MOST_WARPS + 1
    trace = Trace(
        np.array([0, 1]), np.zeros(1, np.int32), np.zeros(many, np.int32),
        np.zeros(many, np.int32), np.zeros(many, np.int64), np.full(many, -1, np.int32),
        *(np.zeros(0, np.int32) for _ in range(2)), np.zeros(1, np.int64),
        *(np.zeros(0, np.int64) for _ in range(3)), 0, np.zeros(1, np.int16),
        *(np.ones(1) for _ in range(5)),
    )  # fmt: skip
    with pytest.raises(ModelError, match="65 warps"):
        lay.lay_out(trace, code, RATES, np.zeros(1), np.zeros(1))
