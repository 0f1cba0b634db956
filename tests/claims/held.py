"""Results that claims are held against: those of the artifact tests, and tiles that are not few."""

from functools import cache

from pipeline.claims.claim import STORES
from pipeline.sweep.best_tiles import best_tiles
from tests.artifacts import fixtures, fixtures_decode, fixtures_sweeps
from tests.artifacts.stores import STORES as MADE

SETTINGS = {10: fixtures.PARAMETERS, 11: fixtures_decode.LECTURE11}
# Tiles around the best one, which those of the artifact tests do not have.
BLOCK = {"bm": (128,), "bn": (128, 256), "bk": (8, 16), "tm": (8, 16), "tn": (8,)}


def best():
    tiles = fixtures_sweeps.swept("tiles", ("k06_vectorized", "k09_autotuned"), BLOCK)
    return best_tiles(tiles, fixtures_sweeps.published())


@cache
def stores():
    """Every store that claims take, by the names under which they do."""
    return {
        name: best() if path == "sweeps/best_tiles" else MADE[path]()
        for name, path in STORES.items()
    }
