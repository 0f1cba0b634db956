"""k08: k06 with a few words of padding after each row of the tile of B.

The published step, kept as it is: a warp reads within one row, which padding does not move against
itself, so that the conflicts stay and only the 128-bit accesses are lost.
"""

from dataclasses import dataclass

from pipeline.kernels.kernel import Kernel, Launch, require
from pipeline.kernels.staging import QUAD, stage_a, staged_launch
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray

ID = "k08_banks_padded"


@dataclass(frozen=True)
class Options:
    """Tile of C per block (bm, bn), depth of a step (bk), elements per thread (tm, tn).

    ``pad`` words follow each row of the tile of B.
    """

    bm: int = 128
    bn: int = 128
    bk: int = 8
    tm: int = 8
    tn: int = 8
    pad: int = 5


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Store B in rows of bn + pad words, value by value."""
    bm, bn, bk, tm, tn = opt.bm, opt.bn, opt.bk, opt.tm, opt.tn
    threads, columns, pitch = blk.n_threads, bn // tn, bn + opt.pad
    row, col = blk.tid // columns * tm, blk.tid % columns * tn
    b_row, b_col = blk.tid // (bn // QUAD), blk.tid % (bn // QUAD) * QUAD
    first_row, first_col = blk.bx * bm, blk.by * bn
    a_tile, b_tile = blk.shared("a_tile", bk * bm), blk.shared("b_tile", bk * pitch)
    total = blk.zeros(tm, tn)
    for step in range(0, k, bk):
        stage_a(blk, a, a_tile, first_row * k + step, k, bm, bk, blk.tid, threads)
        for r in range(0, bk, threads // (bn // QUAD)):
            quad = blk.load(b, (step + b_row + r) * n + first_col + b_col, width=QUAD)
            for q in range(QUAD):
                blk.sstore(b_tile, (b_row + r) * pitch + b_col + q, quad[..., q])
        blk.sync()
        for i in range(bk):
            left = blk.sload(a_tile, i * bm + row, width=QUAD, repeat=tm // QUAD, step=QUAD)
            right = blk.sload(b_tile, i * pitch + col, repeat=tn)
            blk.ffma(left, right, total)
        blk.sync()
    for r in range(tm):
        for q in range(0, tn, QUAD):
            index = (first_row + row + r) * n + first_col + col + q
            blk.store(c, index, total[..., r, q : q + QUAD], width=QUAD)


def launch(opt: Options) -> Launch:
    """Launch a thread per tm x tn elements; tiles move in equal rounds of 128-bit loads."""
    require(ID, opt, {"pad must be at least 0": opt.pad >= 0})
    return staged_launch(ID, opt, opt.bn + opt.pad)


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: reads of B conflict four ways, as in k05."""
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
        "sts_wavefronts": (4 * 2 + 4 * 4) * steps * warps,
        "lds_instr": (2 + 8) * k * warps,
        "lds_wavefronts": (2 * 4 + 8 * 4) * k * warps,
        "ideal_smem_wavefronts": (16 * k + 8 * steps) * warps,
        "ffma_instr": 64 * k * warps,
        "fma": m * n * k,
        "barriers": 2 * steps * blocks,
        "warp_instr": (74 * k + 12 * steps + 16) * warps,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=8,
    label="banks padded",
    lifts="Rows of B are padded in shared memory, which does not help reads within a row.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
