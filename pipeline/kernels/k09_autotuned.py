"""k09: k06 with the tile sizes that a search found best, on a fixed 16 by 16 grid of threads."""

from dataclasses import dataclass

from pipeline.kernels.kernel import Kernel, Launch, require
from pipeline.kernels.staging import QUAD, rounds_fit, stage_a, stage_b
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray

ID = "k09_autotuned"
THREADS = 256
SIDE = 16


@dataclass(frozen=True)
class Options:
    """Tile of C per block (bm, bn), depth of a step (bk), elements per thread and pass (tm, tn)."""

    bm: int = 128
    bn: int = 128
    bk: int = 16
    tm: int = 8
    tn: int = 8


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Cover the tile of C in passes of 16 tm by 16 tn elements."""
    bm, bn, bk, tm, tn = opt.bm, opt.bn, opt.bk, opt.tm, opt.tn
    row, col = blk.tid // SIDE * tm, blk.tid % SIDE * tn
    first_row, first_col = blk.bx * bm, blk.by * bn
    a_tile, b_tile = blk.shared("a_tile", bk * bm), blk.shared("b_tile", bk * bn)
    passes = [(r, q) for r in range(0, bm, SIDE * tm) for q in range(0, bn, SIDE * tn)]
    totals = [blk.zeros(tm, tn) for _ in passes]
    for step in range(0, k, bk):
        stage_a(blk, a, a_tile, first_row * k + step, k, bm, bk, blk.tid, THREADS)
        stage_b(blk, b, b_tile, first_col + step * n, n, bk, bn, blk.tid, THREADS)
        blk.sync()
        for (down, right), total in zip(passes, totals, strict=True):
            for i in range(bk):
                from_a, from_b = i * bm + down + row, i * bn + right + col
                blk.ffma(
                    blk.sload(a_tile, from_a, width=QUAD, repeat=tm // QUAD, step=QUAD),
                    blk.sload(b_tile, from_b, width=QUAD, repeat=tn // QUAD, step=QUAD),
                    total,
                )
        blk.sync()
    for (down, right), total in zip(passes, totals, strict=True):
        for r in range(tm):
            for q in range(0, tn, QUAD):
                index = (first_row + down + row + r) * n + first_col + right + col + q
                blk.store(c, index, total[..., r, q : q + QUAD], width=QUAD)


def launch(opt: Options) -> Launch:
    """Launch 256 threads, whatever the tiles."""
    bm, bn, bk, tm, tn = opt.bm, opt.bn, opt.bk, opt.tm, opt.tn
    require(ID, opt, {"positive: every option must be at least 1": min(bm, bn, bk, tm, tn) >= 1})
    quads = all(size % QUAD == 0 for size in (bm, bn, bk, tm, tn))
    require(ID, opt, {"vector_width: every option must be a multiple of 4": quads})
    require(
        ID,
        opt,
        {
            "divisibility: bm must be a multiple of 16 tm": bm % (SIDE * tm) == 0,
            "divisibility: bn must be a multiple of 16 tn": bn % (SIDE * tn) == 0,
            "divisibility: the tile of A must divide into rounds of whole rows": rounds_fit(
                THREADS, bm, bk
            ),
            "divisibility: the tile of B must divide into rounds of whole rows": rounds_fit(
                THREADS, bk, bn
            ),
        },
    )
    # As in k05: accumulators, both operands, and 48 for addresses and loop state.
    registers = bm * bn // THREADS + tm + tn + 48
    return Launch((THREADS, 1, 1), (bm, bn), (bm + bn) * bk * 4, registers, (bm, bn, bk))


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: k06 with half as many steps of twice the depth."""
    blocks = (m // 128) * (n // 128)
    warps, steps = 8 * blocks, k // 16
    return {
        "gld_instr": (2 + 2) * steps * warps,
        "gld_sectors": (2 * 16 + 2 * 16) * steps * warps,
        "gld_lines": (2 * 8 + 2 * 4) * steps * warps,
        "gst_instr": 16 * warps,
        "gst_sectors": 16 * 32 * warps,
        "gst_lines": 16 * 8 * warps,
        "sts_instr": (8 + 2) * steps * warps,
        "sts_wavefronts": (8 * 4 + 2 * 4) * steps * warps,
        "lds_instr": 4 * k * warps,
        "lds_wavefronts": (2 * 4 + 2 * 8) * k * warps,
        "ideal_smem_wavefronts": (16 * k + 16 * steps) * warps,
        "ffma_instr": 64 * k * warps,
        "fma": m * n * k,
        "barriers": 2 * steps * blocks,
        "warp_instr": (68 * k + 16 * steps + 16) * warps,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=9,
    label="autotuned",
    lifts="Tile sizes found by search: deeper steps, half as many barriers.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
