"""Tiles of halves in shared memory, laid out so that ``ldmatrix`` meets more or fewer conflicts.

An 8 x 8 matrix is eight rows of 16 bytes. Where rows of a tile are 128 bytes or a multiple of that
apart, all eight begin in the same banks and are read one after the other.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.simt.block import Block
from pipeline.simt.lanes import Lanes
from pipeline.simt.memory import GlobalArray
from pipeline.tensor_core import layouts
from pipeline.tensor_core.layouts import Layout, Swizzle

HALF_BYTES = 2
OCTET = 8
"""Halves in 16 bytes: what a thread moves at a time, and a row of an 8 x 8 matrix."""

MATRIX = 16
"""Rows and columns of four 8 x 8 matrices, which ``ldmatrix`` reads together."""

LayoutName = Literal["plain", "padded", "xor_swizzle"]
Place = Lanes | int


def layout_of(name: LayoutName, cols: int) -> Layout:
    """How rows of ``cols`` halves lie in shared memory.

    The swizzle is that of the lecture, with a shift that suits longer rows: the number of the row
    is XORed into that of the 16 bytes, or of the 128 bytes that hold several rows.
    """
    row_bytes = cols * HALF_BYTES
    if name != "xor_swizzle":
        return layouts.LAYOUTS[name](row_bytes)
    bits, base, shift = 3, 4, row_bytes.bit_length() - 1 - 4
    return Layout(row_bytes, swizzle=Swizzle(bits, base, max(bits, shift)))


class HalfTile:
    """A tile in shared memory; where its elements lie is computed once and kept.

    Parameters
    ----------
    blk
        The blocks that have it.
    name, rows, cols
        Its name and size.
    layout
        How it lies in shared memory.
    """

    def __init__(self, blk: Block, name: str, rows: int, cols: int, layout: LayoutName) -> None:
        self._blk, self._layout = blk, layout_of(layout, cols)
        self._array = blk.shared(name, self._layout.size(rows) // HALF_BYTES, np.float16)
        per_row = cols // OCTET
        col = blk.tid % per_row * OCTET
        self._staged = []
        for first in range(0, rows, blk.n_threads // per_row):
            row = blk.tid // per_row + first
            self._staged.append((row, col, self._place(row, col)))

    def _place(self, row: Place, col: Place) -> NDArray[np.int64]:
        """Index of an element from which on eight neighbours of a row stand side by side."""
        byte = np.asarray(col) * HALF_BYTES
        return self._layout.address(np.asarray(row), byte, OCTET * HALF_BYTES) // HALF_BYTES

    def stage(self, matrix: GlobalArray, origin: Lanes, pitch: int) -> None:
        """Copy the part of a matrix whose first element is ``origin``, 16 bytes at a time."""
        for row, col, place in self._staged:
            octet = self._blk.load(matrix, origin + row * pitch + col, width=OCTET)
            self._blk.sstore(self._array, place, octet, width=OCTET)

    def parts(self, corners: Sequence[tuple[Place, Place]]) -> list[NDArray[np.int64]]:
        """Index of the row that each lane names, of 16 x 16 parts that begin at ``corners``."""
        row, col = self._blk.lane % MATRIX, self._blk.lane // MATRIX * OCTET
        return [self._place(top + row, left + col) for top, left in corners]

    def fragments(self, parts: Sequence[NDArray[np.int64]], trans: bool = False) -> NDArray[Any]:
        """Read 16 x 16 parts, (block, thread, part, 8)."""
        read = [self._blk.ldmatrix(self._array, place, trans=trans) for place in parts]
        return np.stack(read, axis=2)
