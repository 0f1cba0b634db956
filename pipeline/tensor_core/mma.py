"""The warp-level ``mma`` instruction: D = A B + C from fragments."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelError
from pipeline.tensor_core.element_types import require_elements
from pipeline.tensor_core.fragments import coordinates, require_fragment
from pipeline.tensor_core.mma_fast import multiply_add
from pipeline.tensor_core.shapes import WARP, Shape

_BYTE_BITS = 8


def mma(
    shape: Shape, a: NDArray[Any], b: NDArray[Any], c: NDArray[np.float32] | NDArray[np.int32]
) -> NDArray[Any]:
    """Multiply fragments as a warp does, for any number of warps at once.

    Products are exact. Floating-point products are added to C in float64, in the order of K, and
    the sum is rounded to float32 once per instruction; the PTX ISA asks for at least single
    precision and leaves order and rounding open. Whole numbers wrap around at 32 bits, as without
    ``.satfinite``.

    Parameters
    ----------
    shape
        One of :data:`pipeline.tensor_core.shapes.MMA_SHAPES`.
    a, b : (..., 32, elements)
        Fragments of A and B, of one of the types of the shape. Elements of 8 bits may be of two
        types, if both are floating-point or both whole.
    c : (..., 32, 4)
        Fragments of C: float32, or int32 for whole numbers.

    Returns
    -------
    (..., 32, 4) array
        Fragments of D, of the type of C.

    Raises
    ------
    ModelError
        If a fragment does not fit the shape, in form or in type, or the leading axes do not
        broadcast.
    """
    if shape.lanes != WARP:
        raise ModelError(
            f"{shape.name}: mma is an instruction of one warp and wgmma of four, which read B from "
            f"shared memory; take one of the shapes m16n8k..."
        )
    held = [
        require_fragment(values, shape, operand)
        for operand, values in zip("ABC", (a, b, c), strict=True)
    ]
    whole = _require_types(shape, *held)
    batch = _batch(shape, held)
    exact, given = (np.int64, np.int32) if whole else (np.float64, np.float32)
    # Converted before they are repeated: what several warps multiply is converted once.
    rows = [_row_by_warp(one.astype(given, order="C"), batch) for one in held]
    places = [_places(shape, operand) for operand in "ABC"]
    room = np.empty(sum(place.size for place in places), exact)
    out = np.empty_like(rows[2])
    multiply_add(
        rows[0],
        rows[1],
        rows[2],
        places[0],
        places[1],
        places[2],
        (shape.m, shape.n, shape.k),
        room,
        out,
    )
    return out.reshape(*batch, *held[2].shape[-2:])


def _row_by_warp(held: NDArray[Any], batch: tuple[int, ...]) -> NDArray[Any]:
    """All that a warp holds in one row, a row for each warp."""
    lanes, elements = held.shape[-2:]
    return np.broadcast_to(held, (*batch, lanes, elements)).reshape(-1, lanes * elements)


def _places(shape: Shape, operand: str) -> NDArray[np.int64]:
    """Element of the operand, row by row, that each element of a fragment is."""
    place = coordinates(shape, operand)
    return (place[..., 0] * shape.extent(operand)[1] + place[..., 1]).ravel()


def _require_types(shape: Shape, a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> bool:
    """Refuse types that no instruction multiplies; say whether the numbers are whole."""
    for operand, values in (("A", a), ("B", b)):
        require_elements(f"{shape.name}, {operand}", values, shape.types)
    whole = a.dtype.kind in "iu"
    alike = (
        whole == (b.dtype.kind in "iu") if shape.element_bits == _BYTE_BITS else a.dtype == b.dtype
    )
    if not alike:
        raise ModelError(
            f"{shape.name}: no instruction multiplies A of {a.dtype} by B of {b.dtype}; their "
            f"types must be equal, or for 8 bits both whole or both floating-point"
        )
    wanted = np.dtype(np.int32 if whole else np.float32)
    if c.dtype != wanted:
        raise ModelError(
            f"{shape.name}, C: given elements of numpy type {c.dtype}; "
            f"sums of {a.dtype} are {wanted}"
        )
    return whole


def _batch(shape: Shape, held: list[NDArray[Any]]) -> tuple[int, ...]:
    """Leading axes that fragments have together."""
    leading = [one.shape[:-2] for one in held]
    try:
        return np.broadcast_shapes(*leading)
    except ValueError:
        a, b, c = leading
        raise ModelError(
            f"{shape.name}: the axes before the lanes do not fit: {a}, {b} and {c}"
        ) from None
