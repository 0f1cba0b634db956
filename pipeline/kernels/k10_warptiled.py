"""k10: a level of tiles between block and thread, one for each warp."""

from dataclasses import dataclass

from pipeline.kernels.kernel import Kernel, Launch
from pipeline.kernels.staging import stage_a, stage_b
from pipeline.kernels.warptile import WarpTiles, checked_launch
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray

ID = "k10_warptiled"


@dataclass(frozen=True)
class Options:
    """Tiles of a block (bm, bn, bk), a warp (wm, wn, wniter passes) and a thread (tm, tn)."""

    bm: int = 128
    bn: int = 128
    bk: int = 16
    wm: int = 64
    wn: int = 64
    wniter: int = 4
    tm: int = 8
    tn: int = 4
    threads: int = 128


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Let every warp multiply its own part, whose operands it reads side by side."""
    bm, bn, bk = opt.bm, opt.bn, opt.bk
    tiles = WarpTiles.of(opt)
    first_row, first_col = blk.bx * bm, blk.by * bn
    a_tile, b_tile = blk.shared("a_tile", bk * bm), blk.shared("b_tile", bk * bn)
    total = blk.zeros(tiles.wmiter * opt.tm, tiles.wniter * opt.tn)
    for step in range(0, k, bk):
        stage_a(blk, a, a_tile, first_row * k + step, k, bm, bk, blk.tid, opt.threads)
        stage_b(blk, b, b_tile, first_col + step * n, n, bk, bn, blk.tid, opt.threads)
        blk.sync()
        tiles.multiply(blk, a_tile, b_tile, bk, total)
        blk.sync()
    tiles.store(blk, c, first_row * n + first_col, n, total)


def launch(opt: Options) -> Launch:
    """Launch a warp per warp tile."""
    return checked_launch(ID, opt, opt.threads, buffers=1, overhead=16)


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: 6 shared reads for 128 multiply-adds, all of them without conflict."""
    blocks = (m // 128) * (n // 128)
    warps, steps = 4 * blocks, k // 16
    return {
        "gld_instr": (4 + 4) * steps * warps,
        "gld_sectors": (4 + 4) * 16 * steps * warps,
        "gld_lines": (4 * 8 + 4 * 4) * steps * warps,
        "gst_instr": 32 * warps,
        "gst_sectors": 32 * 16 * warps,
        "gst_lines": 32 * 8 * warps,
        "sts_instr": (16 + 4) * steps * warps,
        "sts_wavefronts": (16 * 4 + 4 * 4) * steps * warps,
        "lds_instr": (2 + 4) * k * warps,
        "lds_wavefronts": (2 + 4) * 4 * k * warps,
        "ideal_smem_wavefronts": (24 * k + 32 * steps) * warps,
        "ffma_instr": 128 * k * warps,
        "fma": m * n * k,
        "barriers": 2 * steps * blocks,
        "warp_instr": (134 * k + 30 * steps + 32) * warps,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=10,
    label="warp tiling",
    lifts="Each warp owns a tile: more reuse in registers, and no bank conflicts on reads.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
