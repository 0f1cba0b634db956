"""Timelines of a decode step as traces, one file per execution."""

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts.decode_names import operation_name, part_name
from pipeline.render.trace import Flow, Sample, Slice, Trace
from pipeline.vocab.decode_spans import SM_PARTS


def execution_trace(spans: xr.Dataset, execution: str) -> Trace:
    """Turn the spans of one execution into tracks, slices, arrows and a counter.

    A kernel or instruction is a slice with its parts inside, in the category ``operation``; the
    parts are in categories of their own names. An arrow leads to it from what it waited for, if
    that is shown.
    """
    frame = _of(spans, "span", execution)
    numbers = sorted({int(track) for track in frame["track"]})
    tracks = {track: f"SM {track}" if len(numbers) > 1 else "stream" for track in numbers}
    label = str(spans["execution_label"].sel(execution=execution).item())
    return Trace(
        title=f"{label}, {spans['gpu_name'].item()}",
        tracks=tracks,
        slices=[*_slices(frame)],
        flows=[*_flows(frame)],
        samples=[
            Sample("DRAM (GB/s)", row["sample_begin"], units.to_giga(row["bandwidth"]))
            for row in _of(spans, "sample", execution).to_dict("records")
        ],
    )


def _of(spans: xr.Dataset, dimension: str, execution: str) -> pd.DataFrame:
    names = [name for name, held in spans.data_vars.items() if held.dims == (dimension,)]
    frame = spans[names].reset_coords(drop=True).to_dataframe()
    return frame[frame[f"{dimension}_execution"] == execution]


def _slices(frame: pd.DataFrame) -> Iterator[Slice]:
    for group, parts in frame.groupby("group"):
        first, last = parts.iloc[0], parts.iloc[-1]
        name = f"{operation_name(first['operation'])}, layer {first['layer']}"
        track = int(first["track"])
        about = {"number": int(str(group)), "layer": int(first["layer"])}
        yield Slice(track, name, "operation", first["begin"], last["end"], about)
        for row in parts.to_dict("records"):
            part = row["part"]
            shown = SM_PARTS[part] if part in SM_PARTS else part_name(part)
            yield Slice(track, shown, part, row["begin"], row["end"])


def _flows(frame: pd.DataFrame) -> Iterator[Flow]:
    """Arrows from the last part of what was waited for to the last part of what waited."""
    last = {row["group"]: row for row in frame.to_dict("records")}
    for row in last.values():
        source = last.get(row["after"])
        if source is not None:
            yield Flow(source["track"], source["begin"], row["track"], row["begin"])
