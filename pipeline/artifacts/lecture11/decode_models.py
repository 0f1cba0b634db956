"""Models of decoding against everything that is published."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.render.column import Column
from pipeline.words import Say, listed, message, together

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
    "lecture": message("lecture"),
    "straight_line": message("straight line"),
    "instruction": message("instruction level"),
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
    "x": (1.0, message("times")),
    "1/s": (1.0, message("per second")),
}
_RELATIONS = {
    "equal": "{value}",
    "about": message("about {value}"),
    "below": message("below {value}"),
    "above": message("above {value}"),
}
_MODES = {
    "graph": message("CUDA graph"),
    "stream": message("stream"),
    "megakernel": message("megakernel"),
}
_WORKLOADS = {"empty_kernel": message("empty kernel"), "scale_kernel": message("small kernel")}
_METRICS = {
    "kernel_time": "",
    "launch_cost": message("launch"),
    "kernel_overhead": message("launch and ramp"),
    "step_time": message("step"),
    "step_rate": message("steps"),
    "bandwidth_utilisation": message("bandwidth for weights"),
    "sum_of_kernel_times": message("sum of kernels"),
    "speedup_of_megakernel": message("megakernel faster"),
    "breakdown_total": message("parts, in all"),
    "breakdown_activation_store_await_load": message("parts: activations and counters"),
    "breakdown_rmsnorm_and_matvec": message("parts: norms and products"),
    "breakdown_await_weights": message("parts: waiting for weights"),
    "breakdown_warp_sync": message("parts: barriers"),
    "breakdown_setup_other": message("parts: set-up and other"),
}
# Kind -> groups that a mean error is shown of, with their names.
_MEANS = {
    "gemv": {
        "gemv": message("GEMV kernels"),
        "gemv_large": message("GEMV kernels of at least 8 MB"),
    },
    "launch": {"launch": message("launches")},
    "step": {"step": message("whole steps, bounds left out")},
    "breakdown": {"breakdown": message("parts of a step")},
}


def table(compared: xr.Dataset, say: Say) -> pd.DataFrame:
    """Tabulate every figure with what the models make of it, and mean errors by kind.

    Parameters
    ----------
    compared : (measurement, decode_model), (kind_group, decode_model)
        The store ``decode/compared``.
    say
        Language of what was measured.

    Returns
    -------
    One row per figure, numbers in SI units, and one per kind with mean absolute relative errors.
    """
    rows = list(_rows(compared, say))
    every = []
    for kind in _MEANS:
        mine = [row for row in rows if row["kind"] == kind]
        every += mine
        every += [_mean_errors(compared, kind, group, say) for group in _MEANS[kind] if mine]
    numbers = [f"{value}_{model}" for model in _MODELS for value in ("predicted", "holds")]
    shown = [column.field for column in COLUMNS]
    return pd.DataFrame(every)[["kind", "gpu", *shown, "measured", *numbers]]


def _rows(compared: xr.Dataset, say: Say) -> Iterator[dict[str, str | float]]:
    columns = ("gpu", "gpu_name", "mode", "relation", "value", "unit", "measured", "kind", "source")
    for place in range(compared.sizes["measurement"]):
        one = compared.isel(measurement=place)
        row = {name: one[name].item() for name in columns}
        row["what"] = _what(one, say)
        row["mode_name"] = _MODES[row["mode"]]
        measured = _shown(row["measured"], row["unit"], say)
        row["published"] = say(_RELATIONS[row["relation"]]).format(value=measured)
        for model in _MODELS:
            of_model = one.sel(decode_model=model)
            predicted, holds = float(of_model["predicted"]), float(of_model["holds"])
            row |= {
                f"predicted_{model}": predicted,
                f"holds_{model}": holds,
                f"ratio_{model}": float(of_model["ratio"]),
                f"shown_{model}": _kept(holds, say).format(
                    value=_shown(predicted, row["unit"], say)
                ),
            }
        yield row


def _what(one: xr.Dataset, say: Say) -> str:
    metric = say(_METRICS[str(one["metric"].item())])
    if one["kind"].item() == "gemv":
        return f"{one['rows'].item():.0f} x {one['columns'].item():.0f}"
    model = str(one["workload_name"].item())
    if not model:
        workload = say(_WORKLOADS[str(one["workload"].item())])
        return say("{workload}: {metric}").format(workload=workload, metric=metric)
    engine = str(one["engine"].item())
    return say("{model}, {dtype}: {metric} ({engine})").format(
        model=model, dtype=one["dtype"].item(), metric=metric, engine=say(engine)
    )


def _shown(value: float, unit: str, say: Say) -> str:
    if np.isnan(value):
        return ""
    scale, name = _UNITS[unit]
    return f"{value / scale:,.4g} {say(name)}"


def _kept(holds: float, say: Say) -> str:
    """Give the template of a prediction, where it is held against a bound."""
    if np.isnan(holds):
        return "{value}"
    return say("{value}, bound kept") if holds else say("{value}, bound broken")


def _mean_errors(compared: xr.Dataset, kind: str, group: str, say: Say) -> dict[str, str | float]:
    mape = compared["mape"].sel(kind_group=group)
    errors = {model: float(mape.sel(decode_model=model)) for model in _MODELS}
    row: dict[str, str | float] = {
        "kind": kind,
        "what": say("{what}: mean absolute error").format(what=say(_MEANS[kind][group])),
        "measured": np.nan,
        **dict.fromkeys(("gpu", "gpu_name", "mode_name", "published", "source"), ""),
    }
    counts = compared["compared"].sel(kind_group=group)
    for model, error in errors.items():
        of = int(counts.sel(decode_model=model))
        row |= {f"{name}_{model}": np.nan for name in ("predicted", "holds", "ratio")}
        shown = say("{error:.1%} of {number}").format(error=error, number=of)
        row[f"shown_{model}"] = "" if np.isnan(error) else shown
    return row


def facts(compared: xr.Dataset, say: Say) -> dict[str, int | str]:
    """Say how far off each model is, seen and unseen, and which bounds it keeps."""
    return {
        "compared": compared.sizes["measurement"],
        "errors": _errors(compared, say),
        "held_out": _held_out(compared, say),
        "bounds": _bounds(compared, say),
    }


def _errors(compared: xr.Dataset, say: Say) -> str:
    sentences = []
    for group, what in (
        ("gemv", say("all GEMVs")),
        ("gemv_large", say("those of at least 8 MB, which the lines are fitted to")),
        ("step", say("whole steps")),
    ):
        mape = compared["mape"].sel(kind_group=group).to_series().dropna()
        if len(mape):
            errors = [
                say("{error:.1%} ({model})").format(error=mape[model], model=say(name))
                for model, name in _MODELS.items()
                if model in mape
            ]
            sentence = say("Mean absolute error over {what}: {errors}.")
            sentences.append(sentence.format(what=what, errors=listed(errors, say)))
    return together(sentences, say)


def _held_out(compared: xr.Dataset, say: Say) -> str:
    errors = compared["gemv_mape"].sel(shapes="large")
    if not compared.sizes["gemv_gpu"]:
        return say("No GEMV was measured on these GPUs.")
    unseen = errors.sel(held_out="shape").mean("gemv_gpu").to_series()
    elsewhere = errors.sel(held_out="gpu", gemv_model="physical")
    sentence = (
        say(
            "On a large shape that they were not fitted to, the line is off by {line:.1%} and the "
            "instruction level, which has one fitted number for all GPUs, by {physical:.1%}; "
            "fitted on the other GPU alone, it is off by {elsewhere:.1%}."
        )
        if elsewhere.count()
        else say(
            "On a large shape that they were not fitted to, the line is off by {line:.1%} and the "
            "instruction level, which has one fitted number for all GPUs, by {physical:.1%}."
        )
    )
    return sentence.format(
        line=unseen["straight_line"],
        physical=unseen["physical"],
        elsewhere=float(elsewhere.mean()),
    )


def _bounds(compared: xr.Dataset, say: Say) -> str:
    holds = compared["holds"].sel(decode_model="instruction").to_series().dropna()
    return say("Of {number} published bounds the instruction level keeps {kept}.").format(
        number=len(holds), kept=int(holds.sum())
    )
