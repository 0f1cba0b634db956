"""Timelines and comparisons of the decode step as the workflow makes them."""

from functools import cache

from pipeline.decode.compare import Known, compare
from pipeline.decode.megakernel import Job, trace
from pipeline.decode.spans import spans as lay_out
from tests.artifacts.fixtures_decode import MODEL, executions, sheets, workload
from tests.decode.evidence import (
    ASSUMPTIONS,
    COSTS,
    FIGURES,
    GPUS,
    KERNELS,
    MEASURED,
    MEGAKERNEL,
)
from tests.decode.evidence import workload as published

PLANS = ["fused", "kernels7", "kernels12"]
LAYERS = 1


@cache
def spans():
    held = workload([MODEL], PLANS)
    traced = trace(Job(held, MODEL, "fused"), FIGURES.sel(gpu="h100_sxm"), "contiguous")
    return lay_out(held, executions(), sheets().sel(gpu="h100_sxm"), ASSUMPTIONS, traced, LAYERS)


@cache
def compared():
    known = Known(MEASURED, GPUS, COSTS, published(), KERNELS, MEGAKERNEL, ASSUMPTIONS)
    return compare(known)


STORES = {"decode/spans": spans, "decode/compared": compared}
