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
    """Replays of one kernel of the ladder.

    Attributes
    ----------
    programs
        The kernel, for each architecture that has it.
    launched
        How it is launched.
    gpus : (gpu,)
        Figures of the GPUs.
    sizes
        Values of n.
    shown_n
        Size at which single instructions and cycles are shown, and that the kernel takes.
    every
        Prediction by GPU and size; what does not run, or does not take the size, is not there.
    """

    programs: Mapping[str, Program]
    launched: Twin
    gpus: xr.Dataset
    sizes: tuple[int, ...]
    shown_n: int
    every: Mapping[tuple[str, int], Prediction]


def replay(
    programs: Sequence[Program],
    launched: Twin,
    gpus: xr.Dataset,
    sizes: Sequence[int],
    shown_n: int,
) -> Replays:
    """Replay a kernel of the ladder on n by n matrices.

    Parameters
    ----------
    programs
        The kernel, for each architecture that has it.
    launched
        How it is launched.
    gpus : (gpu,)
        As :func:`pipeline.hardware.sm_figures.sm_gpus` gives them. One for whose architecture there
        is no code has no times.
    sizes
        Values of n; one that the kernel does not take has no times.
    shown_n
        Size at which single instructions and cycles are shown; or the next one that it takes.
    """
    known = {program.architecture: program for program in programs}
    archs = dict(zip(*(gpus[name].to_numpy().tolist() for name in ("gpu", "arch")), strict=True))
    shown = launched.next_size(shown_n)
    # GPUs of one architecture share what they can.
    traced = {
        (arch, n): Traced(square_product(program, launched, n))
        for arch, program in known.items()
        for n in dict.fromkeys((*sizes, shown))
        if launched.takes(n)
    }
    every = {
        (gpu, n): predict(one, gpus.sel(gpu=gpu))
        for gpu, here in archs.items()
        for (arch, n), one in traced.items()
        if arch == here
    }
    return Replays(known, launched, gpus, tuple(sizes), shown, every)


def sm_predictions(replays: Replays) -> xr.Dataset:
    """Arrange times, utilisation and stalls.

    Parameters
    ----------
    replays
        Of one kernel.

    Returns
    -------
    (kernel, gpu, n)
        One kernel. ``t`` (s), ``cycles``, ``clock_hz`` (Hz), ``gflops`` (GFLOP/s), ``ipc`` and
        traffic (B); ``utilisation`` over ``pipe``, ``stall_cycles`` over ``stall_reason``; NaN
        where the kernel does not run.
    """
    launched, gpus, sizes = replays.launched, replays.gpus, replays.sizes
    places = [
        ((0, row, column), replays.every[gpu, n])
        for row, gpu in enumerate(gpus["gpu"].to_numpy().tolist())
        for column, n in enumerate(sizes)
        if (gpu, n) in replays.every
    ]
    dataset = arranged(places, dict(zip(_OVER, (1, gpus.sizes["gpu"], len(sizes)), strict=True)))
    dataset = dataset.assign_coords(_labels(launched, gpus) | {"n": np.array(sizes, np.int64)})
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


def _labels(launched: Twin, gpus: xr.Dataset) -> dict[str, Any]:
    return {
        "kernel": [launched.kernel],
        "kernel_number": ("kernel", [launched.number]),
        "kernel_label": ("kernel", [launched.label]),
        **{name: ("gpu", gpus[name].to_numpy()) for name in ("gpu", "gpu_name", "arch")},
    }


def instruction_stalls(replays: Replays, programs: Sequence[Program]) -> list[xr.Dataset]:
    """Arrange what warps waited for before every instruction.

    Parameters
    ----------
    replays
        Of one kernel.
    programs
        Its code for architectures to show.

    Returns
    -------
    For each of them (gpu, instruction, stall_reason): ``stall_cycles``, and ``executed`` over (gpu,
    instruction), of the GPUs that are replayed with it; address, text and source line of every
    instruction.
    """
    return [_instruction_stalls(replays, program) for program in programs]


def _instruction_stalls(replays: Replays, program: Program) -> xr.Dataset:
    archs = replays.gpus["arch"].to_series()
    named = archs.index[archs == program.architecture]
    found = {str(gpu): replays.every[str(gpu), replays.shown_n] for gpu in named}
    dataset = by_instruction(program, found).assign_coords(n=replays.shown_n)
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
