"""k02: the same work, with the 32 threads of a warp along a row of C."""

from dataclasses import dataclass

from pipeline.kernels.kernel import Kernel, Launch, require
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray

ID = "k02_coalesced"


@dataclass(frozen=True)
class Options:
    """Tile parameters: a block computes ``bs`` by ``bs`` elements with a thread each."""

    bs: int = 32


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Let neighbouring threads take neighbouring columns: A broadcasts, B streams."""
    row = blk.bx * opt.bs + blk.tid // opt.bs
    col = blk.by * opt.bs + blk.tid % opt.bs
    total = blk.zeros()
    with blk.where((row < m) & (col < n)):
        for i in range(k):
            left = blk.load(a, row * k + i)
            right = blk.load(b, i * n + col)
            blk.ffma(left, right, total)
        blk.store(c, row * n + col, total)


def launch(opt: Options) -> Launch:
    """Launch bs * bs threads in a row; registers as in k01."""
    require(ID, opt, {"bs must be between 1 and 32": 1 <= opt.bs <= 32})
    return Launch((opt.bs * opt.bs, 1, 1), (opt.bs, opt.bs), 0, 32, (1, 1, 1))


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: A is one sector for all lanes, B is one line of four sectors."""
    warps = m * n // 32
    return {
        "gld_instr": 2 * k * warps,
        "gld_sectors": (1 + 4) * k * warps,
        "gld_lines": (1 + 1) * k * warps,
        "gst_instr": warps,
        "gst_sectors": 4 * warps,
        "gst_lines": warps,
        "ffma_instr": k * warps,
        "fma": m * n * k,
        "warp_instr": (3 * k + 1) * warps,
        "barriers": 0,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=2,
    label="coalesced",
    lifts="Threads of a warp take neighbouring columns, so that their loads share lines.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
