"""Timelines as Chrome Trace Event JSON, which Perfetto and chrome://tracing open.

The format is described in "Trace Event Format" (Google, 2016); ``data/schemas`` holds the part of
it that is used here as a JSON schema.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.render.files import publish

_PROCESS = 1
# Perfetto counts in whole nanoseconds; the format has microseconds.
_TICKS_PER_SECOND = 1e9
_TICKS_PER_UNIT = 1000

Event = dict[str, Any]


@dataclass(frozen=True)
class Slice:
    """A stretch of a track; slices of one track lie side by side or inside one another.

    Attributes
    ----------
    track
        Key of the track.
    name, category
        What is done, and what kind of thing that is.
    begin, end
        Moments (s).
    arguments
        What a click on it shows.
    """

    track: int
    name: str
    category: str
    begin: float
    end: float
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Flow:
    """An arrow from the slice that ends somewhere to one that begins somewhere else.

    Attributes
    ----------
    source, source_time
        Track, and a moment at which a slice is open there (s).
    target, target_time
        The same for the slice that waited.
    """

    source: int
    source_time: float
    target: int
    target_time: float


@dataclass(frozen=True)
class Sample:
    """A value of a counter from a moment (s) on."""

    counter: str
    time: float
    value: float


@dataclass(frozen=True)
class Trace:
    """All that one file shows.

    Attributes
    ----------
    title
        Name of the process.
    tracks
        Key -> name, in the order in which they are shown.
    slices, flows, samples
        In any order.
    """

    title: str
    tracks: Mapping[int, str]
    slices: Iterable[Slice]
    flows: Iterable[Flow] = ()
    samples: Iterable[Sample] = ()


def trace_events(trace: Trace) -> list[Event]:
    """List the events of a trace: names first, then everything in order of time."""
    names = [_named("process_name", trace.title, 0)]
    for place, (track, name) in enumerate(trace.tracks.items()):
        names.append(_named("thread_name", name, track))
        names.append(_meta("thread_sort_index", {"sort_index": place}, track))
    events = [_slice(one) for one in trace.slices]
    for number, flow in enumerate(trace.flows, start=1):
        events += _flow(number, flow)
    events += [_sample(one) for one in trace.samples]
    # What begins together: counters, then the longest slice, so that others lie in it, then arrows.
    order = {"C": 0, "X": 1, "s": 2, "f": 3}
    events.sort(key=lambda e: (e["ts"], order[e["ph"]], -e.get("dur", 0), e["tid"], e["name"]))
    return names + events


def render_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace as JSON, one event a line, the same bytes for the same trace."""
    lines = ",\n".join(
        json.dumps(event, ensure_ascii=False, allow_nan=False) for event in trace_events(trace)
    )
    text = f'{{"displayTimeUnit": "ns", "traceEvents": [\n{lines}\n]}}\n'
    publish({Path(path): text.encode()})


def render_traces(traces: Iterable[Trace], paths: Iterable[str | Path]) -> None:
    """Write as many traces as there are paths, one after the other."""
    for trace, path in zip(traces, paths, strict=True):
        render_trace(trace, path)


def _ticks(seconds: float) -> int:
    return round(seconds * _TICKS_PER_SECOND)


def _micro(ticks: int) -> float:
    return ticks / _TICKS_PER_UNIT


def _meta(kind: str, arguments: Event, track: int) -> Event:
    return {"ph": "M", "pid": _PROCESS, "tid": track, "ts": 0, "name": kind, "args": arguments}


def _named(kind: str, name: str, track: int) -> Event:
    return _meta(kind, {"name": name}, track)


def _slice(one: Slice) -> Event:
    begin, end = _ticks(one.begin), _ticks(one.end)
    return {
        "ph": "X",
        "pid": _PROCESS,
        "tid": one.track,
        "ts": _micro(begin),
        "dur": _micro(end - begin),
        "name": one.name,
        "cat": one.category,
        "args": dict(one.arguments),
    }


def _flow(number: int, flow: Flow) -> list[Event]:
    shared = {"pid": _PROCESS, "id": number, "name": "dependency", "cat": "dependency"}
    source = {"ph": "s", "tid": flow.source, "ts": _micro(_ticks(flow.source_time))}
    target = {"ph": "f", "bp": "e", "tid": flow.target, "ts": _micro(_ticks(flow.target_time))}
    return [source | shared, target | shared]


def _sample(one: Sample) -> Event:
    return {
        "ph": "C",
        "pid": _PROCESS,
        "tid": 0,
        "ts": _micro(_ticks(one.time)),
        "name": one.counter,
        "args": {"value": one.value},
    }
