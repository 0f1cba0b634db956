import json

import numpy as np
import pytest

from pipeline.artifacts.decode_traces import execution_trace
from pipeline.render.trace import render_traces, trace_events
from pipeline.vocab.decode_spans import INSTRUCTIONS
from tests.artifacts.fixtures_megakernel import spans
from tests.render.test_trace import VALIDATOR

EXECUTIONS = spans()["execution"].to_numpy().tolist()


def events_of(execution):
    return trace_events(execution_trace(spans(), execution))


def busy(execution, categories):
    """Sum slices as a query of a trace processor would (s)."""
    return sum(
        event["dur"] * 1e-6
        for event in events_of(execution)
        if event["ph"] == "X" and event["cat"] in categories
    )


def test_traces__each_is_that_of_its_execution_and_valid_by_schema(tmp_path):
    paths = [tmp_path / f"{execution}.json" for execution in EXECUTIONS]
    render_traces([execution_trace(spans(), one) for one in EXECUTIONS], paths)
    for execution, path in zip(EXECUTIONS, paths, strict=True):
        written = json.loads(path.read_text(encoding="utf-8"))
        VALIDATOR.validate(written)
        assert written["traceEvents"] == events_of(execution)


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_execution_trace__busy_time_is_that_of_the_dataset(execution):
    held = spans()
    mine = held.isel(span=np.flatnonzero(held["span_execution"] == execution))
    parts = set(mine["part"].to_numpy().tolist())
    for chosen in ({"work", "read"} & parts, parts):
        there = mine["part"].isin(list(chosen))
        expected = float((mine["end"] - mine["begin"]).where(there, 0.0).sum())
        # Every edge is rounded to a nanosecond.
        assert busy(execution, chosen) == pytest.approx(expected, abs=1e-9 * mine.sizes["span"])
    assert busy(execution, {"operation"}) == pytest.approx(
        busy(execution, parts), abs=1e-9 * mine.sizes["span"]
    )


def test_execution_trace__has_a_track_per_sm_and_one_for_a_stream():
    assert len(execution_trace(spans(), INSTRUCTIONS).tracks) == 132
    assert list(execution_trace(spans(), EXECUTIONS[0]).tracks.values()) == ["stream"]


def test_execution_trace__arrows_lead_from_open_slices_to_open_slices():
    events = events_of(INSTRUCTIONS)
    slices = {}
    for event in events:
        if event["ph"] == "X":
            slices.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    arrows = [event for event in events if event["ph"] in "sf"]
    assert len(arrows) == 2 * (532 - 132)
    assert len({event["id"] for event in arrows}) == len(arrows) / 2
    for arrow in arrows:
        assert any(a <= arrow["ts"] <= b for a, b in slices[arrow["tid"]])


def test_execution_trace__slices_of_a_track_lie_in_one_another_or_apart():
    for execution in EXECUTIONS:
        open_until = {}
        for event in events_of(execution):
            if event["ph"] != "X":
                continue
            begin, end = round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)
            stack = open_until.setdefault(event["tid"], [])
            while stack and stack[-1] <= begin:
                stack.pop()
            assert not stack or end <= stack[-1]
            stack.append(end)
