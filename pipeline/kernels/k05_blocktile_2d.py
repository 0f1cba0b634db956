"""k05: every thread computes 8 by 8 elements as outer products of registers."""

from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import NDArray

from pipeline.kernels.kernel import Kernel, Launch, require
from pipeline.kernels.staging import QUAD, in_steps
from pipeline.simt.block import Block
from pipeline.simt.lanes import Lanes
from pipeline.simt.memory import GlobalArray, SharedArray

ID = "k05_blocktile_2d"
WIDE_LOADS = ("none", "whole", "first_twice")


@dataclass(frozen=True)
class Options:
    """Tile of C per block (bm, bn), depth of a step (bk), elements per thread (tm, tn).

    ``vec_b`` reads the values of B four at a time, as a compiler does that can prove alignment.
    ``wide_loads`` reads both operands in fours, as compilers were seen to do; of A, four steps of a
    row stand side by side. With ``whole`` all of A is read so (nvcc 13.0 from the CUDA twin). With
    ``first_twice`` the first step of a tile is read value by value, and once more within its fours
    (nvcc 13.0 from the kernel whose counters are in ``data/measured``).
    """

    bm: int = 128
    bn: int = 128
    bk: int = 8
    tm: int = 8
    tn: int = 8
    vec_b: bool = False
    wide_loads: Literal["none", "whole", "first_twice"] = "none"


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Read tm values of A and tn of B for tm * tn multiply-adds."""
    bm, bn, bk, tm, tn = opt.bm, opt.bn, opt.bk, opt.tm, opt.tn
    threads = blk.n_threads
    row, col = blk.tid // (bn // tn) * tm, blk.tid % (bn // tn) * tn
    a_row, a_col = blk.tid // bk, blk.tid % bk
    b_row, b_col = blk.tid // bn, blk.tid % bn
    first_row, first_col = blk.bx * bm, blk.by * bn
    a_tile, b_tile = blk.shared("a_tile", bm * bk), blk.shared("b_tile", bk * bn)
    total = blk.zeros(tm, tn)
    for step in range(0, k, bk):
        for r in range(0, bm, threads // bk):
            from_a = blk.load(a, (first_row + a_row + r) * k + step + a_col)
            blk.sstore(a_tile, (a_row + r) * bk + a_col, from_a)
        for r in range(0, bk, threads // bn):
            from_b = blk.load(b, (step + b_row + r) * n + first_col + b_col)
            blk.sstore(b_tile, (b_row + r) * bn + b_col, from_b)
        blk.sync()
        multiply(blk, a_tile, b_tile, row, col, total, opt)
        blk.sync()
    for r in range(tm):
        for q in range(tn):
            blk.store(c, (first_row + row + r) * n + first_col + col + q, total[..., r, q])


def multiply(
    blk: Block,
    a_tile: SharedArray,
    b_tile: SharedArray,
    row: Lanes,
    col: Lanes,
    total: NDArray[Any],
    opt: Options,
) -> None:
    """Add the products of two tiles; a load of A brings values of as many steps as it is wide."""
    bk, bn, tm, tn = opt.bk, opt.bn, opt.tm, opt.tn
    wide = opt.wide_loads != "none"
    steps, width = QUAD if wide else 1, QUAD if wide or opt.vec_b else 1
    if opt.wide_loads == "first_twice":
        blk.sload(a_tile, row * bk, repeat=tm, step=bk)  # the same values as in the first four
    for i in range(0, bk, steps):
        left = blk.sload(a_tile, row * bk + i, width=steps, repeat=tm, step=bk)
        for q in range(steps):
            from_b = (i + q) * bn + col
            right = blk.sload(b_tile, from_b, width=width, repeat=tn // width, step=width)
            blk.ffma(in_steps(left, steps)[..., q], right, total)


def launch(opt: Options) -> Launch:
    """Launch a thread per tm x tn elements; they move the tiles in equal rounds."""
    bm, bn, bk, tm, tn = opt.bm, opt.bn, opt.bk, opt.tm, opt.tn
    require(
        ID, opt, {"positive: every tile option must be at least 1": min(bm, bn, bk, tm, tn) >= 1}
    )
    threads = bm // tm * (bn // tn)
    require(
        ID,
        opt,
        {
            "thread_tile: tm and tn must be at least 2": tm >= 2 <= tn,
            "divisibility: bm must be a multiple of tm, and bn of tn": bm % tm == 0
            and bn % tn == 0,
            "threads: bm / tm * bn / tn must be between 1 and 1024": 1 <= threads <= 1024,
            "divisibility: the tile of A must divide into rounds of whole rows": threads % bk == 0
            and bm % max(1, threads // bk) == 0,
            "divisibility: the tile of B must divide into rounds of whole rows": threads % bn == 0
            and bk % max(1, threads // bn) == 0,
            "vector_width: vec_b needs tn to be a multiple of 4": not opt.vec_b or tn % QUAD == 0,
            "wide_loads must be none, whole or first_twice": opt.wide_loads in WIDE_LOADS,
            "vector_width: wide_loads needs bk and tn to be multiples of 4": opt.wide_loads
            == "none"
            or bk % QUAD == tn % QUAD == 0,
        },
    )
    # Accumulators, both operands, and 48 for addresses and loop state.
    registers = tm * tn + tm + tn + 48
    return Launch((threads, 1, 1), (bm, bn), (bm + bn) * bk * 4, registers, (bm, bn, bk))


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: 16 shared reads per 64 multiply-adds, 2-way conflicts on A, 4-way on B."""
    blocks = (m // 128) * (n // 128)
    warps, steps = 8 * blocks, k // 8
    return {
        "gld_instr": 8 * steps * warps,
        "gld_sectors": 8 * 4 * steps * warps,
        "gld_lines": 4 * (4 + 1) * steps * warps,
        "gst_instr": 64 * warps,
        "gst_sectors": 64 * 32 * warps,
        "gst_lines": 64 * 8 * warps,
        "sts_instr": 8 * steps * warps,
        "sts_wavefronts": 8 * steps * warps,
        "lds_instr": 16 * k * warps,
        "lds_wavefronts": 8 * (2 + 4) * k * warps,
        "ideal_smem_wavefronts": (16 * k + 8 * steps) * warps,
        "ffma_instr": 64 * k * warps,
        "fma": m * n * k,
        "barriers": 2 * steps * blocks,
        "warp_instr": (80 * k + 18 * steps + 64) * warps,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=5,
    label="2D block tiling",
    lifts="A thread keeps 64 accumulators: 16 shared reads feed 64 multiply-adds.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
