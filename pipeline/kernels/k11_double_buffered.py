"""k11: two buffers and two halves of the block, which load and multiply in turn."""

from dataclasses import dataclass

from pipeline.kernels.kernel import Kernel, Launch, require
from pipeline.kernels.staging import stage_a, stage_b
from pipeline.kernels.warptile import WarpTiles, checked_launch
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray

ID = "k11_double_buffered"


@dataclass(frozen=True)
class Options:
    """Tiles of a block (bm, bn, bk), a warp (wm, wn, wniter passes) and a thread (tm, tn)."""

    bm: int = 128
    bn: int = 256
    bk: int = 16
    wm: int = 128
    wn: int = 32
    wniter: int = 1
    tm: int = 8
    tn: int = 8
    threads: int = 256


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Let one half of the block load the next tiles while the other multiplies."""
    bm, bn, bk, half = opt.bm, opt.bn, opt.bk, opt.threads // 2
    tiles = WarpTiles.of(opt)
    first_row, first_col = blk.bx * bm, blk.by * bn
    a_tiles = [blk.shared(f"a_tile_{i}", bk * bm) for i in range(2)]
    b_tiles = [blk.shared(f"b_tile_{i}", bk * bn) for i in range(2)]
    total = blk.zeros(tiles.wmiter * opt.tm, tiles.wniter * opt.tn)
    first, second = blk.tid < half, blk.tid >= half

    def stage(who, step, buffer):  # type: ignore[no-untyped-def]
        if step < k:
            with blk.where(who):
                thread = blk.tid % half
                stage_a(blk, a, a_tiles[buffer], first_row * k + step, k, bm, bk, thread, half)
                stage_b(blk, b, b_tiles[buffer], first_col + step * n, n, bk, bn, thread, half)

    def multiply(who, step, buffer):  # type: ignore[no-untyped-def]
        if step < k:
            with blk.where(who):
                tiles.multiply(blk, a_tiles[buffer], b_tiles[buffer], bk, total)

    stage(first, 0, 0)
    blk.sync()
    for step in range(0, k, 2 * bk):
        multiply(first, step, 0)
        stage(second, step + bk, 1)
        blk.sync()
        multiply(first, step + bk, 1)
        multiply(second, step, 0)
        blk.sync()
        stage(first, step + 2 * bk, 0)
        multiply(second, step + bk, 1)
        blk.sync()
    tiles.store(blk, c, first_row * n + first_col, n, total)


def launch(opt: Options) -> Launch:
    """Launch a warp per warp tile; either half of the threads moves whole tiles."""
    require(ID, opt, {"threads must be a multiple of 64": opt.threads % 64 == 0})
    return checked_launch(ID, opt, opt.threads // 2, buffers=2, overhead=24)


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: 4 of 8 warps load each tile; 1 + 3 barriers for every two tiles."""
    blocks, steps = (m // 128) * (n // 256), k // 16
    warps, staging = 8 * blocks, 4 * blocks * steps
    barriers = (1 + 3 * -(-steps // 2)) * blocks
    return {
        "gld_instr": (4 + 8) * staging,
        "gld_sectors": (4 + 8) * 16 * staging,
        "gld_lines": (4 * 8 + 8 * 4) * staging,
        "gst_instr": 32 * warps,
        "gst_sectors": 32 * 32 * warps,
        "gst_lines": 32 * 8 * warps,
        "sts_instr": (16 + 8) * staging,
        "sts_wavefronts": (16 * 4 + 8 * 4) * staging,
        "lds_instr": (4 + 2) * k * warps,
        "lds_wavefronts": (4 + 2) * 4 * k * warps,
        "ideal_smem_wavefronts": 24 * k * warps + (16 + 8 * 4) * staging,
        "ffma_instr": 128 * k * warps,
        "fma": m * n * k,
        "barriers": barriers,
        "warp_instr": (134 * k + 32) * warps + (12 + 24) * staging + 8 * barriers,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=11,
    label="double buffering",
    lifts="Two buffers: half of the warps load the next tiles while the others multiply.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
