"""Published rates beside replays of the code with the tiles that were measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import xarray as xr

from pipeline import units
from pipeline.compiled.decode import Program
from pipeline.compiled.launch import Launch
from pipeline.compiled.twin import Twin, published_product, square_product
from pipeline.kernels.launches import twin_values
from pipeline.timing.compare import Case, cases_of
from pipeline.timing.predict import FLOP_PER_FMA, NO_BOUND
from pipeline.timing.replay import busiest_pipe
from pipeline.timing.sm.ablation import MeasuredLaunch, ablation
from pipeline.timing.sm.mechanisms import NAMES
from pipeline.timing.sm.predict import predict
from pipeline.timing.sm.traced import Traced
from pipeline.vocab.sm import SM_ABLATION, SM_MEASURED
from pipeline.vocab.variable import annotate

ProgramFinder = Callable[[str, str, Mapping[str, Any]], Program | None]
"""Kernel, architecture and options, none for the kernel's own -> program, if there is one."""


def replay_measured(
    measured: xr.Dataset, gpus: xr.Dataset, find: ProgramFinder, published: ProgramFinder
) -> xr.Dataset:
    """Replay published rates, each with its own tiles.

    Parameters
    ----------
    measured : (measurement,)
        As :func:`pipeline.measured.sgemm_rates` reads it.
    gpus : (gpu,)
        As :func:`pipeline.hardware.sm_figures.sm_gpus` gives them; measurements on others are left
        out.
    find
        Gives the code of a kernel of the ladder.
    published
        Gives code in the structure of that which was measured; the twin stands for what is missing.

    Returns
    -------
    (measurement,)
        ``predicted_gflops`` (GFLOP/s), and as ``bound`` the busiest pipe, of what is replayed.
    """
    found = _launches(measured, gpus, find, published)
    rows = measured.isel(measurement=list(found))
    cards = [gpus.sel(gpu=gpu) for gpu in rows["gpu"].to_numpy()]
    predictions = list(map(predict, found.values(), cards))
    sizes = rows["n"].to_numpy().tolist()
    dataset = xr.Dataset(
        {
            "predicted_gflops": (
                "measurement",
                np.array(
                    [_gflops(n, one.seconds) for n, one in zip(sizes, predictions, strict=True)]
                ),
            ),
            "bound": ("measurement", np.array([busiest_pipe(one) for one in predictions], str)),
        },
        {"measurement": rows["measurement"].to_numpy()},
    )
    return annotate(dataset, SM_MEASURED)


def gather_measured(replays: Sequence[xr.Dataset], measured: xr.Dataset) -> xr.Dataset:
    """Put replays of published rates into one dataset.

    Parameters
    ----------
    replays : (measurement,)
        As :func:`replay_measured` gives them, each for other GPUs.
    measured : (measurement,)
        All published rates.

    Returns
    -------
    (measurement,)
        The same of all rates: NaN, and nothing that is busy, where there is no replay.
    """
    together = xr.concat(replays, "measurement")
    fill = {"predicted_gflops": np.nan, "bound": NO_BOUND}
    found = together.reindex(measurement=measured["measurement"].to_numpy(), fill_value=fill)
    return annotate(found, SM_MEASURED)


def ablate(
    measured: xr.Dataset,
    gpus: xr.Dataset,
    find: ProgramFinder,
    published: ProgramFinder,
    left_out: Sequence[str] = NAMES,
) -> xr.Dataset:
    """Replay published rates with each mechanism left out in turn.

    Parameters
    ----------
    measured, gpus, find, published
        As for :func:`replay_measured`.
    left_out
        Mechanisms.

    Returns
    -------
    (mechanism, measurement)
        ``predicted_gflops`` of the rates that are replayed, with nothing left out (``none``) first.
    """
    launches = measured_launches(measured, gpus, find, published)
    rows = measured.isel(measurement=list(launches)).drop_attrs()
    errors = ablation(list(launches.values()), gpus, left_out)
    rates = rows["measured_gflops"] * (1 + errors["error"].rename(launch="measurement"))
    dataset = xr.Dataset(
        {"predicted_gflops": rates.transpose("mechanism", "measurement").reset_coords(drop=True)},
        {"mechanism": errors["mechanism"].to_numpy()},
    )
    return annotate(dataset, SM_ABLATION)


def gather_ablation(
    replays: Sequence[xr.Dataset], measured: xr.Dataset, study: xr.Dataset
) -> xr.Dataset:
    """Put replays of published rates with mechanisms left out into one dataset.

    Parameters
    ----------
    replays : (mechanism, measurement)
        As :func:`ablate` gives them, each for other GPUs.
    measured : (measurement,)
        All published rates.
    study : (mechanism,)
        What was found elsewhere: ``mean_error``.

    Returns
    -------
    (mechanism, measurement)
        The same of all rates that are replayed; beside them what was measured, and over (mechanism)
        ``study_error``.
    """
    together = xr.concat(replays, "measurement")
    replayed = measured["measurement"].isin(together["measurement"]).to_numpy()
    rows = measured.isel(measurement=replayed).drop_attrs()
    dataset = together.sel(measurement=rows["measurement"].to_numpy())
    error = study["mean_error"].reindex(mechanism=dataset["mechanism"].to_numpy())
    dataset = dataset.assign(
        {
            "study_error": ("mechanism", error.to_numpy()),
            **{name: rows[name] for name in ("measured_gflops", "kernel", "gpu", "n")},
        }
    )
    return annotate(dataset, SM_ABLATION)


def measured_launches(
    measured: xr.Dataset, gpus: xr.Dataset, find: ProgramFinder, published: ProgramFinder
) -> dict[int, MeasuredLaunch]:
    """Launch the published rates that can be replayed.

    Parameters
    ----------
    measured, gpus, find, published
        As for :func:`replay_measured`.

    Returns
    -------
    By the place of the measurement.
    """
    found = _launches(measured, gpus, find, published)
    rows = measured.isel(measurement=list(found))
    seconds = FLOP_PER_FMA * rows["n"].astype(float) ** 3 / (1e9 * rows["measured_gflops"])
    columns = (rows["kernel"], rows["gpu"], seconds)
    return {
        place: MeasuredLaunch(str(kernel.item()), str(gpu.item()), Traced(launch), float(time))
        for (place, launch), kernel, gpu, time in zip(found.items(), *columns, strict=True)
    }


def _gflops(n: int, seconds: float) -> float:
    return units.to_giga(FLOP_PER_FMA * n**3 / seconds)


def _launches(
    measured: xr.Dataset, gpus: xr.Dataset, find: ProgramFinder, published: ProgramFinder
) -> dict[int, Launch]:
    """Launch what can be replayed, by the place of the measurement."""
    archs = dict(zip(*(gpus[name].to_numpy().tolist() for name in ("gpu", "arch")), strict=True))
    launches = {}
    for place, (case, _) in enumerate(cases_of(measured)):
        row = measured.isel(measurement=place)
        arch = archs.get(row["gpu"].item())
        if case is None or arch is None:
            continue
        wanted = (case.kernel.id, arch, _options(case))
        for look, product in ((published, published_product), (find, square_product)):
            program = look(*wanted)
            if program:
                launches[place] = product(program, twin_of(case), int(row["n"]))
                break
    return launches


def _options(case: Case) -> dict[str, Any]:
    """Give all options of a case, or none if they are the kernel's own."""
    return {**asdict(case.options)} if case.changed else {}


def twin_of(case: Case) -> Twin:
    """Say how the twin of a kernel with these options is launched."""
    return Twin(**twin_values(case.kernel, case.options))
