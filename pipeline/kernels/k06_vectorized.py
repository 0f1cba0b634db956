"""k06: k05 with 128-bit accesses, and the tile of A transposed so that they fit."""

from dataclasses import dataclass

from pipeline.kernels.kernel import Kernel, Launch
from pipeline.kernels.staging import stage_a, stage_b, staged_launch
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray

ID = "k06_vectorized"


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
    """Move four values per instruction wherever four neighbours are wanted."""
    bm, bn, bk, tm, tn = opt.bm, opt.bn, opt.bk, opt.tm, opt.tn
    threads = blk.n_threads
    row, col = blk.tid // (bn // tn) * tm, blk.tid % (bn // tn) * tn
    first_row, first_col = blk.bx * bm, blk.by * bn
    a_tile, b_tile = blk.shared("a_tile", bk * bm), blk.shared("b_tile", bk * bn)
    total = blk.zeros(tm, tn)
    for step in range(0, k, bk):
        stage_a(blk, a, a_tile, first_row * k + step, k, bm, bk, blk.tid, threads)
        stage_b(blk, b, b_tile, first_col + step * n, n, bk, bn, blk.tid, threads)
        blk.sync()
        for i in range(bk):
            left = blk.sload(a_tile, i * bm + row, width=4, repeat=tm // 4, step=4)
            right = blk.sload(b_tile, i * bn + col, width=4, repeat=tn // 4, step=4)
            blk.ffma(left, right, total)
        blk.sync()
    for r in range(tm):
        for q in range(0, tn, 4):
            index = (first_row + row + r) * n + first_col + col + q
            blk.store(c, index, total[..., r, q : q + 4], width=4)


def launch(opt: Options) -> Launch:
    """Launch a thread per tm x tn elements; tiles move in equal rounds of 128-bit loads."""
    return staged_launch(ID, opt, opt.bn)


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: a quarter of k05's loads; A's reads run at the minimum, B's at twice that."""
    blocks = (m // 128) * (n // 128)
    warps, steps = 8 * blocks, k // 8
    return {
        "gld_instr": 2 * steps * warps,
        "gld_sectors": (16 + 16) * steps * warps,
        "gld_lines": (16 + 4) * steps * warps,
        "gst_instr": 16 * warps,
        "gst_sectors": 16 * 32 * warps,
        "gst_lines": 16 * 8 * warps,
        "sts_instr": (4 + 1) * steps * warps,
        "sts_wavefronts": (4 * 2 + 4) * steps * warps,
        "lds_instr": 4 * k * warps,
        "lds_wavefronts": (2 * 4 + 2 * 8) * k * warps,
        "ideal_smem_wavefronts": (16 * k + 8 * steps) * warps,
        "ffma_instr": 64 * k * warps,
        "fma": m * n * k,
        "barriers": 2 * steps * blocks,
        "warp_instr": (68 * k + 9 * steps + 16) * warps,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=6,
    label="vectorized",
    lifts="128-bit accesses: a quarter of the load and store instructions.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
