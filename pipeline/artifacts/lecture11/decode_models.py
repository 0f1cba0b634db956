"""Models of decoding against everything that is published."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.render.column import Column

ARTIFACT = Artifact(
    id="decode_models",
    lecture=11,
    title="Models of decoding against published figures",
    caption=(
        "{compared} published figures of decoding one token, and what three models make of them: "
        "the lecture's timeline, a straight line through the GEMVs of each GPU, and the "
        "instruction-level model, which takes GEMV kernels with their ramp, waves and bytes in "
        "flight, and megakernels SM by SM. {errors} {held_out} {bounds} Launches are predicted "
        "from what other GPUs take. Of the parts of the megakernel's step, set-up, barriers, norms "
        "and products are where the model has its figures from; the others, and other GPUs, "
        "are predicted. Engines also wait for the CPU, which no model has."
    ),
    needs={"compared": "decode/compared"},
)
_MODELS = {
    "lecture": "lecture",
    "straight_line": "straight line",
    "instruction": "instruction level",
}
COLUMNS = (
    Column("what", "measured"),
    Column("gpu_name", "GPU"),
    Column("mode_name", "launched as"),
    Column("published", "published"),
    *(
        column
        for model, name in _MODELS.items()
        for column in (
            Column(f"shown_{model}", name),
            Column(f"ratio_{model}", f"ratio, {name}", "", ".2f"),
        )
    ),
    Column("source", "source"),
)
_UNITS = {
    "ns": (1e-9, "ns"),
    "us": (1e-6, "µs"),
    "ms": (1e-3, "ms"),
    "%": (1e-2, "%"),
    "x": (1.0, "times"),
    "1/s": (1.0, "per second"),
}
_RELATIONS = {"equal": "", "about": "about ", "below": "below ", "above": "above "}
_MODES = {"graph": "CUDA graph", "stream": "stream", "megakernel": "megakernel"}
_WORKLOADS = {"empty_kernel": "empty kernel", "scale_kernel": "small kernel"}
_METRICS = {
    "kernel_time": "",
    "launch_cost": "launch",
    "kernel_overhead": "launch and ramp",
    "step_time": "step",
    "step_rate": "steps",
    "bandwidth_utilisation": "bandwidth for weights",
    "sum_of_kernel_times": "sum of kernels",
    "speedup_of_megakernel": "megakernel faster",
    "breakdown_total": "parts, in all",
    "breakdown_activation_store_await_load": "parts: activations and counters",
    "breakdown_rmsnorm_and_matvec": "parts: norms and products",
    "breakdown_await_weights": "parts: waiting for weights",
    "breakdown_warp_sync": "parts: barriers",
    "breakdown_setup_other": "parts: set-up and other",
}
# Kind -> groups that a mean error is shown of, with their names.
_MEANS = {
    "gemv": {"gemv": "GEMV kernels", "gemv_large": "GEMV kernels of at least 8 MB"},
    "launch": {"launch": "launches"},
    "step": {"step": "whole steps, bounds left out"},
    "breakdown": {"breakdown": "parts of a step"},
}


def table(compared: xr.Dataset) -> pd.DataFrame:
    """Tabulate every figure with what the models make of it, and mean errors by kind.

    Parameters
    ----------
    compared : (measurement, decode_model), (kind_group, decode_model)
        The store ``decode/compared``.

    Returns
    -------
    One row per figure, numbers in SI units, and one per kind with mean absolute relative errors.
    """
    rows = list(_rows(compared))
    every = []
    for kind in _MEANS:
        mine = [row for row in rows if row["kind"] == kind]
        every += mine
        every += [_mean_errors(compared, kind, group) for group in _MEANS[kind] if mine]
    numbers = [f"{value}_{model}" for model in _MODELS for value in ("predicted", "holds")]
    shown = [column.field for column in COLUMNS]
    return pd.DataFrame(every)[["kind", "gpu", *shown, "measured", *numbers]]


def _rows(compared: xr.Dataset) -> Iterator[dict[str, str | float]]:
    columns = ("gpu", "gpu_name", "mode", "relation", "value", "unit", "measured", "kind", "source")
    for place in range(compared.sizes["measurement"]):
        one = compared.isel(measurement=place)
        row = {name: one[name].item() for name in columns}
        row["what"] = _what(one)
        row["mode_name"] = _MODES[row["mode"]]
        row["published"] = _RELATIONS[row["relation"]] + _shown(row["measured"], row["unit"])
        for model in _MODELS:
            of_model = one.sel(decode_model=model)
            predicted, holds = float(of_model["predicted"]), float(of_model["holds"])
            row |= {
                f"predicted_{model}": predicted,
                f"holds_{model}": holds,
                f"ratio_{model}": float(of_model["ratio"]),
                f"shown_{model}": _shown(predicted, row["unit"]) + _kept(holds),
            }
        yield row


def _what(one: xr.Dataset) -> str:
    metric = _METRICS[str(one["metric"].item())]
    if one["kind"].item() == "gemv":
        return f"{one['rows'].item():.0f} x {one['columns'].item():.0f}"
    model = str(one["workload_name"].item())
    if not model:
        return f"{_WORKLOADS[str(one['workload'].item())]}: {metric}"
    engine = str(one["engine"].item())
    return f"{model}, {one['dtype'].item()}: {metric} ({engine})"


def _shown(value: float, unit: str) -> str:
    if np.isnan(value):
        return ""
    scale, name = _UNITS[unit]
    return f"{value / scale:,.4g} {name}"


def _kept(holds: float) -> str:
    if np.isnan(holds):
        return ""
    return ", bound kept" if holds else ", bound broken"


def _mean_errors(compared: xr.Dataset, kind: str, group: str) -> dict[str, str | float]:
    mape = compared["mape"].sel(kind_group=group)
    errors = {model: float(mape.sel(decode_model=model)) for model in _MODELS}
    row: dict[str, str | float] = {
        "kind": kind,
        "what": f"{_MEANS[kind][group]}: mean absolute error",
        "measured": np.nan,
        **dict.fromkeys(("gpu", "gpu_name", "mode_name", "published", "source"), ""),
    }
    counts = compared["compared"].sel(kind_group=group)
    for model, error in errors.items():
        of = int(counts.sel(decode_model=model))
        row |= {f"{name}_{model}": np.nan for name in ("predicted", "holds", "ratio")}
        row[f"shown_{model}"] = "" if np.isnan(error) else f"{error:.1%} of {of}"
    return row


def facts(compared: xr.Dataset) -> dict[str, int | str]:
    """Say how far off each model is, seen and unseen, and which bounds it keeps."""
    return {
        "compared": compared.sizes["measurement"],
        "errors": _errors(compared),
        "held_out": _held_out(compared),
        "bounds": _bounds(compared),
    }


def _errors(compared: xr.Dataset) -> str:
    sentences = []
    for group, what in (
        ("gemv", "all GEMVs"),
        ("gemv_large", "those of at least 8 MB, which the lines are fitted to"),
        ("step", "whole steps"),
    ):
        mape = compared["mape"].sel(kind_group=group).to_series().dropna()
        if len(mape):
            errors = ", ".join(f"{mape[m]:.1%} ({_MODELS[m]})" for m in _MODELS if m in mape)
            sentences.append(f"Mean absolute error over {what}: {errors}.")
    return " ".join(sentences)


def _held_out(compared: xr.Dataset) -> str:
    errors = compared["gemv_mape"].sel(shapes="large")
    if not compared.sizes["gemv_gpu"]:
        return "No GEMV was measured on these GPUs."
    unseen = errors.sel(held_out="shape").mean("gemv_gpu").to_series()
    elsewhere = errors.sel(held_out="gpu", gemv_model="physical")
    sentence = (
        f"On a large shape that they were not fitted to, the line is off by "
        f"{unseen['straight_line']:.1%} and the instruction level, which has one fitted number for "
        f"all GPUs, by {unseen['physical']:.1%}"
    )
    if elsewhere.count():
        sentence += f"; fitted on the other GPU alone, it is off by {float(elsewhere.mean()):.1%}"
    return f"{sentence}."


def _bounds(compared: xr.Dataset) -> str:
    holds = compared["holds"].sel(decode_model="instruction").to_series().dropna()
    return f"Of {len(holds)} published bounds the instruction level keeps {int(holds.sum())}."
