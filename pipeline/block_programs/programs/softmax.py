"""Softmax of every row of a matrix, in one pass over memory."""

import numpy as np

from pipeline.block_programs import language as tl
from pipeline.block_programs import triton
from pipeline.block_programs.programs.program import Outcome, Program, Tiles, random, sectors


@triton.jit
def softmax(x_ptr, y_ptr, row_stride, columns, BLOCK: tl.constexpr):
    """Keep one row in registers from reading it to writing it."""
    row = tl.program_id(0) * row_stride
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row + column, mask=inside, other=-float("inf"))
    shares = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row + column, shares / tl.sum(shares, axis=0), mask=inside)


def run(n: int, generator: np.random.Generator, tiles: Tiles) -> Outcome:  # noqa: ARG001 -- a row is a block
    """Take the softmax of each of n rows of n elements."""
    x = random(generator, n, n)
    y = np.empty_like(x)
    launched = softmax[(n,)](x, y, n, n, BLOCK=triton.next_power_of_2(n))
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return Outcome(launched, {"y": (y, powers / powers.sum(axis=1, keepdims=True))})


def expected(n: int, tiles: Tiles) -> dict[str, int]:  # noqa: ARG001
    """Count by hand: every element is read once and written once."""
    return {
        "programs": n,
        "loads": n,
        "stores": n,
        "load_bytes": 4 * n * n,
        "store_bytes": 4 * n * n,
        "load_sectors": n * sectors(n, 4),
        "store_sectors": n * sectors(n, 4),
        "dot_flops": 0,
    }


PROGRAM = Program("softmax", "softmax of rows", run, expected)
