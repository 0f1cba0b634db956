"""k07: k06 with the tile of B rearranged, so that the values a warp reads stand in 32 banks."""

from dataclasses import dataclass

from pipeline.kernels.kernel import Kernel, Launch
from pipeline.kernels.staging import QUAD, stage_a, staged_launch
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray

ID = "k07_banks_linearized"


@dataclass(frozen=True)
class Options:
    """Tile of C per block (bm, bn), depth of a step (bk), elements per thread (tm, tn)."""

    bm: int = 128
    bn: int = 128
    bk: int = 8
    tm: int = 8
    tn: int = 8


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Store B as b_tile[k][j][thread column]: neighbouring threads read neighbouring words."""
    bm, bn, bk, tm, tn = opt.bm, opt.bn, opt.bk, opt.tm, opt.tn
    threads, columns = blk.n_threads, bn // tn
    row, col = blk.tid // columns * tm, blk.tid % columns * tn
    b_row, b_col = blk.tid // (bn // QUAD), blk.tid % (bn // QUAD) * QUAD
    first_row, first_col = blk.bx * bm, blk.by * bn
    a_tile, b_tile = blk.shared("a_tile", bk * bm), blk.shared("b_tile", bk * bn)
    total = blk.zeros(tm, tn)
    for step in range(0, k, bk):
        stage_a(blk, a, a_tile, first_row * k + step, k, bm, bk, blk.tid, threads)
        for r in range(0, bk, threads // (bn // QUAD)):
            quad = blk.load(b, (step + b_row + r) * n + first_col + b_col, width=QUAD)
            for q in range(QUAD):
                place = ((b_row + r) * tn + b_col % tn + q) * columns + b_col // tn
                blk.sstore(b_tile, place, quad[..., q])
        blk.sync()
        for i in range(bk):
            left = blk.sload(a_tile, i * bm + row, width=QUAD, repeat=tm // QUAD, step=QUAD)
            right = blk.sload(b_tile, i * tn * columns + blk.tid % columns, repeat=tn, step=columns)
            blk.ffma(left, right, total)
        blk.sync()
    for r in range(tm):
        for q in range(0, tn, QUAD):
            index = (first_row + row + r) * n + first_col + col + q
            blk.store(c, index, total[..., r, q : q + QUAD], width=QUAD)


def launch(opt: Options) -> Launch:
    """Launch a thread per tm x tn elements; tiles move in equal rounds of 128-bit loads."""
    return staged_launch(ID, opt, opt.bn)


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: reads of B run without conflict, for four times as many instructions."""
    blocks = (m // 128) * (n // 128)
    warps, steps = 8 * blocks, k // 8
    return {
        "gld_instr": 2 * steps * warps,
        "gld_sectors": (16 + 16) * steps * warps,
        "gld_lines": (16 + 4) * steps * warps,
        "gst_instr": 16 * warps,
        "gst_sectors": 16 * 32 * warps,
        "gst_lines": 16 * 8 * warps,
        "sts_instr": (4 + 4) * steps * warps,
        "sts_wavefronts": (4 * 2 + 4 * 2) * steps * warps,
        "lds_instr": (2 + 8) * k * warps,
        "lds_wavefronts": (2 * 4 + 8 * 1) * k * warps,
        "ideal_smem_wavefronts": (16 * k + 8 * steps) * warps,
        "ffma_instr": 64 * k * warps,
        "fma": m * n * k,
        "barriers": 2 * steps * blocks,
        "warp_instr": (74 * k + 12 * steps + 16) * warps,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=7,
    label="banks linearized",
    lifts="B is rearranged in shared memory so that a warp's reads fall into different banks.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
