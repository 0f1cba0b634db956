"""Attention without the matrix of scores in memory, all keys or only earlier ones."""

from functools import partial

import numpy as np

from pipeline.block_programs import language as tl
from pipeline.block_programs import triton
from pipeline.block_programs.programs.program import Array, Outcome, Program, Tiles, sectors

LOG2_E = 1.4426950408889634


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, tokens, scale,
    ROWS: tl.constexpr, KEYS: tl.constexpr, SIZE: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Keep a tile of queries, pass over keys and values once, and rescale as larger scores come."""
    first = tl.program_id(0) * ROWS
    head = tl.program_id(1) * tokens * SIZE
    query, element, key = first + tl.arange(0, ROWS), tl.arange(0, SIZE), tl.arange(0, KEYS)
    there = query[:, None] * SIZE + element[None, :]
    inside = (query < tokens)[:, None]
    q = tl.load(q_ptr + head + there, mask=inside, other=0.0)
    largest = tl.full((ROWS,), -float("inf"), tl.float32)
    weight = tl.zeros((ROWS,), tl.float32)
    total = tl.zeros((ROWS, SIZE), tl.float32)
    last = min(first + ROWS, tokens) if CAUSAL else tokens
    for start in range(0, last, KEYS):
        at = start + key
        rows = (at[:, None] * SIZE) + element[None, :]
        k = tl.load(k_ptr + head + rows, mask=(at < tokens)[:, None], other=0.0)
        scores = tl.dot(q, tl.trans(k)) * scale
        seen = (at < tokens)[None, :]
        if CAUSAL:
            seen = seen & (at[None, :] <= query[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        larger = tl.maximum(largest, tl.max(scores, axis=1))
        shares = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(largest - larger)
        weight = weight * shrink + tl.sum(shares, axis=1)
        v = tl.load(v_ptr + head + rows, mask=(at < tokens)[:, None], other=0.0)
        total = tl.dot(shares.to(v.dtype), v, total * shrink[:, None])
        largest = larger
    out = total / weight[:, None]
    tl.store(out_ptr + head + there, out.to(out_ptr.dtype.element_ty), mask=inside)


def run(n: int, generator: np.random.Generator, tiles: Tiles, *, causal: bool) -> Outcome:
    """Attend among n tokens, in half precision with float32 sums."""
    shape = (tiles.heads, n, tiles.head_size)
    q, k, v = (generator.standard_normal(shape, np.float32).astype(np.float16) for _ in range(3))
    out = np.empty(shape, np.float32)
    scale = tiles.head_size**-0.5
    launched = attention[(triton.cdiv(n, tiles.query_rows), tiles.heads)](
        q, k, v, out, n, scale * LOG2_E,
        ROWS=tiles.query_rows, KEYS=tiles.key_rows, SIZE=tiles.head_size, CAUSAL=causal,
    )  # fmt: skip
    return Outcome(launched, {"out": (out, _plain(q, k, v, scale, causal))})


def _plain(q: Array, k: Array, v: Array, scale: float, causal: bool) -> Array:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) * scale
    if causal:
        scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (shares / shares.sum(axis=-1, keepdims=True)) @ v


def expected(n: int, tiles: Tiles, *, causal: bool) -> dict[str, int]:
    """Count by hand: every program reads its queries once, and keys and values up to its end."""
    blocks = triton.cdiv(n, tiles.query_rows)
    ends = [min((i + 1) * tiles.query_rows, n) if causal else n for i in range(blocks)]
    steps = [triton.cdiv(end, tiles.key_rows) for end in ends]
    keys = sum(min(count * tiles.key_rows, n) for count in steps)
    # A row of keys and values, or of the result, starts at a sector.
    row, wide = sectors(tiles.head_size, 2), sectors(tiles.head_size, 4)
    product = tiles.query_rows * tiles.key_rows * tiles.head_size
    return {
        "programs": blocks * tiles.heads,
        "loads": tiles.heads * (blocks + 2 * sum(steps)),
        "stores": blocks * tiles.heads,
        "load_bytes": 2 * tiles.heads * tiles.head_size * (n + 2 * keys),
        "store_bytes": 4 * tiles.heads * tiles.head_size * n,
        "load_sectors": tiles.heads * row * (n + 2 * keys),
        "store_sectors": tiles.heads * wide * n,
        "dot_flops": 4 * tiles.heads * sum(steps) * product,
    }


PROGRAM = Program(
    "attention", "attention", partial(run, causal=False), partial(expected, causal=False)
)
CAUSAL = Program(
    "attention_causal", "attention, causal", partial(run, causal=True),
    partial(expected, causal=True),
)  # fmt: skip
