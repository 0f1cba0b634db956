"""Product of two matrices, tile by tile, programs in grouped order."""

import numpy as np

from pipeline.block_programs import language as tl
from pipeline.block_programs import triton
from pipeline.block_programs.programs.program import Outcome, Program, Tiles, random, sectors


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, m, n, k, a_stride, b_stride, c_stride,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Compute one tile of C; ``GROUP`` rows of tiles are gone through column by column."""
    across = tl.cdiv(n, TILE_N)
    band = tl.program_id(0) // (GROUP * across)
    place = tl.program_id(0) % (GROUP * across)
    height = min(tl.cdiv(m, TILE_M) - band * GROUP, GROUP)
    row = (band * GROUP + place % height) * TILE_M + tl.arange(0, TILE_M)
    column = (place // height) * TILE_N + tl.arange(0, TILE_N)
    depth = tl.arange(0, TILE_K)
    a = a_ptr + row[:, None] * a_stride + depth[None, :]
    b = b_ptr + depth[:, None] * b_stride + column[None, :]
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for done in range(0, k, TILE_K):
        left = depth < k - done
        a_tile = tl.load(a, mask=(row < m)[:, None] & left[None, :], other=0.0)
        b_tile = tl.load(b, mask=left[:, None] & (column < n)[None, :], other=0.0)
        total = tl.dot(a_tile, b_tile, total)
        a += TILE_K
        b += TILE_K * b_stride
    c = c_ptr + row[:, None] * c_stride + column[None, :]
    tl.store(c, total.to(c_ptr.dtype.element_ty), mask=(row < m)[:, None] & (column < n)[None, :])


def run(n: int, generator: np.random.Generator, tiles: Tiles) -> Outcome:
    """Multiply two matrices of n by n elements."""
    a, b = random(generator, n, n), random(generator, n, n)
    c = np.empty_like(a)
    grid = (triton.cdiv(n, tiles.tile_m) * triton.cdiv(n, tiles.tile_n),)
    launched = matmul[grid](
        a, b, c, n, n, n, n, n, n,
        TILE_M=tiles.tile_m, TILE_N=tiles.tile_n, TILE_K=tiles.tile_k, GROUP=tiles.group,
    )  # fmt: skip
    return Outcome(launched, {"c": (c, a.astype(np.float64) @ b)})


def expected(n: int, tiles: Tiles) -> dict[str, int]:
    """Count by hand: A is read once for every column of tiles, B once for every row.

    Rows and steps of n and ``tile_k`` elements start at a sector, if both are multiples of eight.
    """
    down, across = triton.cdiv(n, tiles.tile_m), triton.cdiv(n, tiles.tile_n)
    steps = triton.cdiv(n, tiles.tile_k)
    pieces = n // tiles.tile_k * sectors(tiles.tile_k, 4) + sectors(n % tiles.tile_k, 4)
    widths = n // tiles.tile_n * sectors(tiles.tile_n, 4) + sectors(n % tiles.tile_n, 4)
    return {
        "programs": down * across,
        "loads": 2 * down * across * steps,
        "stores": down * across,
        "load_bytes": 4 * n * n * (across + down),
        "store_bytes": 4 * n * n,
        "load_sectors": across * n * pieces + down * n * widths,
        "store_sectors": n * widths,
        "dot_flops": 2 * down * across * steps * tiles.tile_m * tiles.tile_n * tiles.tile_k,
    }


PROGRAM = Program("matmul", "matmul", run, expected)
