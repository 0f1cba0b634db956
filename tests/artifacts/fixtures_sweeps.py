"""Small sweeps for the artifacts: the real functions on a few points."""

from functools import cache

from pipeline.sweep.best_tiles import best_tiles
from pipeline.sweep.tile_points import TileSpace
from pipeline.sweep.tiles import compute_tiles, tile_sweep
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


def swept(name, kernels, axes):
    """Every point of a space, in memory."""
    gpus = fixtures.gpus()
    sweep = tile_sweep(gpus, TileSpace(name, kernels, axes, (1024, 4096), 4096, "lecture"))
    whole = compute_tiles(sweep.coordinates, **sweep.compute.keywords)
    return whole.assign_coords(sweep.coordinates.coords)


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


STORES = {
    "sweeps/tiles": tiles,
    "sweeps/warp_tiles": warp_tiles,
    "sweeps/best_tiles": best,
    "sweeps/best_warp_tiles": best_warp,
}
