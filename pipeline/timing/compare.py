"""Predictions held against published measurements, each with the tiles that were measured.

The best tiles differ from GPU to GPU, and publications state those they used. So a prediction is
made for each published row: its tiles, counted exactly at its size, on its GPU.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import correlation, fmean
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from pipeline.errors import LaunchError
from pipeline.hardware.occupancy import ladder_occupancy
from pipeline.kernels.kernel import Kernel
from pipeline.kernels.launches import launch_facts, launches
from pipeline.kernels.matmul import counts_of_square, misfit
from pipeline.kernels.registry import KERNELS
from pipeline.timing.predict import NO_BOUND, predict
from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.validation import VALIDATION
from pipeline.vocab.variable import annotate
from pipeline.words import message

MODEL = "roofline"
COMPILED = "roofline_compiled"
"""The same resources, with counts of machine code and the registers of the compiler."""
REPLAY = "sm_replay"
"""The machine code of each published tiling, replayed on one SM."""

# Column of the published table -> option of a kernel, where names differ.
_OPTIONS = {"threads_per_block": "threads"}
_COLUMNS = ("bm", "bn", "bk", "wm", "wn", "wniter", "tm", "tn", "threads_per_block")
_METHOD = "exact"


@dataclass(frozen=True)
class Case:
    """A published launch in the terms of the ladder.

    Attributes
    ----------
    kernel
        The kernel.
    options
        Its options with the published tiles.
    """

    kernel: Kernel
    options: Any

    @property
    def key(self) -> str:
        """What tells the tiling from others."""
        return f"{self.kernel.id} {self.options}"

    @property
    def changed(self) -> dict[str, Any]:
        """Options that are not the defaults."""
        default = type(self.options)()
        values = {field.name: getattr(self.options, field.name) for field in fields(self.options)}
        return {name: one for name, one in values.items() if one != getattr(default, name)}

    @property
    def tiling(self) -> str:
        """The same in words."""
        return ", ".join(f"{name}: {value}" for name, value in self.changed.items())


def compare_rates(
    measured: xr.Dataset,
    gpus: xr.Dataset,
    rule: str = "lecture",
    ladder: Mapping[str, Kernel] = KERNELS,
    others: Mapping[str, xr.Dataset] | None = None,
    row_by_row: Mapping[str, xr.Dataset] | None = None,
) -> xr.Dataset:
    """Predict every published rate with its own tiles, and sum the errors up per GPU.

    Parameters
    ----------
    measured : (measurement,)
        As :func:`pipeline.measured.sgemm_rates` reads it.
    gpus : (gpu)
        Figures of the GPUs; measurements on others are left out.
    rule
        How shared-memory wavefronts are counted.
    ladder
        Kernels that can be predicted.
    others : (kernel, gpu, n)
        Predictions of further models, ``gflops`` and ``bound``, for kernels with the ladder's own
        tiles; published rates of other tiles have none by them.
    row_by_row : (measurement,)
        Predictions of models that were made for the published rates one by one: the same variables
        as for ``others``, named ``predicted_gflops`` and ``bound``.

    Returns
    -------
    (measurement, model)
        ``predicted_gflops`` (GFLOP/s), ``ratio`` and ``bound``, beside the published ``kernel``,
        ``gpu``, ``n``, ``measured_gflops`` and ``source``. Over (validated_gpu, model): ``mape``
        (a share), ``rank_correlation`` and ``compared``. Libraries and tilings that a kernel does
        not take have no prediction (NaN, with a ``note``) and do not enter the errors.
    """
    known = measured["gpu"].isin(gpus["gpu"]).to_numpy()
    rows = measured.isel(measurement=known).drop_attrs()
    found = cases_of(rows, ladder)
    cases = [case for case, _ in found]
    texts = {
        "tiling": [case.tiling if case else "" for case in cases],
        "note": [note for _, note in found],
        "kernel_label": [_label(kernel, ladder) for kernel in rows["kernel"].to_numpy()],
    }
    models = {MODEL: _predicted(cases, rows, gpus, rule)} | {
        name: _looked_up(cases, rows, predictions) for name, predictions in (others or {}).items()
    }
    models |= {
        name: _given(given.sel(measurement=rows["measurement"]))
        for name, given in (row_by_row or {}).items()
    }
    names = np.array(list(models))
    every = xr.concat(list(models.values()), xr.Variable("model", names)).transpose(..., "model")
    result = (
        rows[["kernel", "gpu", "n", "measured_gflops", "source"]]
        .assign({name: ("measurement", np.array(text, str)) for name, text in texts.items()})
        .merge(every.assign(bound=every["bound"].astype(str)))
    )
    result["ratio"] = result["predicted_gflops"] / result["measured_gflops"]
    result = result.merge(_errors(result)).assign_coords(model=names)
    return annotate(result, VALIDATION)


def cases_of(
    measured: xr.Dataset, ladder: Mapping[str, Kernel] = KERNELS
) -> list[tuple[Case | None, str]]:
    """Find the launch of each published rate.

    Parameters
    ----------
    measured : (measurement,)
        As :func:`pipeline.measured.sgemm_rates` reads it.
    ladder
        Kernels that can be launched.

    Returns
    -------
    For each, what stands for it, if anything does, and what is to be said of it or of its absence.
    """
    return [
        published_case(measured.isel(measurement=i), ladder)
        for i in range(measured.sizes["measurement"])
    ]


def _looked_up(
    cases: Sequence[Case | None], rows: xr.Dataset, predictions: xr.Dataset
) -> xr.Dataset:
    """Find the predictions of another model for cases with the ladder's own tiles."""
    gflops = np.full(len(cases), np.nan)
    bound = np.full(len(cases), NO_BOUND, object)
    known = {name: set(predictions[name].to_numpy().tolist()) for name in ("kernel", "gpu", "n")}
    for position, case in enumerate(cases):
        row = rows.isel(measurement=position)
        here = {name: row[name].item() for name in known}
        if case is None or case.tiling or any(here[name] not in known[name] for name in known):
            continue
        found = predictions.sel(here)
        gflops[position], bound[position] = float(found["gflops"]), str(found["bound"].item())
    return _rates(gflops, bound)


