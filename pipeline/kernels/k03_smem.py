"""k03: blocks of A and B pass through shared memory and are read from there 32 times."""

from dataclasses import dataclass
from typing import Literal

from pipeline.kernels.kernel import Kernel, Launch, require
from pipeline.kernels.staging import QUAD, in_steps
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray

ID = "k03_smem"


@dataclass(frozen=True)
class Options:
    """Tile edge, and which barrier to leave out, to see what it is for.

    ``wide_loads`` reads the tile of A in fours, as the compiler does: four steps of a row stand
    side by side.
    """

    bs: int = 32
    drop_sync: Literal["none", "first", "second"] = "none"
    wide_loads: bool = False


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Fill two tiles, wait, multiply them out of shared memory, wait, go on."""
    bs, width = opt.bs, QUAD if opt.wide_loads else 1
    row, col = blk.tid // bs, blk.tid % bs
    first_row, first_col = blk.bx * bs, blk.by * bs
    a_tile, b_tile = blk.shared("a_tile", bs * bs), blk.shared("b_tile", bs * bs)
    total = blk.zeros()
    for step in range(0, k, bs):
        from_a = blk.load(a, (first_row + row) * k + step + col)
        from_b = blk.load(b, (step + row) * n + first_col + col)
        blk.sstore(a_tile, row * bs + col, from_a)
        blk.sstore(b_tile, row * bs + col, from_b)
        if opt.drop_sync != "first":
            blk.sync()  # the tiles are full
        for i in range(0, bs, width):
            left = in_steps(blk.sload(a_tile, row * bs + i, width=width), width)
            for q in range(width):
                right = blk.sload(b_tile, (i + q) * bs + col)
                blk.ffma(left[..., 0, q], right, total)
        if opt.drop_sync != "second":
            blk.sync()  # everyone has read; the next step may overwrite
    blk.store(c, (first_row + row) * n + first_col + col, total)


def launch(opt: Options) -> Launch:
    """Launch bs * bs threads; registers hold k02's plus addresses of two tiles."""
    require(
        ID,
        opt,
        {
            "bs must be between 1 and 32": 1 <= opt.bs <= 32,
            "drop_sync must be none, first or second": opt.drop_sync in ("none", "first", "second"),
            "wide_loads needs bs to be a multiple of 4": not opt.wide_loads or opt.bs % QUAD == 0,
        },
    )
    bs = opt.bs
    return Launch((bs * bs, 1, 1), (bs, bs), 2 * bs * bs * 4, 40, (bs, bs, bs))


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: global loads fall 32-fold; two shared reads per multiply-add remain."""
    warps, steps = m * n // 32, k // 32
    return {
        "gld_instr": 2 * steps * warps,
        "gld_sectors": 2 * 4 * steps * warps,
        "gld_lines": 2 * steps * warps,
        "gst_instr": warps,
        "gst_sectors": 4 * warps,
        "gst_lines": warps,
        "sts_instr": 2 * steps * warps,
        "sts_wavefronts": 2 * steps * warps,
        "lds_instr": 2 * k * warps,
        "lds_wavefronts": 2 * k * warps,
        "ideal_smem_wavefronts": 2 * (k + steps) * warps,
        "ffma_instr": k * warps,
        "fma": m * n * k,
        "barriers": 2 * steps * (m // 32) * (n // 32),
        "warp_instr": (3 * k + 6 * steps + 1) * warps,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=3,
    label="shared memory",
    lifts="Tiles of A and B are kept in shared memory, where each value is used 32 times.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
