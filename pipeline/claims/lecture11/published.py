"""The models of a decode step, held against what was published."""

import numpy as np
import xarray as xr

from pipeline.claims.claim import Claim, Finding, at_least, at_most, between, claim
from pipeline.claims.lecture11.steps import B200, H100, LECTURE, MODEL
from pipeline.claims.pick import largest, pick, smallest, some
from pipeline.units import to_milliseconds
from pipeline.words import message

LECTURE_MODEL, INSTRUCTION = "lecture", "instruction"
MEGAKERNEL = "Hazy megakernel"


def _row(compared: xr.Dataset, gpu: str, engine: str, metric: str) -> xr.Dataset:
    """Select one published figure of the lecture's model."""
    wanted = {"gpu": gpu, "workload": MODEL, "engine": engine, "metric": metric}
    rows = compared["measured"].notnull()
    for name, label in wanted.items():
        rows = rows & (compared[name] == label)
    some(compared["measured"].where(rows))
    return compared.isel(measurement=int(np.argmax(rows.to_numpy())))


def _predicted(row: xr.Dataset, model: str) -> float:
    return float(some(row["predicted"].sel(decode_model=model))[0])


@claim(
    LECTURE,
    ("decode_models", "timeline"),
    message(
        "The lecture's model is optimistic: it lets the megakernel use {predicted:.0%} of the "
        "bandwidth of the {gpu_name}, where {measured:.0%} were measured; it has no arithmetic and "
        "no activations."
    ),
)
def lecture_model_is_optimistic(compared: xr.Dataset) -> Finding:
    """Compare predicted and measured share of the bandwidth on the H100."""
    row = _row(compared, H100, MEGAKERNEL, "bandwidth_utilisation")
    predicted, measured = _predicted(row, LECTURE_MODEL), float(row["measured"])
    return Finding(
        {"predicted": between(predicted, measured, 1.2 * measured)},
        {"measured": measured, "gpu_name": row["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("decode_models", "timeline"),
    message(
        "The megakernel keeps what was published for the {gpu_name}: a step in {predicted:.2f} ms, "
        "below {measured:.2f} ms."
    ),
)
def megakernel_keeps_its_bound_on_h100(compared: xr.Dataset) -> Finding:
    """Compare the predicted step with the published bound on the H100."""
    row = _row(compared, H100, MEGAKERNEL, "step_time")
    predicted = to_milliseconds(_predicted(row, LECTURE_MODEL))
    measured = to_milliseconds(float(row["measured"]))
    return Finding(
        {"predicted": between(predicted, 0.8 * measured, measured)},
        {"measured": measured, "gpu_name": row["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("decode_models", "timeline"),
    message(
        "The more bandwidth, the more the model leaves out: on the {gpu_name} it predicts "
        "{lecture:.2f} ms, {share:.0%} of the published bound; instruction by instruction it is "
        "{instruction:.2f} ms."
    ),
)
def b200_shows_what_is_left_out(compared: xr.Dataset) -> Finding:
    """Compare two models with the published bound on the B200."""
    row = _row(compared, B200, MEGAKERNEL, "step_time")
    bound = to_milliseconds(float(row["measured"]))
    lecture, instruction = (
        to_milliseconds(_predicted(row, model)) for model in (LECTURE_MODEL, INSTRUCTION)
    )
    return Finding(
        {
            "share": at_most(lecture / bound, 0.6),
            "instruction": between(instruction, 0.75 * bound, bound),
        },
        {"lecture": lecture, "gpu_name": row["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("decode_models", "timeline"),
    message(
        "Real engines are slower still: measured, the megakernel was {measured:.1f} times faster "
        "than vLLM on the {gpu_name}; the lecture's kernels in a graph are beaten {predicted:.2f} "
        "times. Sampling and scheduling on the CPU are in no model."
    ),
)
def engines_are_slower_than_the_model(compared: xr.Dataset) -> Finding:
    """Compare measured and predicted speed-up over an engine on the H100."""
    row = _row(compared, H100, "vLLM", "speedup_of_megakernel")
    measured = float(row["measured"])
    return Finding(
        {"predicted": between(_predicted(row, LECTURE_MODEL), 1.2, measured)},
        {"measured": measured, "gpu_name": row["gpu_name"].item()},
    )


@claim(
    LECTURE,
    ("decode_models",),
    message(
        "Engines that were measured use at most {measured:.0%} of the bandwidth; the lecture's "
        "kernels in a graph would use {lecture:.0%}, and {instruction:.0%} instruction by "
        "instruction."
    ),
)
def engines_use_half_of_the_bandwidth(compared: xr.Dataset) -> Finding:
    """Compare two models with the published share of the bandwidth of engines."""
    row = _row(compared, H100, "vLLM/SGLang", "bandwidth_utilisation")
    measured = float(row["measured"])
    lecture, instruction = (_predicted(row, model) for model in (LECTURE_MODEL, INSTRUCTION))
    return Finding(
        {
            "lecture": between(lecture, measured, 0.7),
            "instruction": between(instruction, measured, lecture),
        },
        {"measured": measured},
    )


@claim(
    LECTURE,
    ("decode_models",),
    message(
        "Ramp-up, waves and bytes in flight explain single kernels: over all published products of "
        "a matrix and a vector the error falls from {lecture:.1%} to {instruction:.1%}."
    ),
)
def instructions_explain_products(compared: xr.Dataset) -> Finding:
    """Compare the mean errors of two models over matrix-vector products."""
    errors = pick(compared, kind_group="gemv")["mape"]
    lecture, instruction = (
        float(some(errors.sel(decode_model=model))[0]) for model in (LECTURE_MODEL, INSTRUCTION)
    )
    return Finding(
        {"instruction": at_most(instruction, 0.07), "lecture": at_least(lecture, instruction)}
    )


@claim(
    LECTURE,
    ("decode_models",),
    message(
        "Instruction by instruction, the {parts} published parts of the megakernel's step are met "
        "within {worst:.0%}."
    ),
)
def parts_of_the_megakernel_are_met(compared: xr.Dataset) -> Finding:
    """Compare the parts of the megakernel's step with what was published."""
    ratios = compared["ratio"].sel(decode_model=INSTRUCTION)
    parts = some(ratios.where(compared["kind"] == "breakdown"))
    return Finding(
        {
            "worst": at_most(max(largest(parts) - 1, 1 - smallest(parts)), 0.1),
        },
        {"parts": parts.size},
    )


CLAIMS: tuple[Claim, ...] = (
    lecture_model_is_optimistic,
    megakernel_keeps_its_bound_on_h100,
    b200_shows_what_is_left_out,
    engines_are_slower_than_the_model,
    engines_use_half_of_the_bandwidth,
    instructions_explain_products,
    parts_of_the_megakernel_are_met,
)
