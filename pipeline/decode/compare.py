"""Three models held against everything that is published about decoding one token.

``lecture`` is the timeline of the lecture, ``straight_line`` a line per GPU through its GEMVs, and
``instruction`` the physical model of GEMV kernels together with the schedule of a megakernel.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np
import xarray as xr

from pipeline.decode.execution import Execution
from pipeline.decode.gemv import Line, gemv_time
from pipeline.decode.gemv_check import SHAPES, gemvs, held_out_errors, lines
from pipeline.decode.gpu_figures import decode_gpu_figures
from pipeline.decode.kernel_step import kernels_time, line_time, reading_only
from pipeline.decode.megakernel import Job, activity_means, simulate_one
from pipeline.decode.number_format import NumberFormat
from pipeline.decode.operations import Formats, Operation, Step
from pipeline.decode.step_times import Assumptions
from pipeline.decode.timeline import timeline
from pipeline.decode.workload import Workload
from pipeline.vocab.decode_compared import DECODE_COMPARED
from pipeline.vocab.variable import annotate

MODELS = ("lecture", "straight_line", "instruction")
KINDS = ("gemv", "launch", "step", "breakdown")

LARGE_GEMVS = "gemv_large"
"""Those that straight lines are fitted to."""

_LARGE = SHAPES["large"]
_LAUNCHES = ("launch_cost", "kernel_overhead")
_KERNELS, _MEGAKERNEL = "graph", "megakernel"
# A prompt of 32 tokens and 128 more, where that is said; few anyhow.
_CONTEXT, _BATCH = 160, 1

# Parts of the published breakdown -> what SMs do meanwhile.
_BREAKDOWN = {
    "breakdown_total": None,
    "breakdown_activation_store_await_load": ("counter", "inputs"),
    "breakdown_rmsnorm_and_matvec": ("norm", "multiply"),
    "breakdown_await_weights": ("weights", "keys_values"),
    "breakdown_warp_sync": ("sync",),
    "breakdown_setup_other": ("setup",),
}

Row = Mapping[str, Any]
Predictions = tuple[float, float, float]
"""By the lecture, the straight line, and the instruction-level model, in SI units."""


@dataclass(frozen=True)
class Known:
    """All that predictions are made from.

    Attributes
    ----------
    measured : (measurement,)
        As ``decode_figures`` reads them.
    gpus : (gpu,)
        Sheets.
    costs : (gpu,)
        Launch costs of the lecture, as :func:`pipeline.decode.execution.gpu_costs` gives them.
    workload
        Models that may have been measured; number formats, context and batch are those measured.
    kernels, megakernel
        The lecture's executions that stand for kernels in a graph, and for a megakernel.
    assumptions
        Of the lecture.
    """

    measured: xr.Dataset
    gpus: xr.Dataset
    costs: xr.Dataset
    workload: Workload
    kernels: Execution
    megakernel: Execution
    assumptions: Assumptions


def compare(known: Known) -> xr.Dataset:
    """Predict every measurement that a model says something about.

    Parameters
    ----------
    known
        Measurements, and what is needed to predict them.

    Returns
    -------
    (measurement, decode_model), (kind, decode_model), (shapes, held_out, gemv_gpu, gemv_model)
        Predictions, ratios, mean errors per kind, and the errors of GEMV models on what they were
        not fitted to. Launches are predicted from other GPUs alone.
    """
    predictor = _Predictor(known)
    rows = [_plain(known.measured, place) for place in range(known.measured.sizes["measurement"])]
    kinds = [predictor.kind(row) for row in rows]
    places = [place for place, kind in enumerate(kinds) if kind]
    chosen = known.measured.isel(measurement=places).drop_attrs()
    predicted = np.array([predictor.predict(rows[place], kinds[place]) for place in places])
    chosen["kind"] = ("measurement", [kinds[place] for place in places])
    for name, named in (
        ("gpu_name", _gpu_names(known.gpus)),
        ("workload_name", _model_names(known)),
    ):
        held = [named(rows[place]) for place in places]
        chosen[name] = ("measurement", np.array(held, dtype=str))
    chosen["predicted"] = (("measurement", "decode_model"), predicted.reshape(-1, len(MODELS)))
    chosen = chosen.assign_coords(decode_model=list(MODELS))
    is_bound = chosen["relation"].isin(["above", "below"])
    quotient = chosen["predicted"] / chosen["measured"]
    chosen["ratio"] = quotient.where(~is_bound)
    kept = xr.where(chosen["relation"] == "below", quotient <= 1, quotient >= 1)
    chosen["holds"] = kept.astype(float).where(is_bound & quotient.notnull())
    errors = abs(chosen["ratio"] - 1)
    large = [name for name, read in predictor.gemvs.frame["bytes"].items() if read >= _LARGE]
    groups = {kind: chosen["kind"] == kind for kind in KINDS}
    groups[LARGE_GEMVS] = chosen["measurement"].isin(large)
    by_kind = [errors.where(group) for group in groups.values()]
    chosen["mape"] = xr.concat([one.mean("measurement") for one in by_kind], "kind_group")
    chosen["compared"] = xr.concat([one.count("measurement") for one in by_kind], "kind_group")
    chosen = chosen.assign_coords(kind_group=list(groups))
    reach = float(predictor.figures["gemv_reach"][0])
    return annotate(chosen.merge(held_out_errors(predictor.gemvs, reach)), DECODE_COMPARED)


def _gpu_names(gpus: xr.Dataset) -> Callable[[Row], str]:
    """Names of GPUs as shown to readers; of those without a sheet, made from the id."""
    names = dict(zip(gpus["gpu"].values.tolist(), gpus["gpu_name"].values.tolist(), strict=True))
    return lambda row: names.get(row["gpu"], row["gpu"].upper().replace("_", " "))


def _model_names(known: Known) -> Callable[[Row], str]:
    """Names of models as shown to readers; empty where a row is about none."""
    names = {id_: model.name for id_, model in known.workload.models.items()}
    return lambda row: names.get(row["workload"], "")


def _plain(measured: xr.Dataset, place: int) -> Row:
    return {str(name): held.values[place] for name, held in measured.data_vars.items()}


class _Predictor:
    """Predicts one measurement after the other; steps are computed once."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.gemvs = gemvs(known.measured, known.gpus)
        self.lines = lines(self.gemvs, _LARGE)
        self.figures = decode_gpu_figures(known.measured, known.gpus)
        self.step_times: Callable[[str, str, str, str], Predictions] = cache(self._step_times)

    def kind(self, row: Row) -> str:
        """Which kind of measurement a row is; empty for what no model says anything about."""
        if row["metric"] in _LAUNCHES and row["mode"] in ("stream", _KERNELS):
            return "launch"
        if row["gpu"] not in self.known.gpus["gpu"].values:
            return ""
        if row["workload"] == "gemv":
            return "gemv"
        if row["workload"] not in self.known.workload.models:
            return ""
        if row["metric"] in _BREAKDOWN:
            return "breakdown"
        return "step" if row["metric"] in _METRICS else ""

    def predict(self, row: Row, kind: str) -> Predictions:
        """Predict the figure of a row of that kind."""
        predictions: Predictions = getattr(self, f"_{kind}")(row)
        return predictions

    def _gemv(self, row: Row) -> Predictions:
        gpu, rows = str(row["gpu"]), int(row["rows"])
        row_bytes = NumberFormat(str(row["dtype"])).bytes(1, int(row["columns"]))
        line = self.lines.get(gpu)
        blocks = -(-rows // self.known.workload.rows_per_block)
        alone = Operation("gemv", (), 1, rows, rows * row_bytes, 0, blocks)
        by_lecture = self._lecture(Step(1, (alone,), ()), gpu, self.known.kernels)
        by_line = float(line.time(rows * row_bytes)) if line else np.nan
        return by_lecture, by_line, float(gemv_time(rows, row_bytes, self.figures.sel(gpu=gpu)))

    def _launch(self, row: Row) -> Predictions:
        measured = self.known.measured
        others = (
            measured["metric"].isin(list(_LAUNCHES))
            & (measured["mode"] == row["mode"])
            & (measured["gpu"] != row["gpu"])
        )
        values = measured["measured"].values[others.values].tolist()
        shared = self.known.costs["launch_stream" if row["mode"] == "stream" else "launch_graphs"]
        return float(shared[0]), np.nan, fmean(values) if values else np.nan

    def _breakdown(self, row: Row) -> Predictions:
        job = self.job(str(row["workload"]), str(row["dtype"]))
        spent = activity_means(job, self.figures.sel(gpu=row["gpu"]))
        parts = _BREAKDOWN[str(row["metric"])]
        return np.nan, np.nan, sum(spent[name] for name in parts or spent)

    def _step(self, row: Row) -> Predictions:
        by_model = _METRICS[str(row["metric"])](self, row)
        return by_model[0], by_model[1], by_model[2]

    def times(self, row: Row, how: str) -> np.ndarray:
        """Give the times of a row's step (s): in kernels, kernels that read, or a megakernel."""
        return np.array(
            self.step_times(str(row["gpu"]), str(row["workload"]), str(row["dtype"]), how)
        )

    def _step_times(self, gpu: str, model: str, dtype: str, how: str) -> Predictions:
        job = self.job(model, dtype)
        figures = self.figures.sel(gpu=gpu)
        if how == _MEGAKERNEL:
            step = job.workload.step(model, job.plan)
            by_lecture = self._lecture(step, gpu, self.known.megakernel)
            return by_lecture, np.nan, simulate_one(job, figures)
        step = job.workload.step(model, self.known.kernels.plan)
        step = step if how == _KERNELS else reading_only(step)
        line: Line | None = self.lines.get(gpu)
        return (
            self._lecture(step, gpu, self.known.kernels),
            float(line_time(step, line)) if line else np.nan,
            float(kernels_time(step, figures)),
        )

    def job(self, model: str, dtype: str) -> Job:
        """Take a step in the type that was measured, whatever else is decoded in."""
        workload = self.known.workload
        weights = NumberFormat(dtype)
        kv_cache = NumberFormat(workload.models[model].data_type)
        measured = {model: Formats(weights, weights, kv_cache)}
        workload = replace(workload, formats=measured, context=_CONTEXT, batch=_BATCH)
        return Job(workload, model, self.known.megakernel.plan)

    def _lecture(self, step: Step, gpu: str, execution: Execution) -> float:
        parameters = self.known.assumptions.parameters(self.known.costs.sel(gpu=gpu), execution)
        return float(timeline(step, execution.mode, parameters)["t"])


def _by_mode(predictor: _Predictor, row: Row) -> np.ndarray:
    return predictor.times(row, _MEGAKERNEL if row["mode"] == _MEGAKERNEL else _KERNELS)


def _rate(predictor: _Predictor, row: Row) -> np.ndarray:
    return 1 / _by_mode(predictor, row)


def _utilisation(predictor: _Predictor, row: Row) -> np.ndarray:
    job = predictor.job(str(row["workload"]), str(row["dtype"]))
    step = job.workload.step(job.model, job.plan)
    weights = sum(one.count * one.weight_bytes for one in step.operations)
    peak = float(predictor.known.gpus["dram_bandwidth"].sel(gpu=row["gpu"]))
    return weights / peak / _by_mode(predictor, row)


def _kernels_alone(predictor: _Predictor, row: Row) -> np.ndarray:
    return predictor.times(row, "reading")


def _speedup(predictor: _Predictor, row: Row) -> np.ndarray:
    return predictor.times(row, _KERNELS) / predictor.times(row, _MEGAKERNEL)


_METRICS: Mapping[str, Callable[[_Predictor, Row], np.ndarray]] = {
    "step_time": _by_mode,
    "step_rate": _rate,
    "bandwidth_utilisation": _utilisation,
    "sum_of_kernel_times": _kernels_alone,
    "speedup_of_megakernel": _speedup,
}
