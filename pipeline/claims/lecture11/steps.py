"""Steps that the lecture talks about: its model, its GPUs, its ways to launch."""

import xarray as xr

from pipeline.claims.pick import pick

LECTURE = 11
MODEL = "llama_3_2_1b"
H100, B200 = "h100_sxm", "b200"
KERNELS12, KERNELS7, GRAPHS = "kernels12_stream", "kernels7_stream", "kernels7_graphs"
PDL = "kernels7_pdl"
NO_PREFETCH, PREFETCH = "megakernel_no_prefetch", "megakernel_prefetch"


def step(timeline: xr.Dataset, gpu: str, execution: str) -> xr.Dataset:
    """Select one step of the lecture's model; not applicable where it is not configured."""
    return pick(timeline, model=MODEL, gpu=gpu, execution=execution)


def part(one: xr.Dataset, name: str) -> float:
    """Time (s) of a part of a step."""
    return float(pick(one, part=name)["part_t"])
