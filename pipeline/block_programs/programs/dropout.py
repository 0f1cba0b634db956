"""Dropout whose mask is never stored: the seed is enough to make it again."""

import numpy as np

from pipeline.block_programs import language as tl
from pipeline.block_programs import triton
from pipeline.block_programs.programs.program import (
    Array,
    Outcome,
    Program,
    Tiles,
    random,
    sectors,
)

SHARE = 0.5
SEED = 123


@triton.jit
def dropout(x_ptr, y_ptr, count, share, seed, BLOCK: tl.constexpr):
    """Keep an element where its random number is above ``share``, and make up for the others."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    x = tl.load(x_ptr + place, mask=inside)
    kept = tl.rand(seed, place) > share
    tl.store(y_ptr + place, tl.where(kept, x / (1 - share), 0.0), mask=inside)


def uniform(seed: int, count: int) -> Array:
    """Random numbers of ``tl.rand`` at offsets 0 to ``count``, as whole numbers of 64 bits tell.

    Philox-4x32 with ten rounds: one product of 64 bits gives both halves.
    """
    word, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    c = [np.arange(count, dtype=np.uint64), *(np.zeros(count, np.uint64) for _ in range(3))]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        one, two = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(two >> word) ^ c[1] ^ np.uint64(k0), two & low,
             (one >> word) ^ c[3] ^ np.uint64(k1), one & low]  # fmt: skip
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    signed = c[0].astype(np.uint32).view(np.int32)
    return np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def run(n: int, generator: np.random.Generator, tiles: Tiles) -> Outcome:
    """Drop half of n * n elements."""
    x = random(generator, n, n)
    y = np.empty_like(x)
    grid = (triton.cdiv(n * n, tiles.block),)
    launched = dropout[grid](x, y, n * n, SHARE, SEED, BLOCK=tiles.block)
    kept = uniform(SEED, n * n).reshape(n, n) > SHARE
    return Outcome(launched, {"y": (y, np.where(kept, x / (1.0 - SHARE), 0.0))})


def expected(n: int, tiles: Tiles) -> dict[str, int]:
    """Count by hand: every element is read once and written once, and no mask is."""
    programs = triton.cdiv(n * n, tiles.block)
    return {
        "programs": programs,
        "loads": programs,
        "stores": programs,
        "load_bytes": 4 * n * n,
        "store_bytes": 4 * n * n,
        "load_sectors": sectors(n * n, 4),
        "store_sectors": sectors(n * n, 4),
        "dot_flops": 0,
    }


PROGRAM = Program("dropout", "dropout", run, expected)
