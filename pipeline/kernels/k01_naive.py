"""k01: every thread computes one element of C from a row of A and a column of B."""

from dataclasses import dataclass

from pipeline.kernels.kernel import Kernel, Launch, require
from pipeline.simt.block import Block
from pipeline.simt.memory import GlobalArray

ID = "k01_naive"


@dataclass(frozen=True)
class Options:
    """Tile parameters: a block of ``bs`` by ``bs`` threads."""

    bs: int = 32


def body(
    blk: Block, a: GlobalArray, b: GlobalArray, c: GlobalArray, m: int, n: int, k: int, opt: Options
) -> None:
    """Let ``threadIdx.x`` choose the row, so that a warp reads 32 rows of A at once."""
    row = blk.bx * opt.bs + blk.tx
    col = blk.by * opt.bs + blk.ty
    total = blk.zeros()
    with blk.where((row < m) & (col < n)):
        for i in range(k):
            left = blk.load(a, row * k + i)
            right = blk.load(b, i * n + col)
            blk.ffma(left, right, total)
        blk.store(c, row * n + col, total)


def launch(opt: Options) -> Launch:
    """Launch bs x bs threads; registers hold an accumulator, two operands and addresses."""
    require(ID, opt, {"bs must be between 1 and 32": 1 <= opt.bs <= 32})
    return Launch((opt.bs, opt.bs, 1), (opt.bs, opt.bs), 0, 32, (1, 1, 1))


def expected(m: int, n: int, k: int) -> dict[str, int]:
    """Count by hand: 32 rows of A are 32 lines, one element of B is one, whatever the step."""
    warps = m * n // 32
    return {
        "gld_instr": 2 * k * warps,
        "gld_sectors": (32 + 1) * k * warps,
        "gld_lines": (32 + 1) * k * warps,
        "gst_instr": warps,
        "gst_sectors": 32 * warps,
        "gst_lines": 32 * warps,
        "ffma_instr": k * warps,
        "fma": m * n * k,
        "warp_instr": (3 * k + 1) * warps,
        "barriers": 0,
        "race_count": 0,
    }


KERNEL = Kernel(
    id=ID,
    number=1,
    label="naive",
    lifts="One thread per element of C; a warp reads 32 rows of A at once.",
    options=Options,
    body=body,
    launch=launch,
    expected=expected,
)
