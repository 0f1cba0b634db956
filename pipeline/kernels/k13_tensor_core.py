"""k13: tensor cores multiply halves, which ldmatrix reads from swizzled tiles."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from pipeline.kernels.half_tiles import MATRIX, OCTET, HalfTile, LayoutName, layout_of
from pipeline.kernels.kernel import Kernel, Launch, require
from pipeline.kernels.staging import rounds_fit
from pipeline.simt.block import Block
from pipeline.simt.masks import WARP
from pipeline.simt.matrix_instructions import CAPABILITY
from pipeline.simt.memory import GlobalArray

ID = "k13_tensor_core"

COLUMNS = 8
"""Columns of B and C in one mma."""


@dataclass(frozen=True)
class Options:
    """Tiles of a block (bm, bn, bk) and a warp (wm, wn), and how tiles lie in shared memory.

    ``drop_sync`` leaves out a barrier, to see what it is for.
    """

    bm: int = 128
    bn: int = 128
    bk: int = 64
    wm: int = 64
    wn: int = 64
    layout: LayoutName = "xor_swizzle"
    drop_sync: Literal["none", "first", "second"] = "none"


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Stage tiles, and let every warp multiply each fragment of its rows with each of its columns.

    Rows of B run along N, so its matrices come transposed.
    """
    bm, bn, bk, wm, wn = opt.bm, opt.bn, opt.bk, opt.wm, opt.wn
    first_row, first_col = blk.bx * bm, blk.by * bn
    row, col = blk.warp // (bn // wn) * wm, blk.warp % (bn // wn) * wn
    a_tile = HalfTile(blk, "a_tile", bm, bk, opt.layout)
    b_tile = HalfTile(blk, "b_tile", bk, bn, opt.layout)
    inner = range(0, bk, MATRIX)
    a_parts = [a_tile.parts([(row + r, i) for r in range(0, wm, MATRIX)]) for i in inner]
    b_parts = [b_tile.parts([(i, col + q) for q in range(0, wn, MATRIX)]) for i in inner]
    total = blk.zeros(wm // MATRIX, wn // COLUMNS, 4)
    for step in range(0, k, bk):
        a_tile.stage(a, first_row * k + step, k)
        b_tile.stage(b, first_col + step * n, n)
        if opt.drop_sync != "first":
            blk.sync()  # the tiles are full
        for a_part, b_part in zip(a_parts, b_parts, strict=True):
            left, right = a_tile.fragments(a_part), b_tile.fragments(b_part, trans=True)
            # Each part of B is two fragments side by side.
            blk.mma(left, right.reshape(*right.shape[:2], -1, 4), total)
        if opt.drop_sync != "second":
            blk.sync()  # everyone has read; the next step may overwrite
    # Two sums of a lane stand side by side, two more eight rows below.
    corner_row, corner_col = first_row + row + blk.lane // 4, first_col + col + blk.lane % 4 * 2
    for r, q, half in np.ndindex(wm // MATRIX, wn // COLUMNS, 2):
        place = (corner_row + r * MATRIX + half * 8) * n + corner_col + q * COLUMNS
        blk.store(c, place, total[..., r, q, 2 * half : 2 * half + 2], width=2)


def launch(opt: Options) -> Launch:
    """Launch a warp per warp tile.

    Registers: accumulators, fragments of one step, and as many more as with the default tiles give
    what nvcc 13.0 reports for the CUDA twin on sm_86.
    """
    _check(opt)
    return Launch(
        block=(_threads(opt), 1, 1),
        tile=(opt.bm, opt.bn),
        smem_bytes=layout_of(opt.layout, opt.bk).size(opt.bm)
        + layout_of(opt.layout, opt.bn).size(opt.bk),
        registers=opt.wm * opt.wn // WARP + opt.wm // 4 + opt.wn // 4 + 8,
        multiple=(opt.bm, opt.bn, opt.bk),
        capability=CAPABILITY["mma_instr"],
    )


def _threads(opt: Options) -> int:
    return WARP * (opt.bm // opt.wm) * (opt.bn // opt.wn)


def _check(opt: Options) -> None:
    """Refuse options that contradict each other."""
    bm, bn, bk, wm, wn = sizes = opt.bm, opt.bn, opt.bk, opt.wm, opt.wn
    matrices = all(size > 0 and size % MATRIX == 0 for size in sizes)
    conditions = {
        "vector_width: every tile option must be a positive multiple of 16": matrices,
        f"layout must be {', '.join(get_args(LayoutName))}": opt.layout in get_args(LayoutName),
        "drop_sync must be none, first or second": opt.drop_sync in ("none", "first", "second"),
    }
    require(ID, opt, conditions)
    threads = _threads(opt)
    conditions = {
        "divisibility: bm must be a multiple of wm, and bn of wn": bm % wm == bn % wn == 0,
        "threads: 32 bm / wm * bn / wn must be between 32 and 1024": WARP <= threads <= 1024,
    }
    require(ID, opt, conditions)
    powers = bk.bit_count() == bn.bit_count() == 1
    rounds = {"A": rounds_fit(threads, bm, bk, OCTET), "B": rounds_fit(threads, bk, bn, OCTET)}
    conditions = {
        "divisibility: xor_swizzle needs bk and bn to be powers of two": powers
        or opt.layout != "xor_swizzle",
    } | {
        f"divisibility: the tile of {name} must divide into rounds of whole rows": fits
        for name, fits in rounds.items()
    }
    require(ID, opt, conditions)


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: 8 matrix loads of 4 wavefronts for 32 mma, which are 65,536 multiply-adds."""
    blocks = (m // 128) * (n // 128)
    warps, steps = 4 * blocks, k // 64
    return {
        "gld_instr": (8 + 8) * steps * warps,
        "gld_sectors": (8 + 8) * 16 * steps * warps,
        "gld_lines": (8 + 8) * 4 * steps * warps,
        "gst_instr": 64 * warps,
        "gst_sectors": 64 * 8 * warps,
        "gst_lines": 64 * 8 * warps,
        "sts_instr": (8 + 8) * steps * warps,
        "sts_wavefronts": (8 + 8) * 4 * steps * warps,
        "lds_instr": 0,
        "lds_wavefronts": 4 * (4 + 4) * 4 * steps * warps,
        "ldmatrix_instr": 4 * (4 + 4) * steps * warps,
        "ldmatrix_wavefronts": 4 * (4 + 4) * 4 * steps * warps,
        "ideal_smem_wavefronts": (16 + 32) * 4 * steps * warps,
        "ffma_instr": 0,
        "mma_instr": 4 * 32 * steps * warps,
        "mma_fma": m * n * k,
        "fma": m * n * k,
        "barriers": 2 * steps * blocks,
        "warp_instr": (16 + 16 + 32 + 128 + 2) * steps * warps + 64 * warps,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=13,
    label="tensor cores",
    lifts="Tensor cores multiply 16 x 16 by 16 x 8 halves in one instruction of a warp.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
    element="float16",
)
