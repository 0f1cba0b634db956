"""Tiles of one kernel, timed by the roofline and by a replay, as an autotuner would want them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from pipeline import units
from pipeline.compiled.decode import Program
from pipeline.compiled.twin import square_product
from pipeline.errors import ModelError
from pipeline.kernels.kernel import Kernel
from pipeline.kernels.registry import KERNELS
from pipeline.timing.compare import Case, cases_of, predict_cases
from pipeline.timing.predict import FLOP_PER_FMA, NO_BOUND
from pipeline.timing.replay import busiest_pipe, main_stall
from pipeline.timing.replay_measured import twin_of
from pipeline.timing.sm.predict import predict
from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.sm import SM_TILES
from pipeline.vocab.sweeps import TILE_AXES
from pipeline.vocab.variable import annotate

_COLUMNS = {
    **dict.fromkeys(TILE_AXES, "int64"),
    **dict.fromkeys(("roofline_gflops", "replay_gflops"), "float64"),
    **dict.fromkeys(("roofline_bound", "busiest", "stall"), "str"),
    **dict.fromkeys(("blocks_per_sm", "registers"), "int64"),
    "measured_here": "bool",
}

Count = Callable[[Kernel, Any, Sequence[int]], NDArray[np.int64]]
"""Kernel, options and sizes -> counters over (size, counter), in the order of ``COUNTERS``."""


def replay_tiles(
    tilings: Sequence[tuple[Mapping[str, int], Program]],
    gpus: xr.Dataset,
    measured: xr.Dataset,
    gpu: str,
    n: int,
    count: Count,
) -> xr.Dataset:
    """Time tilings of a kernel on one GPU by the roofline and by a replay.

    Parameters
    ----------
    tilings
        Options that differ from the kernel's own, and what the compiler made of it with them.
    gpus : (gpu,)
        As :func:`pipeline.hardware.sm_figures.sm_gpus` gives them.
    measured : (measurement,)
        Published rates, to mark the tiling that was published for the GPU.
    gpu
        The GPU; nothing is timed if it is empty.
    n
        Size of the matrices. Tilings that do not take it are left out.
    count
        Counts for the roofline.

    Returns
    -------
    (tiling,)
        Rates (GFLOP/s) by both, tiles, registers, and what is busiest and mostly waited for. Code
        that keeps addresses in local memory cannot be replayed: its rate is NaN.
    """
    every = [(_case(program, options), program) for options, program in tilings if gpu]
    taken = [(case, program) for case, program in every if twin_of(case).takes(n)]
    here = measured.isel(measurement=(measured["gpu"] == gpu).to_numpy())
    published = [case.key for case, _ in cases_of(here) if case]
    rows = []
    if taken:
        launched = {(case.key, n): case for case, _ in taken}
        counted = {
            key: dict(zip(COUNTERS, count(case.kernel, case.options, [n])[0].tolist(), strict=True))
            for key, case in launched.items()
        }
        figures = gpus.sel(gpu=[gpu]).drop_vars("arch")
        rates = predict_cases(launched, counted, figures).sel(gpu=gpu, n=n)
        rows = [
            _row(case, program, gpus.sel(gpu=gpu), n)
            | {
                "roofline_gflops": float(rates["gflops"].sel(kernel=case.key)),
                "roofline_bound": str(rates["bound"].sel(kernel=case.key).item()),
                "measured_here": case.key in published,
            }
            for case, program in taken
        ]
    frame = pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)
    labels = {
        "kernel": taken[0][0].kernel.id if taken else "",
        "gpu": gpu,
        "gpu_name": str(gpus["gpu_name"].sel(gpu=gpu).item()) if gpu else "",
        "n": n,
    }
    dataset = xr.Dataset(
        {name: ("tiling", column.to_numpy()) for name, column in frame.items()},
        {"tiling": np.array([case.key for case, _ in taken], str), **labels},
    )
    return annotate(dataset, SM_TILES)


def _row(case: Case, program: Program, gpu: xr.Dataset, n: int) -> dict[str, Any]:
    """Replay one tiling."""
    row = {name: getattr(case.options, name) for name in TILE_AXES}
    row |= {"registers": program.facts.registers}
    try:
        found = predict(square_product(program, twin_of(case), n), gpu)
    except ModelError:
        # Addresses that were spilled come back as numbers that are loaded.
        return row | {"busiest": NO_BOUND, "stall": NO_BOUND, "blocks_per_sm": 0}
    return row | {
        "replay_gflops": units.to_giga(found.rate(FLOP_PER_FMA * n**3)),
        "busiest": busiest_pipe(found),
        "stall": main_stall(found),
        "blocks_per_sm": found.blocks_per_sm,
    }


def _case(program: Program, options: Mapping[str, int]) -> Case:
    kernel = KERNELS[program.kernel]
    return Case(kernel, kernel.options(**options))
