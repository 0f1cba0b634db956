"""Sum of two vectors of n * n elements."""

import numpy as np

from pipeline.block_programs import language as tl
from pipeline.block_programs import triton
from pipeline.block_programs.programs.program import Outcome, Program, Tiles, random, sectors


@triton.jit
def vector_add(x_ptr, y_ptr, sum_ptr, count, BLOCK: tl.constexpr):
    """Add one block of elements."""
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    x = tl.load(x_ptr + place, mask=inside)
    y = tl.load(y_ptr + place, mask=inside)
    tl.store(sum_ptr + place, x + y, mask=inside)


def run(n: int, generator: np.random.Generator, tiles: Tiles) -> Outcome:
    """Add two matrices of n by n elements as vectors."""
    x, y = random(generator, n, n), random(generator, n, n)
    total = np.empty_like(x)
    grid = (triton.cdiv(n * n, tiles.block),)
    launched = vector_add[grid](x, y, total, n * n, BLOCK=tiles.block)
    return Outcome(launched, {"sum": (total, x.astype(np.float64) + y)})


def expected(n: int, tiles: Tiles) -> dict[str, int]:
    """Count by hand: two elements are read and one is written for each."""
    programs = triton.cdiv(n * n, tiles.block)
    return {
        "programs": programs,
        "loads": 2 * programs,
        "stores": programs,
        "load_bytes": 8 * n * n,
        "store_bytes": 4 * n * n,
        "load_sectors": 2 * sectors(n * n, 4),
        "store_sectors": sectors(n * n, 4),
        "dot_flops": 0,
    }


PROGRAM = Program("vector_add", "vector add", run, expected)
