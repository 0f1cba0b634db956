"""Bank conflicts of a layout: wavefronts of access patterns, and the cheapest layout without any.

Lanes are served in groups that ask for 128 bytes at most: all 32 for 4 bytes each, eight for 16
bytes. ``ldmatrix`` is such a pattern: a piece of eight rows of 16 bytes is a group. Without
conflicts a group takes one wavefront.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.banks import busiest, groups_of, words_of
from pipeline.errors import MisalignedError, ModelError
from pipeline.tensor_core.layouts import UNCHANGED, WAVEFRONT_BYTES, Layout, Swizzle, whole_numbers
from pipeline.tensor_core.ldmatrix import HALF_BYTES, ROW_BYTES, operand_rows
from pipeline.tensor_core.shapes import MMA_SHAPES, WARP

ACCESS_BYTES = (1, 2, 4, 8, 16)

# Of the instruction that loads a tile of 16 x 16 elements of 16 bits as four pieces.
_TILE = operand_rows(MMA_SHAPES["m16n8k16"], "A")
TILE_PIECES = 4
TILE_ROWS = 16
TILE_BYTES = 32


@dataclass(frozen=True)
class Pattern:
    """Which places of a tile the lanes of each instruction access together.

    Attributes
    ----------
    row, byte : (instructions, lanes)
        Place of each lane: row, and byte within the row. Lanes fill their groups.
    access_bytes
        Bytes per lane: 1, 2, 4, 8 or 16.

    Raises
    ------
    ModelError
        If that is no pattern.
    """

    row: NDArray[np.int64]
    byte: NDArray[np.int64]
    access_bytes: int

    def __post_init__(self) -> None:
        """Refuse what the class says it does not take."""
        if self.access_bytes not in ACCESS_BYTES:
            raise ModelError(
                f"access pattern: given accesses of {self.access_bytes} bytes; must be one of "
                f"{', '.join(map(str, ACCESS_BYTES))}"
            )
        row, byte = (whole_numbers("access pattern", one) for one in (self.row, self.byte))
        fits = row.ndim == 2 and row.shape == byte.shape and row.size > 0
        if not fits or row.shape[1] % self.together:
            raise ModelError(
                f"access pattern: rows and bytes must be arrays of one shape (instructions, lanes) "
                f"with a multiple of {self.together} lanes; given {row.shape} and {byte.shape}"
            )
        # Lists become arrays.
        object.__setattr__(self, "row", row)
        object.__setattr__(self, "byte", byte)

    @property
    def together(self) -> int:
        """Lanes of a group."""
        return WARP // groups_of(self.access_bytes)

    @property
    def ideal(self) -> int:
        """Wavefronts of an instruction without conflicts."""
        return self.row.shape[1] // self.together

    @property
    def rows(self) -> int:
        """Rows that the tile has at least."""
        return int(self.row.max()) + 1


def wavefronts(pattern: Pattern, layout: Layout) -> NDArray[np.int64]:
    """Count the wavefronts of every instruction of a pattern.

    Parameters
    ----------
    pattern, layout
        What is accessed, and where it lies.

    Returns
    -------
    (instructions,) array

    Raises
    ------
    OutOfRangeError, MisalignedError
        If the layout has no such place, or tears an access.
    """
    address = layout.address(pattern.row, pattern.byte, pattern.access_bytes)
    words = words_of(address, pattern.access_bytes)
    groups = words.reshape(len(address), pattern.ideal, -1)
    return busiest(groups).sum(axis=1)


def tile_loads(row0: NDArray[np.integer[Any]], byte0: NDArray[np.integer[Any]]) -> Pattern:
    """``ldmatrix.x4`` of tiles of 16 rows by 32 bytes, such as 16 x 16 elements of fp16.

    Parameters
    ----------
    row0, byte0 : (tiles,)
        First row and first byte of each tile.
    """
    row0, byte0 = (
        np.atleast_1d(whole_numbers(f"tile, first {name}", given))
        for name, given in (("row", row0), ("byte", byte0))
    )
    row, column = _TILE.T
    return Pattern(row0[:, None] + row, byte0[:, None] + column * HALF_BYTES, ROW_BYTES)


def cheapest_layout(pattern: Pattern, row_bytes: int, rows: int | None = None) -> Layout:
    """Find the layout without bank conflicts that wastes the fewest bytes.

    Of two that waste the same, plain rows are simpler than a swizzle, that simpler than padding,
    and that than both; then fewer bits, a smaller base, a smaller shift, less padding. Looked at
    are all paddings below 128 bytes, where banks begin anew, and all swizzles that take bits from
    above and change which bank a whole access lies in.

    Parameters
    ----------
    pattern
        What must not conflict.
    row_bytes
        Bytes of a row that are used.
    rows
        Rows of the tile; as many as the pattern needs unless given.

    Returns
    -------
    Layout

    Raises
    ------
    ModelError
        If none of them is without conflicts, or the pattern does not fit the rows.
    """
    rows = pattern.rows if rows is None else rows
    if pattern.rows > rows:
        raise ModelError(f"cheapest layout: the pattern has {pattern.rows} rows, the tile {rows}")
    fewest = None
    for layout in candidates(pattern.access_bytes, row_bytes, rows):
        taken = _taken(pattern, layout)
        if taken == pattern.ideal * len(pattern.row):
            return layout
        if taken is not None and (fewest is None or taken < fewest[0]):
            fewest = taken, layout
    if fewest is None:
        raise ModelError(
            f"cheapest layout: accesses of this pattern start at no multiple of their "
            f"{pattern.access_bytes} bytes, however rows are padded"
        )
    raise ModelError(
        f"cheapest layout: neither padding nor swizzle frees this pattern of conflicts, that is "
        f"brings it down to {pattern.ideal * len(pattern.row)} wavefronts; the best, {fewest[1]}, "
        f"takes {fewest[0]}"
    )


def _taken(pattern: Pattern, layout: Layout) -> int | None:
    """Wavefronts of the whole pattern; None if rows of this layout tear accesses."""
    try:
        return int(wavefronts(pattern, layout).sum())
    except MisalignedError:
        return None


def candidates(access_bytes: int, row_bytes: int, rows: int) -> list[Layout]:
    """List the layouts that :func:`cheapest_layout` looks at, the best first.

    Parameters
    ----------
    access_bytes
        Bytes per lane; they stay together.
    row_bytes, rows
        Of the tile.
    """
    paddings = range(-row_bytes % access_bytes, WAVEFRONT_BYTES, access_bytes)
    found = [
        Layout(row_bytes, padding, swizzle)
        for padding in paddings
        for swizzle in _swizzles(access_bytes, rows * (row_bytes + padding))
    ]
    return sorted(found, key=lambda layout: (layout.extra_bytes(rows), *_complexity(layout)))


def _complexity(layout: Layout) -> tuple[int, ...]:
    swizzle = layout.swizzle
    kind = 2 * bool(layout.padding) + bool(swizzle.bits)
    return kind, swizzle.bits, swizzle.base, swizzle.shift, layout.padding


def _swizzles(access_bytes: int, size: int) -> Iterator[Swizzle]:
    """Every swizzle that changes banks within ``size`` bytes and tears no access."""
    yield UNCHANGED
    low, high = (max(access_bytes, 4).bit_length() - 1, WAVEFRONT_BYTES.bit_length() - 1)
    for base in range(low, high):
        for bits in range(1, high - base + 1):
            for shift in range(bits, size.bit_length() - base):
                yield Swizzle(bits, base, shift)
