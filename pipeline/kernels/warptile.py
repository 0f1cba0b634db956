"""The warp tiles of k10 to k12: each warp owns a (wm, wn) part of the block's tile of C.

A warp covers its part in ``wmiter`` by ``wniter`` passes of (sub_m, sub_n) elements; a thread
computes (tm, tn) elements in each.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.kernels.kernel import Launch, require
from pipeline.kernels.staging import QUAD, rounds_fit
from pipeline.simt.block import Block
from pipeline.simt.lanes import Lanes
from pipeline.simt.memory import GlobalArray, SharedArray

WARP = 32


@dataclass(frozen=True)
class WarpTiles:
    """Geometry that follows from a kernel's options.

    Attributes
    ----------
    wmiter, wniter
        Passes per warp along rows and columns.
    sub_m, sub_n
        Rows and columns of a pass.
    """

    bm: int
    bn: int
    wm: int
    wn: int
    wmiter: int
    wniter: int
    sub_m: int
    sub_n: int
    tm: int
    tn: int

    @classmethod
    def of(cls, opt: Any) -> "WarpTiles":
        """Derive the geometry; the options must have passed :func:`checked_launch`."""
        wmiter = opt.wm * opt.wn // (WARP * opt.tm * opt.tn * opt.wniter)
        sub_m, sub_n = opt.wm // wmiter, opt.wn // opt.wniter
        return cls(opt.bm, opt.bn, opt.wm, opt.wn, wmiter, opt.wniter, sub_m, sub_n, opt.tm, opt.tn)

    def origin(self, blk: Block) -> tuple[Lanes, Lanes]:
        """Row and column, within the block's tile, of each thread's first element."""
        across = self.sub_n // self.tn
        row = blk.warp // (self.bn // self.wn) * self.wm + blk.lane // across * self.tm
        col = blk.warp % (self.bn // self.wn) * self.wn + blk.lane % across * self.tn
        return row, col

    def multiply(
        self, blk: Block, a_tile: SharedArray, b_tile: SharedArray, bk: int, total: NDArray[Any]
    ) -> None:
        """Add the products of two tiles to ``total``, with 128-bit reads."""
        row, col = self.origin(blk)
        for i in range(bk):
            left = [
                blk.sload(
                    a_tile,
                    i * self.bm + row + part * self.sub_m,
                    width=QUAD,
                    repeat=self.tm // QUAD,
                    step=QUAD,
                )
                for part in range(self.wmiter)
            ]
            right = [
                blk.sload(
                    b_tile,
                    i * self.bn + col + part * self.sub_n,
                    width=QUAD,
                    repeat=self.tn // QUAD,
                    step=QUAD,
                )
                for part in range(self.wniter)
            ]
            blk.ffma(np.concatenate(left, axis=-1), np.concatenate(right, axis=-1), total)

    def store(
        self, blk: Block, c: GlobalArray, origin: Lanes, pitch: int, total: NDArray[Any]
    ) -> None:
        """Store ``total`` to C, whose tile begins at element ``origin``."""
        row, col = self.origin(blk)
        for down in range(self.wmiter):
            for right in range(self.wniter):
                for r in range(self.tm):
                    for q in range(0, self.tn, QUAD):
                        place = origin + (row + down * self.sub_m + r) * pitch
                        i, j = down * self.tm + r, right * self.tn + q
                        blk.store(
                            c,
                            place + col + right * self.sub_n + q,
                            total[..., i, j : j + QUAD],
                            width=QUAD,
                        )


def checked_launch(kernel_id: str, opt: Any, stagers: int, buffers: int, overhead: int) -> Launch:
    """Check options and return the launch configuration.

    Parameters
    ----------
    kernel_id, opt
        Options with bm, bn, bk, wm, wn, wniter, tm, tn and threads.
    stagers
        Threads that move tiles together.
    buffers
        Copies of each tile in shared memory.
    overhead
        Registers beside accumulators and operands; with the default tiles this gives what nvcc 13.0
        reports for the CUDA twin on sm_86.
    """
    sizes = (opt.bm, opt.bn, opt.bk, opt.wm, opt.wn, opt.wniter, opt.tm, opt.tn, opt.threads)
    require(kernel_id, opt, {"positive: every option must be at least 1": min(sizes) >= 1})
    per_pass = WARP * opt.tm * opt.tn * opt.wniter
    require(
        kernel_id,
        opt,
        {
            "vector_width: bk, tm and tn must be multiples of 4": opt.bk % 4
            == opt.tm % 4
            == opt.tn % 4
            == 0,
            "divisibility: bm must be a multiple of wm, and bn of wn": opt.bm % opt.wm
            == opt.bn % opt.wn
            == 0,
            "divisibility: wm * wn must be a multiple of 32 tm tn wniter": opt.wm
            * opt.wn
            % per_pass
            == 0,
            "divisibility: wn must be a multiple of wniter tn": opt.wn % (opt.wniter * opt.tn) == 0,
            "threads: there must be 32 per warp tile": opt.threads * opt.wm * opt.wn
            == WARP * opt.bm * opt.bn,
            "threads: at most 1024": opt.threads <= 1024,
        },
    )
    tiles = WarpTiles.of(opt)
    across = tiles.sub_n // opt.tn
    require(
        kernel_id,
        opt,
        {
            "divisibility: a pass must have 32 threads": WARP % across == 0
            and tiles.sub_m * across == WARP * opt.tm,
            "divisibility: the tile of A must divide into rounds of whole rows": rounds_fit(
                stagers, opt.bm, opt.bk
            ),
            "divisibility: the tile of B must divide into rounds of whole rows": rounds_fit(
                stagers, opt.bk, opt.bn
            ),
        },
    )
    down, right = tiles.wmiter * opt.tm, tiles.wniter * opt.tn
    return Launch(
        block=(opt.threads, 1, 1),
        tile=(opt.bm, opt.bn),
        smem_bytes=buffers * (opt.bm + opt.bn) * opt.bk * 4,
        registers=down * right + down + right + overhead,
        multiple=(opt.bm, opt.bn, opt.bk),
    )