def _given(rates: xr.Dataset) -> xr.Dataset:
    """Take what another model says of each row, as a store has it."""
    return _rates(rates["predicted_gflops"].to_numpy(), rates["bound"].to_numpy().astype(object))


def _rates(gflops: NDArray[np.float64], bound: NDArray[np.object_]) -> xr.Dataset:
    return xr.Dataset(
        {
            "predicted_gflops": ("measurement", gflops),
            "bound": ("measurement", bound.astype(str)),
        }
    )


def _label(kernel: str, ladder: Mapping[str, Kernel]) -> str:
    return ladder[kernel].label if kernel in ladder else ""


def published_case(row: xr.Dataset, ladder: Mapping[str, Kernel]) -> tuple[Case | None, str]:
    """Find what stands for a published row, and what is to be said of it or of its absence."""
    kernel = ladder.get(str(row["kernel"].item()))
    if kernel is None:
        return None, message("no kernel of the ladder")
    stated = {name: float(row[name]) for name in _COLUMNS}
    tiles = {name: int(value) for name, value in stated.items() if not np.isnan(value)}
    case = Case(kernel, kernel.options(**_options(kernel, tiles)))
    reason = _unlike(case, tiles, int(row["n"]))
    if reason:
        return None, reason
    return case, "" if tiles else message("tiles not stated, those of the ladder are taken")


def _options(kernel: Kernel, tiles: Mapping[str, int]) -> dict[str, int]:
    """Name published tiles as the kernel does; what it has no option for follows from others."""
    if "bs" in kernel.option_names:
        return {"bs": tiles["bm"]} if "bm" in tiles else {}
    named = {_OPTIONS.get(column, column): size for column, size in tiles.items()}
    return {option: size for option, size in named.items() if option in kernel.option_names}


def _unlike(case: Case, tiles: Mapping[str, int], n: int) -> str | None:
    """Say why a published launch cannot be modelled; None if it can."""
    try:
        launch = case.kernel.launch(case.options)
    except LaunchError as error:
        return str(error)
    modelled = {
        "threads_per_block": launch.threads,
        "bm": launch.tile[0],
        "bn": launch.tile[1],
    }
    for name, size in modelled.items():
        if tiles.get(name, size) != size:
            return f"published with {name} = {tiles[name]}, but the ladder's would have {size}"
    return misfit(case.kernel, case.options, n, n, n)


