import json
from itertools import pairwise
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from pipeline.artifacts.replay_traces import SECONDS_PER_CYCLE, replay_trace
from pipeline.render.trace import render_traces, trace_events
from tests.artifacts.fixtures_sm import SHOWN, STORES

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "data/schemas/chrome_trace.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def spans():
    return STORES["sm_spans"]()


def test_trace__is_valid_and_the_same_each_time(spans, tmp_path):
    paths = [tmp_path / f"{number}.json" for number in range(2)]
    render_traces((replay_trace(spans, "k10_warptiled") for _ in paths), paths)
    jsonschema.validate(json.loads(paths[0].read_text(encoding="utf-8")), SCHEMA)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_traces__each_is_that_of_its_kernel(spans, tmp_path):
    paths = [str(tmp_path / f"{kernel}.json") for kernel in SHOWN]
    render_traces([replay_trace(spans, kernel) for kernel in SHOWN], paths)
    for kernel, path in zip(SHOWN, paths, strict=True):
        events = json.loads(Path(path).read_text(encoding="utf-8"))["traceEvents"]
        assert events == trace_events(replay_trace(spans, kernel))


def test_trace__slices_of_a_thread_follow_each_other_to_the_nanosecond(spans, tmp_path):
    # Viewers drop a slice that begins before the one around it ends, and ends after it.
    render_traces([replay_trace(spans, "k10_warptiled")], [tmp_path / "trace.json"])
    events = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    slices = [event for event in events if event["ph"] == "X"]
    assert {event["tid"] for event in slices} == named
    for thread in named:
        mine = [event for event in slices if event["tid"] == thread]
        begins = [round(1000 * event["ts"]) for event in mine]
        ends = [round(1000 * (event["ts"] + event["dur"])) for event in mine]
        assert ends[:-1] == begins[1:]


@pytest.mark.parametrize("kernel", SHOWN)
def test_trace__has_a_track_per_warp_whose_slices_fill_it(spans, kernel):
    trace = replay_trace(spans, kernel)
    assert len(trace.tracks) == SHOWN[kernel]
    for track in trace.tracks:
        slices = [one for one in trace.slices if one.track == track]
        assert slices[0].begin == 0
        assert all(a.end == b.begin for a, b in pairwise(slices))


def test_trace__every_issue_takes_a_cycle_and_has_the_text_of_an_instruction(spans):
    trace = replay_trace(spans, "k03_smem")
    issued = [one for one in trace.slices if one.category == "issue"]
    expected = (spans["span_kernel"] == "k03_smem") & (spans["state"] == "selected")
    assert len(issued) == int(expected.sum())
    assert np.allclose([one.end - one.begin for one in issued], SECONDS_PER_CYCLE)
    assert {one.name for one in issued} <= set(spans["text"].to_numpy().tolist())
    counted = sum(sample.value for sample in trace.samples) * 16
    assert counted == pytest.approx(len([one for one in issued if one.begin < 240e-6]))
