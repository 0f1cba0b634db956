"""Replays of the ladder as datasets: times, where they go, and what every instruction waits for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from pipeline import units
from pipeline.compiled.columns import instruction_columns
from pipeline.compiled.decode import Program
from pipeline.compiled.twin import Twin, square_product
from pipeline.timing.predict import FLOP_PER_FMA
from pipeline.timing.sm.predict import predict
from pipeline.timing.sm.result import PIPES, STALLS, Prediction
from pipeline.timing.sm.traced import Traced
from pipeline.vocab.sm import SM_INSTRUCTIONS, SM_PREDICTIONS
from pipeline.vocab.variable import annotate

# Variable -> field of a prediction.
_FIELDS = {"t": "seconds", "launch_t": "launch_seconds"} | {
    name: name
    for name in (
        "cycles", "clock_hz", "ipc", "waves", "blocks_per_sm", "warp_cycles", "l1_hit_rate",
        "l2_bytes", "dram_bytes",
    )
}  # fmt: skip
_OVER = ("kernel", "gpu", "n")
REASONS: dict[str, Any] = {
    "stall_reason": list(STALLS),
    "stall_meaning": ("stall_reason", list(STALLS.values())),
}


@dataclass(frozen=True)
class Replays:
    """Replays of kernels of the ladder.

    Attributes
    ----------
    programs
        Their code.
    launched
        How they are launched.
    gpus : (gpu,)
        Figures of the GPUs.
    sizes
        Values of n.
    shown_n
        Size at which single instructions and cycles are shown; or the next one that a kernel takes.
    every
        Prediction by kernel, GPU and size; what does not run, or does not take the size, is not
        there.
    """

    programs: tuple[Program, ...]
    launched: tuple[Twin, ...]
    gpus: xr.Dataset
    sizes: tuple[int, ...]
    shown_n: int
    every: Mapping[tuple[str, str, int], Prediction]


def replay(
    programs: Sequence[Program],
    launched: Sequence[Twin],
    gpus: xr.Dataset,
    sizes: Sequence[int],
    shown_n: int,
) -> Replays:
    """Replay kernels of the ladder on n by n matrices.

    Parameters
    ----------
    programs
        Kernels, each for any architectures.
    launched
        How these and others are launched.
    gpus : (gpu,)
        As :func:`pipeline.hardware.sm_figures.sm_gpus` gives them. One for whose architecture there
        is no code has no times.
    sizes
        Values of n; one that a kernel does not take has no times.
    shown_n
        Size at which single instructions and cycles are shown; or the next one that a kernel takes.
    """
    twins = {one.kernel: one for one in launched}
    every: dict[tuple[str, str, int], Prediction] = {}
    for program in programs:
        one = twins[program.kernel]
        here = gpus["gpu"].to_numpy()[gpus["arch"].to_numpy() == program.architecture].tolist()
        for n in dict.fromkeys((*sizes, one.next_size(shown_n))):
            if here and one.takes(n):
                # GPUs of one architecture share what they can.
                traced = Traced(square_product(program, one, n))
                every |= {(one.kernel, gpu, n): predict(traced, gpus.sel(gpu=gpu)) for gpu in here}
    return Replays(tuple(programs), tuple(launched), gpus, tuple(sizes), shown_n, every)


def sm_predictions(replays: Replays) -> xr.Dataset:
    """Arrange times, utilisation and stalls.

    Parameters
    ----------
    replays
        Of any kernels and GPUs.

    Returns
    -------
    (kernel, gpu, n)
        ``t`` (s), ``cycles``, ``clock_hz`` (Hz), ``gflops`` (GFLOP/s), ``ipc`` and traffic (B);
        ``utilisation`` over ``pipe``, ``stall_cycles`` over ``stall_reason``; NaN where a kernel
        does not run.
    """
    kernels = [one.kernel for one in replays.launched]
    names, sizes = replays.gpus["gpu"].to_numpy().tolist(), replays.sizes
    places = [
        ((kernels.index(kernel), names.index(gpu), sizes.index(n)), one)
        for (kernel, gpu, n), one in replays.every.items()
        if n in sizes
    ]
    lengths = (len(kernels), len(names), len(sizes))
    dataset = arranged(places, dict(zip(_OVER, lengths, strict=True)))
    labels = _labels(replays.launched, replays.gpus) | {"n": np.array(sizes, np.int64)}
    dataset = dataset.assign_coords(labels)
    dataset["gflops"] = units.to_giga(FLOP_PER_FMA * dataset["n"] ** 3 / dataset["t"])
    return annotate(dataset, SM_PREDICTIONS)


def arranged(
    places: Iterable[tuple[tuple[int, ...], Prediction]], sizes: Mapping[str, int]
) -> xr.Dataset:
    """Arrange times, utilisation and stalls of any launches.

    Parameters
    ----------
    places
        Predictions, each with its place along the dimensions.
    sizes
        Dimension -> length.

    Returns
    -------
    (*sizes)
        The figures of the predictions, without units yet, NaN where there is none; ``utilisation``
        over ``pipe``, ``stall_cycles`` over ``stall_reason``.
    """
    over, shape = tuple(sizes), tuple(sizes.values())
    variables = {name: (over, np.full(shape, np.nan)) for name in _FIELDS} | {
        "utilisation": ((*over, "pipe"), np.full((*shape, len(PIPES)), np.nan)),
        "stall_cycles": ((*over, "stall_reason"), np.full((*shape, len(STALLS)), np.nan)),
    }
    for place, one in places:
        values = {name: getattr(one, field) for name, field in _FIELDS.items()} | {
            "utilisation": [one.utilisation[pipe] for pipe in PIPES],
            "stall_cycles": list(one.by_reason.values()),
        }
        for name, value in values.items():
            variables[name][1][place] = value
    pipes = {"pipe": list(PIPES), "pipe_meaning": ("pipe", list(PIPES.values()))}
    return xr.Dataset(variables, pipes | REASONS)


def _labels(launched: Sequence[Twin], gpus: xr.Dataset) -> dict[str, Any]:
    return {
        "kernel": np.array([one.kernel for one in launched], str),
        "kernel_number": ("kernel", np.array([one.number for one in launched], np.int64)),
        "kernel_label": ("kernel", np.array([one.label for one in launched], str)),
        **{name: ("gpu", gpus[name].to_numpy()) for name in ("gpu", "gpu_name", "arch")},
    }


def instruction_stalls(replays: Replays) -> list[xr.Dataset]:
    """Arrange what warps waited for before every instruction.

    Parameters
    ----------
    replays
        Of any kernels and GPUs.

    Returns
    -------
    For each program (gpu, instruction, stall_reason): ``stall_cycles``, and ``executed`` over (gpu,
    instruction), of the GPUs that are replayed with it; address, text and source line of every
    instruction.
    """
    return [_instruction_stalls(replays, program) for program in replays.programs]


def _instruction_stalls(replays: Replays, program: Program) -> xr.Dataset:
    archs = replays.gpus["arch"].to_series()
    named = archs.index[archs == program.architecture]
    launched = next(one for one in replays.launched if one.kernel == program.kernel)
    n = launched.next_size(replays.shown_n)
    found = {str(gpu): replays.every[program.kernel, str(gpu), n] for gpu in named}
    dataset = by_instruction(program, found).assign_coords(n=n)
    return annotate(dataset, SM_INSTRUCTIONS)


def by_instruction(program: Program, found: Mapping[str, Prediction]) -> xr.Dataset:
    """Arrange the stalls of one program, which may be anything, over its instructions.

    Parameters
    ----------
    program
        The code.
    found
        GPU -> prediction; there may be none.

    Returns
    -------
    (gpu, instruction, stall_reason)
        ``stall_cycles``, without units yet; ``executed`` over (gpu, instruction); what every
        instruction is, and where it comes from.
    """
    length = len(program.instructions)
    stalls = np.array([one.stalls for one in found.values()]).reshape(
        len(found), length, len(STALLS)
    )
    executed = np.array([one.executed for one in found.values()]).reshape(len(found), length)
    columns = instruction_columns(program)
    return xr.Dataset(
        {
            "stall_cycles": (("gpu", "instruction", "stall_reason"), stalls),
            "executed": (("gpu", "instruction"), executed),
            **{name: ("instruction", np.array(values)) for name, values in columns.items()},
        },
        {
            "gpu": np.array(list(found), str),
            "instruction": np.arange(length),
            "kernel": program.kernel,
            "arch": program.architecture,
            **REASONS,
        },
    )


def busiest_pipe(prediction: Prediction) -> str:
    """Name the pipe that is busy for most of the cycles."""
    return max(PIPES, key=lambda pipe: prediction.utilisation[pipe])


def main_stall(prediction: Prediction) -> str:
    """Name what the warps spend most of their cycles on."""
    reasons = prediction.by_reason
    return max(STALLS, key=lambda reason: reasons[reason])
