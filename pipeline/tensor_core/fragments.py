"""Which lane holds which element of A, B and C: fragments.

One rule gives all of them. A register of 32 bits holds r neighbours along K: one of 32 bits, two
of 16, four of 8. Four lanes side by side hold 16 bytes of a row, and eight groups of four lanes
hold eight rows. So one register of all lanes is a piece of 8 rows by 16 bytes, and an operand is
pieces side by side::

    A   piece j: rows from 8 (j mod 2), columns from 4 r (j div 2); r neighbours in a row
    B   piece j: rows from 4 r j; lanes and elements as for A, but rows and columns changed over
    C   as A with r = 2: two sums of 32 bits stand side by side, in two registers

With g = lane div 4 and t = lane mod 4 that is, for element e of A, with j = e div r,

    row = g + 8 (j mod 2)          column = r t + e mod r + 4 r (j div 2)

which is how the PTX ISA states each shape by itself (Warp-level matrix instructions, Matrix
fragments for mma.m16n8k4, .m16n8k8, .m16n8k16, .m16n8k32; Asynchronous warpgroup-level matrix
instructions, Register fragments). The four warps of wgmma have 16 rows each.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelError
from pipeline.tensor_core.shapes import WARP, WARP_ROWS, Shape

PIECE_ROWS = 8
"""Rows of a piece, that is groups of lanes."""

_GROUP = 4
_SUMS_PER_PAIR = 2


@cache
def coordinates(shape: Shape, operand: str) -> NDArray[np.int64]:
    """Row and column of every element that a lane holds.

    Parameters
    ----------
    shape
        One of :data:`pipeline.tensor_core.shapes.MMA_SHAPES`, or a shape of ``wgmma``.
    operand
        ``"A"``, ``"B"`` or ``"C"``, which stands for D as well.

    Returns
    -------
    (lanes, elements, 2) array, read-only
        Of operand A, B (of B the row is along K) or C.

    Raises
    ------
    ModelError
        If the operand does not lie in registers.
    """
    shape.require(operand)
    per_register = _SUMS_PER_PAIR if operand == "C" else shape.per_register
    rows, columns = shape.extent(operand)
    lane = np.arange(shape.lanes)[:, None]
    element = np.arange(rows * columns // shape.lanes)
    warp, group, within = lane // WARP, lane % WARP // _GROUP, lane % _GROUP
    piece = element // per_register
    # B has eight columns, one piece; A and C have two pieces one below the other.
    stacked = 1 if operand == "B" else WARP_ROWS // PIECE_ROWS
    across = WARP_ROWS * warp + group + PIECE_ROWS * (piece % stacked)
    along = per_register * (within + _GROUP * (piece // stacked)) + element % per_register
    pair = (along, across) if operand == "B" else (across, along)
    found = np.stack(np.broadcast_arrays(*pair), axis=-1)
    found.setflags(write=False)
    return found


def fragment(matrix: NDArray[Any], shape: Shape, operand: str) -> NDArray[Any]:
    """Hand the elements of a matrix to the lanes.

    Parameters
    ----------
    matrix : (..., rows, columns)
        The operand.
    shape, operand
        As in :func:`coordinates`.

    Returns
    -------
    (..., lanes, elements) array

    Raises
    ------
    ModelError
        If the matrix has another shape, or the operand does not lie in registers.
    """
    shape.require(operand)
    matrix = np.asarray(matrix)
    rows, columns = shape.extent(operand)
    if matrix.shape[-2:] != (rows, columns):
        raise ModelError(
            f"{shape.name}: {operand} has {rows} x {columns} elements; given an array of shape "
            f"{matrix.shape}, whose last two axes must be these"
        )
    place = coordinates(shape, operand)
    flat = matrix.reshape(*matrix.shape[:-2], rows * columns)
    return flat[..., place[..., 0] * columns + place[..., 1]]


def matrix(held: NDArray[Any], shape: Shape, operand: str) -> NDArray[Any]:
    """Put what the lanes hold back in its place: the inverse of :func:`fragment`.

    Parameters
    ----------
    held : (..., lanes, elements)
        Fragments.
    shape, operand
        As in :func:`coordinates`.

    Returns
    -------
    (..., rows, columns) array

    Raises
    ------
    ModelError
        If there are not that many lanes and elements, or the operand does not lie in registers.
    """
    held = require_fragment(held, shape, operand)
    rows, columns = shape.extent(operand)
    place = coordinates(shape, operand)
    # Every element is held once, so to scatter is to gather by the inverse permutation.
    order = np.argsort((place[..., 0] * columns + place[..., 1]).ravel())
    batch = held.shape[:-2]
    return held.reshape(*batch, rows * columns)[..., order].reshape(*batch, rows, columns)


def require_fragment(held: NDArray[Any], shape: Shape, operand: str) -> NDArray[Any]:
    """Give fragments back if their last axes are the lanes and elements of an operand.

    Raises
    ------
    ModelError
        If they are not.
    """
    held = np.asarray(held)
    lanes, elements = coordinates(shape, operand).shape[:2]
    if held.shape[-2:] != (lanes, elements):
        raise ModelError(
            f"{shape.name}: each of {lanes} lanes holds {elements} elements of {operand}; given an "
            f"array of shape {held.shape}, whose last two axes must be ({lanes}, {elements})"
        )
    return held
