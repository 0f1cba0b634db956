"""Bring tiles of A and B into shared memory with 128-bit loads, as k06 and its successors do.

Also: take apart what one load read for several steps.

The tile of A is stored transposed, ``a_tile[k * bm + row]``, so that the values that a thread
multiplies stand side by side. All functions serve ``threads`` threads, numbered by ``thread``.
"""

from typing import Any

from numpy.typing import NDArray

from pipeline.kernels.kernel import Launch, require
from pipeline.simt.block import Block
from pipeline.simt.lanes import Lanes
from pipeline.simt.memory import GlobalArray, SharedArray

QUAD = 4


def rounds_fit(threads: int, rows: int, cols: int, width: int = QUAD) -> bool:
    """Say whether ``threads`` 128-bit loads cover a (rows, cols) tile in rounds of whole rows.

    A load moves ``width`` elements.
    """
    per_row = cols // width
    rows_at_once = max(1, threads // max(1, per_row))
    return cols % width == 0 and threads == rows_at_once * per_row and rows % rows_at_once == 0


def in_steps(values: NDArray[Any], steps: int) -> NDArray[Any]:
    """Part what a thread read of several rows, ``steps`` neighbours of each, by row and step.

    Parameters
    ----------
    values : (block, thread) or (block, thread, row * steps)
        What :meth:`Block.sload` gives.

    Returns
    -------
    (block, thread, row, steps)
        A view.
    """
    return values.reshape(*values.shape[:2], -1, steps)


def staged_launch(kernel_id: str, opt: Any, b_pitch: int) -> Launch:
    """Check options and return the launch configuration of k06 to k08.

    A thread per tm x tn elements; the tiles move in equal rounds of 128-bit loads.

    Parameters
    ----------
    kernel_id, opt
        Options with bm, bn, bk, tm and tn.
    b_pitch
        Words from one row of the tile of B in shared memory to the next.

    Raises
    ------
    LaunchError
        Naming every condition that does not hold.
    """
    bm, bn, bk, tm, tn = sizes = opt.bm, opt.bn, opt.bk, opt.tm, opt.tn
    require(kernel_id, opt, {"positive: every tile option must be at least 1": min(sizes) >= 1})
    quads = all(size % QUAD == 0 for size in sizes)
    require(kernel_id, opt, {"vector_width: every tile option must be a multiple of 4": quads})
    threads = bm // tm * (bn // tn)
    require(
        kernel_id,
        opt,
        {
            "divisibility: bm must be a multiple of tm, and bn of tn": bm % tm == 0
            and bn % tn == 0,
            "threads: bm / tm * bn / tn must be between 1 and 1024": 1 <= threads <= 1024,
            "divisibility: the tile of A must divide into rounds of whole rows": rounds_fit(
                threads, bm, bk
            ),
            "divisibility: the tile of B must divide into rounds of whole rows": rounds_fit(
                threads, bk, bn
            ),
        },
    )
    # As in k05: accumulators, both operands, and 48 for addresses and loop state.
    registers = tm * tn + tm + tn + 48
    return Launch((threads, 1, 1), (bm, bn), (bm + b_pitch) * bk * 4, registers, (bm, bn, bk))


def stage_a(
    blk: Block,
    a: GlobalArray,
    a_tile: SharedArray,
    origin: Lanes,
    pitch: int,
    bm: int,
    bk: int,
    thread: Lanes,
    threads: int,
) -> None:
    """Store the (bm, bk) tile of A whose first element is ``origin``, transposed: 4 STS.32."""
    row, col = thread // (bk // QUAD), thread % (bk // QUAD) * QUAD
    for r in range(0, bm, threads // (bk // QUAD)):
        quad = blk.load(a, origin + (row + r) * pitch + col, width=QUAD)
        for q in range(QUAD):
            blk.sstore(a_tile, (col + q) * bm + row + r, quad[..., q])


def stage_b(
    blk: Block,
    b: GlobalArray,
    b_tile: SharedArray,
    origin: Lanes,
    pitch: int,
    bk: int,
    bn: int,
    thread: Lanes,
    threads: int,
) -> None:
    """Store the (bk, bn) tile of B whose first element is ``origin`` as it is: 1 STS.128."""
    row, col = thread // (bn // QUAD), thread % (bn // QUAD) * QUAD
    for r in range(0, bk, threads // (bn // QUAD)):
        quad = blk.load(b, origin + (row + r) * pitch + col, width=QUAD)
        blk.sstore(b_tile, (row + r) * bn + col, quad, width=QUAD)
