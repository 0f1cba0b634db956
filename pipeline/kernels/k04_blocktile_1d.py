"""k04: every thread computes a column of eight elements, and reuses one value of B for them."""

from dataclasses import dataclass

from pipeline.kernels.kernel import Kernel, Launch, require
from pipeline.kernels.staging import QUAD, in_steps
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray

ID = "k04_blocktile_1d"


@dataclass(frozen=True)
class Options:
    """Tile of C per block (bm, bn), depth of a step (bk), rows per thread (tm).

    ``wide_loads`` reads the tile of A in fours, as the compiler does: four steps of a row stand
    side by side.
    """

    bm: int = 64
    bn: int = 64
    bk: int = 8
    tm: int = 8
    wide_loads: bool = False


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Read one value of B and tm values of A for tm multiply-adds."""
    bm, bn, bk, tm = opt.bm, opt.bn, opt.bk, opt.tm
    row, col = blk.tid // bn * tm, blk.tid % bn
    a_row, a_col = blk.tid // bk, blk.tid % bk
    b_row, b_col = blk.tid // bn, blk.tid % bn
    first_row, first_col = blk.bx * bm, blk.by * bn
    a_tile, b_tile = blk.shared("a_tile", bm * bk), blk.shared("b_tile", bk * bn)
    width = QUAD if opt.wide_loads else 1
    total = blk.zeros(tm)
    for step in range(0, k, bk):
        from_a = blk.load(a, (first_row + a_row) * k + step + a_col)
        blk.sstore(a_tile, a_row * bk + a_col, from_a)
        from_b = blk.load(b, (step + b_row) * n + first_col + b_col)
        blk.sstore(b_tile, b_row * bn + b_col, from_b)
        blk.sync()
        for i in range(0, bk, width):
            left = blk.sload(a_tile, row * bk + i, width=width, repeat=tm, step=bk)
            for q in range(width):
                right = blk.sload(b_tile, (i + q) * bn + col)
                blk.ffma(in_steps(left, width)[..., q], right, total)
        blk.sync()
    for r in range(tm):
        blk.store(c, (first_row + row + r) * n + first_col + col, total[..., r])


def launch(opt: Options) -> Launch:
    """Launch bm * bn / tm threads, each of which moves one value of A and one of B per step."""
    bm, bn, bk, tm = opt.bm, opt.bn, opt.bk, opt.tm
    require(ID, opt, {"positive: every option must be at least 1": min(bm, bn, bk, tm) >= 1})
    threads = bm * bn // tm
    require(
        ID,
        opt,
        {
            "divisibility: bm must be a multiple of tm": bm % tm == 0,
            "divisibility: bk must be bm / tm, so that each thread loads one value of B": bk * tm
            == bm,
            "divisibility: bk must be bn / tm, so that each thread loads one value of A": bk * tm
            == bn,
            "threads: bm * bn / tm must be at most 1024": threads <= 1024,
            "vector_width: wide_loads needs bk to be a multiple of 4": not opt.wide_loads
            or bk % QUAD == 0,
        },
    )
    # tm accumulators beside k03's operands and addresses.
    return Launch((threads, 1, 1), (bm, bn), (bm + bn) * bk * 4, 40 + tm, (bm, bn, bk))


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: (1 + 8) / 8 shared reads per multiply-add; a load of A spans four rows."""
    blocks = (m // 64) * (n // 64)
    warps, steps = 16 * blocks, k // 8
    return {
        "gld_instr": 2 * steps * warps,
        "gld_sectors": (4 + 4) * steps * warps,
        "gld_lines": (4 + 1) * steps * warps,
        "gst_instr": 8 * warps,
        "gst_sectors": 8 * 4 * warps,
        "gst_lines": 8 * warps,
        "sts_instr": 2 * steps * warps,
        "sts_wavefronts": 2 * steps * warps,
        "lds_instr": 9 * k * warps,
        "lds_wavefronts": 9 * k * warps,
        "ideal_smem_wavefronts": (9 * k + 2 * steps) * warps,
        "ffma_instr": 8 * k * warps,
        "fma": m * n * k,
        "barriers": 2 * steps * blocks,
        "warp_instr": (17 * k + 6 * steps + 8) * warps,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=4,
    label="1D block tiling",
    lifts="A thread keeps eight accumulators and reads each value of B once for all of them.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
