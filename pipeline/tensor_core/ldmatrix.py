"""``ldmatrix`` and ``stmatrix``: a warp moves pieces of 8 rows by 16 bytes.

Lane 8 j + i gives the address of row i of piece j. Of each row every lane of a group of four gets 4
bytes: lane l gets those of row l div 4, from byte 4 (l mod 4) on. With ``.trans`` a piece is 8 x 8
elements of 16 bits and comes transposed: lane l gets the elements of rows 2 (l mod 4) and
2 (l mod 4) + 1 in column l div 4. (PTX ISA, ldmatrix and stmatrix, shape .m8n8, .b16.)
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import MisalignedError, ModelError, OutOfRangeError
from pipeline.tensor_core.fragments import PIECE_ROWS, coordinates
from pipeline.tensor_core.shapes import WARP, Shape

ROW_BYTES = 16
"""Bytes of a row of a piece."""

PIECES = (1, 2, 4)
"""Pieces that one instruction moves."""

HALF_BYTES = 2
"""Bytes of the elements that ``.trans`` transposes, and of half a register."""

_HALVES = 2


@cache
def sources(pieces: int, transposed: bool = False) -> NDArray[np.int64]:
    """Where the two 16-bit halves of every register come from.

    Parameters
    ----------
    pieces
        1, 2 or 4: the registers of each lane.
    transposed
        Whether it is ``.trans``.

    Returns
    -------
    (2, 32, pieces, 2) array, read-only
        For each lane, register and half: the lane that gives the address of the row, and the
        16-bit element within the row.

    Raises
    ------
    ModelError
        If no instruction moves that many pieces.
    """
    _require_pieces(pieces)
    lane, piece, half = np.ogrid[:WARP, :pieces, :_HALVES]
    across, along = lane // 4, _HALVES * (lane % 4) + half
    row, element = (along, across) if transposed else (across, along)
    found = np.stack(np.broadcast_arrays(PIECE_ROWS * piece + row, element))
    found.setflags(write=False)
    return found


def operand_rows(shape: Shape, operand: str, transposed: bool = False) -> NDArray[np.int64]:
    """Which rows the lanes must point at, so that ``ldmatrix`` loads a whole operand.

    Parameters
    ----------
    shape
        A shape of ``mma``.
    operand
        ``"A"``, ``"B"``, or ``"C"`` with its sums rounded to 16 bits, for ``stmatrix``.
    transposed
        False if the matrix in memory has what a lane holds side by side in its rows: A as M x K, B
        as N x K (its columns as rows), C as M x N. True for the other way round.

    Returns
    -------
    (8 pieces, 2) array
        Per lane the row of the matrix in memory, and the column (elements) where 16 bytes start.

    Raises
    ------
    ModelError
        If elements of another width than 16 bits are to be transposed, or it is wgmma's shape.
    """
    if shape.lanes != WARP:
        raise ModelError(
            f"{shape.name}: ldmatrix is an instruction of one warp; the shape has four"
        )
    together = _HALVES if operand == "C" else shape.per_register
    if transposed and together != _HALVES:
        raise ModelError(
            f"{shape.name}: .trans moves elements of 16 bits; those of {operand} have "
            f"{shape.element_bits}: keep the matrix so that K runs along its rows"
        )
    place = coordinates(shape, operand)
    held = place.reshape(WARP, -1, together, 2)
    # The first element of a row: with the first lane of a group, or, transposed, each element of
    # the first group is the start of a row.
    first = held[:4].transpose(1, 0, 2, 3) if transposed else held[::4, :, 0].transpose(1, 0, 2)
    rows = first.reshape(-1, 2)
    return rows[:, ::-1] if transposed != (operand == "B") else rows


def ldmatrix(
    memory: NDArray[Any],
    address: NDArray[np.integer[Any]],
    pieces: int,
    transposed: bool = False,
) -> NDArray[np.uint32]:
    """Load pieces from shared memory into registers, for any number of warps at once.

    Parameters
    ----------
    memory : (..., elements)
        Shared memory, elements of any type; leading axes broadcast with those of ``address``.
    address : (..., 8 * pieces or more)
        Byte address that each lane gives, a multiple of 16; those of further lanes are ignored.
    pieces
        1, 2 or 4.
    transposed
        Whether it is ``.trans``.

    Returns
    -------
    (..., 32, pieces) array
        Registers; ``.view(np.float16)`` and the like show the elements in them.

    Raises
    ------
    ModelError
        If the arguments do not fit together.
    MisalignedError, OutOfRangeError
        If a lane points at no multiple of 16 bytes, or outside the memory.
    """
    halves, index = _halves(np.ascontiguousarray(memory), address, pieces, transposed)
    found = np.take_along_axis(halves, _flat(index), axis=-1)
    in_order = np.ascontiguousarray(found.reshape(*found.shape[:-1], WARP, _HALVES * pieces))
    return in_order.view(np.uint32)


def stmatrix(
    memory: NDArray[Any],
    address: NDArray[np.integer[Any]],
    registers: NDArray[np.uint32],
    transposed: bool = False,
) -> None:
    """Store pieces from registers into shared memory, for any number of warps at once.

    Parameters
    ----------
    memory : (..., elements)
        Shared memory, changed in place; its leading axes are those of ``address``.
    address : (..., 8 * pieces or more)
        As in :func:`ldmatrix`. Rows of one instruction must not overlap.
    registers : (..., 32, pieces)
        As :func:`ldmatrix` gives them.
    transposed
        Whether it is ``.trans``.

    Raises
    ------
    ModelError
        If the arguments do not fit together, or two rows of one instruction overlap.
    MisalignedError, OutOfRangeError
        As for :func:`ldmatrix`.
    """
    registers = np.asarray(registers)
    if registers.dtype != np.uint32 or registers.ndim < 2 or registers.shape[-2] != WARP:
        raise ModelError(
            f"stmatrix: registers must be uint32 of shape (..., 32, pieces); given "
            f"{registers.dtype} of shape {registers.shape}; fragments become registers by "
            f".view(np.uint32)"
        )
    whole = isinstance(memory, np.ndarray) and memory.flags.c_contiguous
    if not whole or not memory.flags.writeable:
        raise ModelError(
            "stmatrix: the memory must be one whole array that can be written, not a part of one"
        )
    halves, index = _halves(memory, address, registers.shape[-1], transposed)
    if registers.shape[:-2] != index.shape[:-3]:
        raise ModelError(
            f"stmatrix: registers of shape {registers.shape} and addresses of shape "
            f"{np.shape(address)} are not of the same warps"
        )
    flat = _flat(index)
    ordered = np.sort(flat, axis=-1)
    if np.any(ordered[..., 1:] == ordered[..., :-1]):
        raise ModelError("stmatrix: two lanes point at one row; which of them wins is not defined")
    values = np.ascontiguousarray(registers).view(np.uint16).reshape(flat.shape)
    np.put_along_axis(halves, flat, values, axis=-1)


def _halves(
    memory: NDArray[Any], address: NDArray[np.integer[Any]], pieces: int, transposed: bool
) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """Show memory as 16-bit halves, and give the index of each half that is moved."""
    _require_pieces(pieces)
    lane, element = sources(pieces, transposed)
    address = np.asarray(address)
    used = PIECE_ROWS * pieces
    if memory.dtype.hasobject:
        raise ModelError("ldmatrix and stmatrix: shared memory holds numbers, not Python objects")
    if address.dtype.kind not in "iu" or address.ndim < 1 or address.shape[-1] < used:
        raise ModelError(
            f"ldmatrix and stmatrix of {pieces} pieces take whole numbers, the byte addresses of "
            f"{used} lanes; given {address.dtype} of shape {address.shape}"
        )
    size = memory.shape[-1] * memory.itemsize if memory.ndim else 0
    leading = memory.shape[:-1], address.shape[:-1]
    # A memory of one axis serves all warps; otherwise both have the same axes in front.
    if not size or (leading[0] and not _fit(*leading)):
        raise ModelError(
            f"ldmatrix and stmatrix: a memory of shape {memory.shape} and addresses of shape "
            f"{address.shape} do not fit; the last axes are elements and lanes, and the memory has "
            f"none in front of it or as many as the addresses, of equal length or of length 1"
        )
    if size % ROW_BYTES:
        raise ModelError(
            f"ldmatrix and stmatrix: the memory has {size} bytes; must be a multiple of 16"
        )
    given = address[..., :used].astype(np.int64)
    _check(given, size)
    front = leading[0] or (1,) * (address.ndim - 1)
    halves = memory.view(np.uint16).reshape(*front, size // HALF_BYTES)
    return halves, given[..., lane] // HALF_BYTES + element


def _require_pieces(pieces: int) -> None:
    """Refuse numbers of pieces that no instruction moves; what is cached takes 1.0 for 1."""
    if type(pieces) is not int or pieces not in PIECES:
        raise ModelError(f"ldmatrix and stmatrix move 1, 2 or 4 pieces; given {pieces}")


def _flat(index: NDArray[np.int64]) -> NDArray[np.int64]:
    """All halves of a warp in one row."""
    return index.reshape(*index.shape[:-3], math.prod(index.shape[-3:]))


def _fit(memory: tuple[int, ...], address: tuple[int, ...]) -> bool:
    """Whether each warp finds one memory."""
    return len(memory) == len(address) and all(
        one in (1, other) for one, other in zip(memory, address, strict=True)
    )


def _check(address: NDArray[np.int64], size: int) -> None:
    """Refuse rows that are not aligned, or not in a memory of ``size`` bytes."""
    for wrong, error, why in (
        (address % ROW_BYTES != 0, MisalignedError, "a row starts at a multiple of 16 bytes"),
        (
            (address < 0) | (address > size - ROW_BYTES),
            OutOfRangeError,
            f"shared memory has {size} bytes, and a row takes 16",
        ),
    ):
        if wrong.any():
            *_, lane = np.argwhere(wrong)[0]
            raise error(
                f"ldmatrix or stmatrix: lane {lane} points at byte {address[wrong][0]}; {why}"
            )
