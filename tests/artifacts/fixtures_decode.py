"""Results of the decode step as the workflow makes them; all of them take a tenth of a second."""

from functools import cache
from pathlib import Path

import xarray as xr
import yaml
from pydantic import TypeAdapter

from pipeline.config import decode_parameters
from pipeline.config.load import load
from pipeline.decode.execution import Execution, gpu_costs
from pipeline.decode.ledger import decode_ledger
from pipeline.decode.model_sheet import load_models
from pipeline.decode.plan_sheet import load_plans
from pipeline.decode.step_times import (
    Assumptions,
    Comparison,
    Variant,
    decode_sensitivity,
    decode_timeline,
)
from pipeline.decode.waves import Launch, decode_waves
from pipeline.decode.workload import Workload
from pipeline.hardware.plain_figures import side_by_side
from pipeline.hardware.sheet import load_sheets

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data"
MODEL = "llama_3_2_1b"
GPUS = ("rtx_a6000", "h100_sxm", "b200")
LECTURE11 = {
    "model": MODEL,
    "gpu": "h100_sxm",
    "shown_gpus": ["h100_sxm", "b200"],
    "reference": "kernels7_graphs",
    "compared": "megakernel_prefetch",
}


@cache
def delivered():
    return load(yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))).decode


@cache
def sheets(own=False):
    held = load_sheets(DATA / "gpus", GPUS)
    return xr.Dataset.from_dict(side_by_side(gpu_costs(held, held["h100_sxm"], own)))


def workload(models, plans):
    given = decode_parameters.workload(
        delivered(), load_models(DATA / "models"), load_plans(DATA / "fusion_plans"), models, plans
    )
    return TypeAdapter(Workload).validate_python(given)


def executions():
    given = decode_parameters.entries(delivered().executions)
    return TypeAdapter(dict[str, Execution]).validate_python(given)


def assumptions():
    return Assumptions(**delivered().timeline.model_dump())


def ledger():
    return decode_ledger(workload(delivered().models, ["fused"]), "fused")


def timeline(own=False):
    plans = decode_parameters.execution_plans(delivered())
    every = workload(delivered().models, plans)
    return decode_timeline(every, executions(), sheets(own), assumptions())


def waves():
    examples = TypeAdapter(dict[str, Launch]).validate_python(
        decode_parameters.entries(delivered().waves)
    )
    step = workload([MODEL], ["fused"]).step(MODEL, "fused")
    return decode_waves(step, examples, sheets(), "h100_sxm")


def sensitivity():
    variants = TypeAdapter(dict[str, Variant]).validate_python(
        decode_parameters.entries(delivered().sensitivity)
    )
    plans = decode_parameters.execution_plans(delivered())
    comparison = Comparison(executions(), LECTURE11["reference"], variants)
    one = sheets().sel(gpu="h100_sxm")
    return decode_sensitivity(workload([MODEL], plans), comparison, one, assumptions())


STORES = {
    "decode/ledger": ledger,
    "decode/timeline": timeline,
    "decode/waves": waves,
    "decode/sensitivity": sensitivity,
}
