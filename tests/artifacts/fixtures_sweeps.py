"""Small sweeps for the artifacts: the real functions on a few points."""

from functools import cache

import xarray as xr

from pipeline.decode.execution import Execution, gpu_costs
from pipeline.decode.model_sheet import load_models
from pipeline.decode.number_format import NumberFormat
from pipeline.decode.operations import Formats
from pipeline.decode.plan_sheet import load_plans
from pipeline.decode.workload import Workload
from pipeline.hardware.plain_figures import side_by_side
from pipeline.hardware.sheet import load_sheets
from pipeline.sweep.best_tiles import best_tiles
from pipeline.sweep.tile_counts import count_sweep
from pipeline.sweep.tile_points import TileSpace
from pipeline.sweep.tiles import tile_sweep
from pipeline.sweep.timeline_gain import timeline_gain
from pipeline.sweep.timelines import TimelineSpace, timeline_sweep
from tests.artifacts import fixtures

BLOCK = {"bm": (32, 64, 128), "bn": (64, 128), "bk": (8, 16), "tm": (1, 4, 8), "tn": (4, 8)}
WARP = {
    **dict.fromkeys(("bm", "bn"), (64, 128)),
    "bk": (16,),
    **dict.fromkeys(("wm", "wn"), (32, 64)),
    "wniter": (1, 4),
    **dict.fromkeys(("tm", "tn"), (4, 8)),
}
KERNELS = ("k05_blocktile_2d", "k06_vectorized", "k09_autotuned")
TIMELINES = {
    "launch": (1e-6, 2.5e-6, 4e-6),
    "ramp": (0.5e-6, 2e-6),
    "small": (1e-6, 3e-6),
    "sync": (0.0, 2e-6),
    "instr_overhead": (0.0, 1e-6),
    "eff": (0.7, 0.9),
    "smem_buf": (0, 212_992),
    "context": (128, 8192),
    "batch": (1, 16),
}


def swept(name, kernels, axes):
    """Every point of a space, in memory."""
    gpus = fixtures.gpus()
    space = TileSpace(name, kernels, axes, (1024, 4096), 4096, "lecture")
    counts = computed(count_sweep(gpus, space))
    return computed(tile_sweep(gpus, counts, space))


def computed(sweep):
    """Compute all of a sweep at once."""
    everything = {dim: slice(None) for dim in sweep.chunks}
    return sweep.compute(sweep.part(everything)).assign_coords(sweep.coordinates.coords)


@cache
def tiles():
    return swept("tiles", KERNELS, BLOCK)


@cache
def warp_tiles():
    return swept("warp tiles", ("k10_warptiled",), WARP)


def best():
    return best_tiles(tiles(), published())


def best_warp():
    return best_tiles(warp_tiles(), published())


def published():
    """The published rates themselves: the artifact is about their tiles."""
    return fixtures.sgemm_rates(fixtures.DATA / "measured/sgemm_ladder.csv")


@cache
def timelines():
    """Two ways to launch, at two or three values of every parameter."""
    sheets = load_sheets(fixtures.DATA / "gpus", list(fixtures.CARDS))
    executions = {
        "kernels7_graphs": Execution("7 kernels in a graph", "kernels7", "graphs", False),
        "megakernel_prefetch": Execution("megakernel", "fused", "megakernel", True),
    }
    llama, bf16 = "llama_3_2_1b", NumberFormat("bf16")
    workload = Workload(
        models=load_models(fixtures.DATA / "models", [llama]),
        formats={llama: Formats(bf16, bf16, bf16)},
        plans=load_plans(fixtures.DATA / "fusion_plans"),
        context=160,
        batch=1,
        rows_per_block=16,
    )
    gpus = xr.Dataset.from_dict(side_by_side(gpu_costs(sheets, sheets["h100_sxm"], own=False)))
    sweep = timeline_sweep(workload, executions, gpus, TimelineSpace(TIMELINES))
    return sweep.compute(sweep.coordinates).assign_coords(sweep.coordinates.coords)


def gain():
    return timeline_gain(timelines(), "kernels7_graphs", "megakernel_prefetch")


STORES = {
    "sweeps/tiles": tiles,
    "sweeps/warp_tiles": warp_tiles,
    "sweeps/best_tiles": best,
    "sweeps/best_warp_tiles": best_warp,
    "sweeps/timeline": timelines,
    "sweeps/timeline_gain": gain,
}
