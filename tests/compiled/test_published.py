"""Code in the structure of that whose rates are published: listings, and what they compute."""

import numpy as np
import pytest

from pipeline.compiled import toolchain
from pipeline.compiled.decode import decode
from pipeline.compiled.launch import execute, prepare
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import TWINS, read_listing
from pipeline.published_listings import Published, published, published_finder, published_listings

EVERY = published()


@pytest.mark.parametrize("one", EVERY, ids=lambda one: f"{one.kernel}-{one.architecture}")
def test_listings__are_those_of_the_present_sources(one: Published) -> None:
    made_by = read_listing(one.listing()).made_by
    assert made_by["source"] == f"{one.source.name} {toolchain.source_digest(one.source)}"
    defined = " ".join(f"{name}={size}" for name, size in one.defines.items())
    assert made_by.get("defines", "") == defined


def test_listings__no_others_are_kept() -> None:
    assert set((TWINS / "published").iterdir()) == {one.listing() for one in EVERY}


@pytest.mark.parametrize(
    "one", [one for one in EVERY if one.architecture in ("sm_80", "sm_86")],
    ids=lambda one: f"{one.kernel}-{one.architecture}",
)  # fmt: skip
def test_published__scales_multiplies_and_adds(one: Published) -> None:
    kernel = KERNELS[one.kernel]
    options = kernel.options(
        **{name: size for name, size in one.tiles.items() if name in kernel.option_names}
    )
    launched = kernel.launch(options)
    rows, cols = launched.tile
    m, n, k = 2 * rows, cols, 2 * launched.multiple[2]
    random = np.random.default_rng(7)
    a, b, c = (
        random.standard_normal(shape, dtype=np.float32) for shape in ((m, k), (k, n), (m, n))
    )
    wanted = 0.5 * (a.astype(float) @ b.astype(float)) + 3.0 * c
    program = decode(read_listing(one.listing()))
    grid = (n // cols, m // rows)
    execute(prepare(program, grid, launched.block, (m, n, k, 0.5, a, b, 3.0, c)))
    assert np.abs(c - wanted).max() < 1e-4


def test_published_finder__finds_the_tiles_that_were_measured() -> None:
    find = published_finder(published_listings(["sm_80", "sm_86"]))
    tiles = {"bm": 64, "bn": 64, "bk": 16, "tm": 4, "tn": 4}
    there = find("k09_autotuned", "sm_80", tiles)
    assert there is not None
    assert there.facts.registers == 32
    assert find("k09_autotuned", "sm_80", {}) is None
    assert find("k09_autotuned", "sm_80", tiles | {"tm": 8}) is None
    assert find("k09_autotuned", "sm_86", tiles) is None
    assert find("k09_autotuned", "sm_86", {}) is not None
    assert find("k09_autotuned", "sm_90", {}) is None
    assert find("k03_smem", "sm_86", {}) is None
