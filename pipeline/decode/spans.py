"""The first layers of a decode step on a time axis, for every way to run it.

Kernels run one after the other: each begins where the one before ends, so its spans are what a
timeline gains by one more operation. Those of the megakernel are its schedule, SM by SM.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.decode.execution import Execution
from pipeline.decode.operations import Operation, Step
from pipeline.decode.step_times import Assumptions
from pipeline.decode.timeline import PARTS, Mode, TimelineParams, timeline
from pipeline.decode.workload import Workload
from pipeline.vocab.decode_spans import DECODE_SPANS, INSTRUCTIONS, WORK
from pipeline.vocab.variable import annotate

_NOBODY = -1
# What the difference of two sums of times may leave of nothing (s).
_DUST = 1e-15
# A kernel or an instruction does these in turn.
_IN_ORDER = ("launch", "stall", "small", "ramp", "read", "tail")


def spans(
    workload: Workload,
    executions: Mapping[str, Execution],
    gpu: xr.Dataset,
    assumptions: Assumptions,
    trace: xr.Dataset,
    layers: int,
) -> xr.Dataset:
    """Lay the first layers of a step out, execution by execution.

    Parameters
    ----------
    workload
        Of one model.
    executions
        Id -> way to run a step; their spans are those of the lecture's timeline.
    gpu : ()
        One GPU of what :func:`pipeline.decode.execution.gpu_costs` gives.
    assumptions
        Of the timeline.
    trace : (instruction,), (interval,)
        Of the same GPU and model, as :func:`pipeline.decode.megakernel.trace` gives it.
    layers
        Layers to show, if the model has as many.

    Returns
    -------
    (span,), (sample,)
        Spans that take time, and what DRAM serves. The last execution, ``megakernel_instructions``,
        is the schedule of the megakernel.
    """
    (model,) = workload.models
    bare = gpu.drop_attrs().reset_coords(drop=True)
    rows: list[dict[str, Any]] = []
    samples: list[dict[str, Any]] = []
    for id_, execution in executions.items():
        mine = list(_of_execution(workload, model, execution, bare, assumptions, layers))
        rows += [{"span_execution": id_, **row} for row in mine]
        reached = float(bare["dram_bandwidth"]) * float(assumptions.eff)
        samples += [{"sample_execution": id_, **one} for one in _reading(mine, reached)]
    rows += [{"span_execution": INSTRUCTIONS, **row} for row in _of_trace(trace, layers)]
    last = max(row["end"] for row in rows if row["span_execution"] == INSTRUCTIONS)
    samples += [{"sample_execution": INSTRUCTIONS, **one} for one in _served(trace, last)]
    labels = {id_: one.label for id_, one in executions.items()}
    labels[INSTRUCTIONS] = "megakernel, instruction by instruction"
    columns = {
        dimension: pd.DataFrame(table).to_dict("list")
        for dimension, table in (("span", rows), ("sample", samples))
    }
    return annotate(
        xr.Dataset(
            {
                name: (dimension, np.array(values))
                for dimension, table in columns.items()
                for name, values in table.items()
            },
            coords={
                "execution": list(labels),
                "execution_label": ("execution", list(labels.values())),
                "model": model,
                "model_name": workload.models[model].name,
                "gpu": gpu["gpu"].item(),
                "gpu_name": gpu["gpu_name"].item(),
            },
        ),
        DECODE_SPANS,
    )


def _of_execution(
    workload: Workload,
    model: str,
    execution: Execution,
    gpu: xr.Dataset,
    assumptions: Assumptions,
    layers: int,
) -> Iterator[dict[str, Any]]:
    """Spans of operations that run one after the other."""
    step = workload.step(model, execution.plan)
    runs = [
        (layer, replace(one, count=1))
        for layer in range(min(layers, step.layers))
        for one in step.layer
    ]
    parameters = assumptions.parameters(gpu, execution)
    before = dict.fromkeys(PARTS, 0.0)
    now = 0.0
    done: tuple[Operation, ...] = ()
    for group, (layer, one) in enumerate(runs):
        done = (*done, one)
        total = _parts(done, execution.mode, parameters)
        for part in _IN_ORDER:
            gained = total[part] - before[part]
            if gained > _DUST:
                yield _row(0, group, one.id, layer, part, now, now + gained, group - 1)
                now += gained
        before = total


def _parts(done: Sequence[Operation], mode: Mode, parameters: TimelineParams) -> dict[str, float]:
    """Parts of the time of operations that run once, one after the other."""
    if len(done) == 1:
        # Nothing runs before the first one, whose end could hide something of it.
        alone = Step(1, tuple(done), ())
        times = timeline(alone, "kernels" if mode == "pdl" else mode, parameters)
    else:
        times = timeline(Step(1, tuple(done[:-1]), (done[-1],)), mode, parameters)
    return {part: float(times[f"t_{part}"]) for part in PARTS}


def _of_trace(trace: xr.Dataset, layers: int) -> Iterator[dict[str, Any]]:
    """Spans of the instructions of the first layers."""
    shown = (trace["layer"] >= 0) & (trace["layer"] < layers)
    frame = trace.drop_dims("interval").isel(instruction=np.flatnonzero(shown)).to_dataframe()
    for number, one in frame.iterrows():
        seen = max(one["begin"], one["ready"])
        moments = {
            "counter": (one["begin"], seen),
            "setup": (seen, one["set_up"]),
            "inputs": (one["set_up"], one["read"]),
            "keys_values": (one["read"], one["loaded"]),
            "prepare": (one["loaded"], one["start"]),
            WORK: (one["start"], one["end"]),
        }
        after = int(one["waited_for"])
        for part, (begin, end) in moments.items():
            if end > begin:
                yield _row(
                    int(one["sm"]),
                    number,
                    one["operation"],
                    int(one["layer"]),
                    part,
                    begin,
                    end,
                    after,
                )


def _row(
    track: int,
    group: Any,
    operation: str,
    layer: int,
    part: str,
    begin: float,
    end: float,
    after: int,
) -> dict[str, Any]:
    return {
        "track": track,
        "group": int(group),
        "operation": operation,
        "layer": layer,
        "part": part,
        "begin": begin,
        "end": end,
        "after": max(after, _NOBODY),
    }


def _reading(rows: list[dict[str, Any]], reached: float) -> Iterator[dict[str, float]]:
    """Sample what DRAM serves: something while kernels read, nothing after that."""
    for row in rows:
        if row["part"] == "read":
            yield {"sample_begin": row["begin"], "bandwidth": reached}
            yield {"sample_begin": row["end"], "bandwidth": 0.0}


def _served(trace: xr.Dataset, until: float) -> Iterator[dict[str, float]]:
    begins = trace["interval_begin"].to_numpy().tolist()
    for begin, served in zip(begins, trace["served_bandwidth"].to_numpy().tolist(), strict=True):
        if begin <= until:
            yield {"sample_begin": begin, "bandwidth": served}
