"""k12: two buffers filled by asynchronous copies, which pass no register."""

from dataclasses import dataclass

from pipeline.kernels.kernel import Kernel, Launch
from pipeline.kernels.staging import QUAD
from pipeline.kernels.warptile import WarpTiles, checked_launch
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray

ID = "k12_double_buffered_async"


@dataclass(frozen=True)
class Options:
    """Tiles of a block (bm, bn, bk), a warp (wm, wn, wniter passes) and a thread (tm, tn).

    ``drop_wait`` leaves out the wait for the copies, to see what it is for.
    """

    bm: int = 128
    bn: int = 128
    bk: int = 16
    wm: int = 64
    wn: int = 64
    wniter: int = 4
    tm: int = 8
    tn: int = 4
    threads: int = 128
    drop_wait: bool = False


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Start the copies of the next tiles, then multiply those that have arrived."""
    bm, bn, bk, threads = opt.bm, opt.bn, opt.bk, opt.threads
    tiles = WarpTiles.of(opt)
    first_row, first_col = blk.bx * bm, blk.by * bn
    a_row, a_col = blk.tid // (bk // QUAD), blk.tid % (bk // QUAD) * QUAD
    b_row, b_col = blk.tid // (bn // QUAD), blk.tid % (bn // QUAD) * QUAD
    a_tiles = [blk.shared(f"a_tile_{i}", bk * bm) for i in range(2)]
    b_tiles = [blk.shared(f"b_tile_{i}", bk * bn) for i in range(2)]
    total = blk.zeros(tiles.wmiter * opt.tm, tiles.wniter * opt.tn)

    def copy(step: int, buffer: int) -> None:
        for r in range(0, bm, threads // (bk // QUAD)):
            for q in range(QUAD):
                place = (a_col + q) * bm + a_row + r
                origin = (first_row + a_row + r) * k + step + a_col + q
                blk.copy_async(a_tiles[buffer], place, a, origin)
        for r in range(0, bk, threads // (bn // QUAD)):
            origin = (step + b_row + r) * n + first_col + b_col
            blk.copy_async(b_tiles[buffer], (b_row + r) * bn + b_col, b, origin, width=QUAD)

    copy(0, 0)
    blk.commit()
    for number, step in enumerate(range(0, k, bk)):
        now = number % 2
        if step + bk < k:
            copy(step + bk, 1 - now)
        blk.commit()
        if not opt.drop_wait:
            blk.wait(pending=1)
        blk.sync()
        tiles.multiply(blk, a_tiles[now], b_tiles[now], bk, total)
        blk.sync()
    tiles.store(blk, c, first_row * n + first_col, n, total)


def launch(opt: Options) -> Launch:
    """Launch a warp per warp tile."""
    return checked_launch(ID, opt, opt.threads, buffers=2, overhead=40)


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: the transposed tile of A needs a copy for each of its values."""
    blocks = (m // 128) * (n // 128)
    warps, steps = 4 * blocks, k // 16
    return {
        "gld_instr": 0,
        "ldgsts_instr": (16 + 4) * steps * warps,
        "gld_sectors": (16 + 4) * 16 * steps * warps,
        "gld_lines": (16 * 8 + 4 * 4) * steps * warps,
        "gst_instr": 32 * warps,
        "gst_sectors": 32 * 16 * warps,
        "gst_lines": 32 * 8 * warps,
        "sts_instr": 0,
        "sts_wavefronts": (16 * 4 + 4 * 4) * steps * warps,
        "lds_instr": (2 + 4) * k * warps,
        "lds_wavefronts": (2 + 4) * 4 * k * warps,
        "ideal_smem_wavefronts": (24 * k + 32 * steps) * warps,
        "ffma_instr": 128 * k * warps,
        "fma": m * n * k,
        "barriers": 2 * steps * blocks,
        "warp_instr": (134 * k + 24 * steps + 33) * warps,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=12,
    label="async copies",
    lifts="Asynchronous copies fill the second buffer while the first is multiplied.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
