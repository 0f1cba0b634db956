"""Replays of one SM as traces, one file per kernel."""

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from pipeline.artifacts.ladder import name, stall_name
from pipeline.render.trace import Sample, Slice, Trace

SELECTED = "selected"
SECONDS_PER_CYCLE = 1e-6
"""A cycle is shown as a microsecond: viewers count in whole nanoseconds, and a cycle is shorter."""

COUNTED = 16
"""Cycles over which issued instructions are averaged."""


def replay_trace(spans: xr.Dataset, kernel: str) -> Trace:
    """Turn the spans of one kernel into a track per warp, sub-core by sub-core.

    An issued instruction is a slice of the category ``issue`` with its text, what a warp waits for
    is one of the category ``stall`` with the instruction that it stands before.
    """
    names = [name for name, held in spans.data_vars.items() if held.dims == ("span",)]
    frame = spans[names].reset_coords(drop=True).to_dataframe()
    frame = frame[frame["span_kernel"] == kernel]
    warps = frame.drop_duplicates("warp").sort_values(["subcore", "warp"])
    label = str(spans["kernel_label"].sel(kernel=kernel).item())
    return Trace(
        title=f"{name(kernel, label)}, one SM of {spans['gpu_name'].item()}, a cycle shown as 1 µs",
        tracks={
            row["warp"]: f"sub-core {row['subcore']}, block {row['block']}, warp {row['warp']}"
            for row in warps.to_dict("records")
        },
        slices=[*_slices(frame)],
        samples=[*_samples(frame)],
    )


def _slices(frame: pd.DataFrame) -> Iterator[Slice]:
    for row in frame.to_dict("records"):
        issued = row["state"] == SELECTED
        text = str(row["text"])
        yield Slice(
            int(row["warp"]),
            text if issued else stall_name(row["state"]),
            "issue" if issued else "stall",
            row["begin"] * SECONDS_PER_CYCLE,
            row["end"] * SECONDS_PER_CYCLE,
            {
                "instruction": int(row["span_instruction"]),
                "source line": int(row["source_line"]),
                **({} if issued else {"before": text}),
            },
        )


def _samples(frame: pd.DataFrame) -> Iterator[Sample]:
    """Give the instructions issued per cycle by the whole SM, averaged over some cycles."""
    issued = frame.loc[frame["state"] == SELECTED, "begin"] // COUNTED
    counts = issued.value_counts().to_dict()
    for place in range(int(frame["end"].max()) // COUNTED):
        time = place * COUNTED * SECONDS_PER_CYCLE
        yield Sample("instructions per cycle", time, counts.get(place, 0) / COUNTED)