def _predicted(
    cases: Sequence[Case | None], rows: xr.Dataset, gpus: xr.Dataset, rule: str
) -> xr.Dataset:
    """Rate (GFLOP/s) and binding resource of every case, over (measurement)."""
    gflops = np.full(len(cases), np.nan)
    bound = np.full(len(cases), NO_BOUND, object)
    sizes, devices = rows["n"].to_numpy().tolist(), rows["gpu"].to_numpy().tolist()
    modelled = [
        (position, case, n, gpu)
        for position, (case, n, gpu) in enumerate(zip(cases, sizes, devices, strict=True))
        if case
    ]
    if modelled:
        launched = {(case.key, n): case for _, case, n, _ in modelled}
        counters = {
            (key, n): counts_of_square(case.kernel, n, case.options, rule)
            for (key, n), case in launched.items()
        }
        every = predict_cases(launched, counters, gpus)
        for position, case, n, gpu in modelled:
            here = every.sel(kernel=case.key, n=n, gpu=gpu)
            gflops[position], bound[position] = float(here["gflops"]), str(here["bound"].item())
    return _rates(gflops, bound)


def predict_cases(
    launched: Mapping[tuple[str, int], Case],
    counted: Mapping[tuple[str, int], Mapping[str, int]],
    gpus: xr.Dataset,
) -> xr.Dataset:
    """Predict tilings on all GPUs by the roofline.

    Parameters
    ----------
    launched
        Key of a case and size -> the case.
    counted
        For each of them all counters by name.
    gpus : (gpu,)
        Figures of the GPUs.

    Returns
    -------
    (kernel, gpu, n)
        ``gflops`` (GFLOP/s) and ``bound``, by the key of the case.
    """
    tilings = {key: case for (key, _), case in launched.items()}
    sizes = sorted({n for _, n in launched})
    counters = np.full((len(COUNTERS), len(tilings), len(sizes), 1), np.nan)
    for (key, n), values in counted.items():
        where = (list(tilings).index(key), sizes.index(n), 0)
        counters[:, *where] = [values[name] for name in COUNTERS]
    dataset = xr.Dataset(
        {
            name: (("kernel", "n", "method"), values)
            for name, values in zip(COUNTERS, counters, strict=True)
        },
        {"kernel": list(tilings), "n": sizes, "method": [_METHOD]},
    )
    facts = {key: launch_facts(case.kernel, case.options) for key, case in tilings.items()}
    resident = ladder_occupancy(launches(facts), gpus)
    return predict(dataset, resident, gpus)[["gflops", "bound"]].isel(method=0)


def _rank_correlation(rows: pd.DataFrame) -> float:
    """Spearman's correlation, which is Pearson's of the ranks; NaN where ranks do not vary."""
    ranks = rows[["predicted", "measured"]].rank()
    if (ranks.nunique() < 2).any():
        return np.nan
    return correlation(ranks["predicted"].tolist(), ranks["measured"].tolist())


def _errors(compared: xr.Dataset) -> xr.Dataset:
    """Mean error and rank correlation, per model and GPU that has a prediction by one."""
    parts = [_errors_of(compared.isel(model=number)) for number in range(compared.sizes["model"])]
    gpus = list(
        dict.fromkeys(str(gpu) for part in parts for gpu in part["validated_gpu"].to_numpy())
    )
    together = xr.concat(
        [part.reindex(validated_gpu=np.array(gpus, str)) for part in parts],
        xr.Variable("model", compared["model"].to_numpy()),
    )
    counted = together["compared"].fillna(0).astype(np.int64)
    return together.assign(compared=counted).transpose("validated_gpu", "model")


def _errors_of(compared: xr.Dataset) -> xr.Dataset:
    """Mean error and rank correlation of one model."""
    frame = pd.DataFrame(
        {
            "gpu": compared["gpu"].to_numpy(),
            "measured": compared["measured_gflops"].to_numpy(),
            "predicted": compared["predicted_gflops"].to_numpy(),
        }
    ).dropna()
    groups = dict(list(frame.groupby("gpu", sort=False)))
    # The sums of numpy and pandas differ in their last bits from run to run, with the place of an
    # array in memory; those of the standard library are exact.
    error = [fmean((rows["predicted"] / rows["measured"] - 1).abs()) for rows in groups.values()]
    order = [_rank_correlation(rows) for rows in groups.values()]
    values = {
        "mape": np.array(error, float),
        "rank_correlation": np.array(order, float),
        "compared": np.array([len(rows) for rows in groups.values()], np.int64),
    }
    return xr.Dataset(
        {name: ("validated_gpu", value) for name, value in values.items()},
        {"validated_gpu": np.array(list(groups), str)},
    )
