import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from pipeline.render.trace import Flow, Sample, Slice, Trace, render_trace, trace_events

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "data/schemas/chrome_trace.json").read_text(encoding="utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA)

SMALL = Trace(
    title="two SMs",
    tracks={0: "SM 0", 7: "SM 7"},
    slices=[
        Slice(7, "inner", "part", 1e-6, 1.5e-6),
        Slice(0, "made", "operation", 0.0, 1e-6, {"layer": 0}),
        Slice(7, "outer", "operation", 1e-6, 2.5e-6, {"layer": 0}),
    ],
    flows=[Flow(0, 0.5e-6, 7, 1.2e-6)],
    samples=[Sample("DRAM (GB/s)", 0.0, 3000.0), Sample("DRAM (GB/s)", 1e-6, 0.0)],
)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_schema__is_one():
    Draft202012Validator.check_schema(SCHEMA)


def test_render_trace__is_valid_and_the_same_bytes_every_time(tmp_path):
    render_trace(SMALL, tmp_path / "a.json")
    render_trace(SMALL, tmp_path / "b.json")
    VALIDATOR.validate(read(tmp_path / "a.json"))
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_trace_events__names_come_first_then_time_and_outer_slices_before_inner_ones():
    events = trace_events(SMALL)
    kinds = [event["ph"] for event in events]
    assert kinds == ["M"] * 5 + ["C", "X", "s", "C", "X", "X", "f"]
    slices = [event["name"] for event in events if event["ph"] == "X"]
    assert slices == ["made", "outer", "inner"]
    assert {e["args"]["name"] for e in events if e["name"] == "thread_name"} == {"SM 0", "SM 7"}


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("X", {"dur": -1}),
        ("X", {"cat": ""}),
        ("C", {"args": {}}),
        ("s", {"id": "one"}),
        ("f", {"bp": "s"}),
        ("M", {"name": "color"}),
        ("X", {"ph": "B"}),
        ("X", {"colour": "red"}),
    ],
)
def test_schema__refuses_what_perfetto_would_not_show(where, change):
    events = trace_events(SMALL)
    place = next(place for place, event in enumerate(events) if event["ph"] == where)
    events[place] = events[place] | change
    with pytest.raises(ValidationError):
        VALIDATOR.validate({"traceEvents": events})


# Steps of 1.3 ns: rounding moves every edge, and no slice vanishes.
moments = st.integers(0, 10**6).map(lambda steps: steps * 1.3e-9)


@given(st.lists(moments, min_size=2, max_size=30, unique=True))
def test_trace_events__slices_that_touch_still_touch_after_rounding(cuts):
    edges = sorted(cuts)
    slices = [Slice(0, "s", "part", a, b) for a, b in pairwise(edges)]
    events = [e for e in trace_events(Trace("t", {0: "t"}, slices)) if e["ph"] == "X"]
    ticks = [(round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in events]
    for (begin, length), (after, _) in pairwise(ticks):
        assert begin + length == after
    whole = sum(length for _, length in ticks)
    assert whole == round(edges[-1] * 1e9) - round(edges[0] * 1e9)
    assert [e["ts"] for e in events] == sorted(e["ts"] for e in events)
