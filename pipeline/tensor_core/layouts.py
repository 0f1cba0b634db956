"""Where a tile lies in shared memory: plain rows, padded rows, and the XOR swizzle.

A swizzle takes ``bits`` bits of an address, from bit ``base + shift`` on, and XORs them into the
bits from ``base`` on: CuTe's ``Swizzle<bits, base, shift>``. The lecture's is (3, 4, 3) on byte
addresses: the number of the 128-byte line, modulo 8, is XORed into the number of the 16-byte chunk
in it, so that eight rows of 128 bytes have one column of chunks in eight different places.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.banks import BANKS, WORD_BYTES
from pipeline.errors import MisalignedError, ModelError, OutOfRangeError

WAVEFRONT_BYTES = BANKS * WORD_BYTES
CHUNK_BYTES = 16
"""What a lane of ``ldmatrix`` points at: the widest access."""


def whole_numbers(owner: str, values: Any) -> NDArray[np.int64]:
    """Give numbers as an array of int64.

    Parameters
    ----------
    owner
        Whose numbers they are, for the message.
    values
        Of any shape.

    Raises
    ------
    ModelError
        If they are of another type: fractions are not cut off.
    """
    found = np.asarray(values)
    if found.dtype.kind not in "iu":
        raise ModelError(f"{owner}: must be whole numbers; given numpy type {found.dtype}")
    return found.astype(np.int64, copy=False)


def _is_whole(*values: Any) -> bool:
    return all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in values)


@dataclass(frozen=True)
class Swizzle:
    """XOR some bits of an address into others; without bits nothing changes.

    Attributes
    ----------
    bits
        How many.
    base
        Lowest bit that is changed; the bits below stay, so ``2**base`` bytes stay together.
    shift
        From the changed bits to those that change them: ``bits`` or more upwards, or, if it is
        negative, downwards.

    Raises
    ------
    ModelError
        If a parameter is no whole number or negative, or the two groups of bits overlap.
    """

    bits: int = 0
    base: int = 0
    shift: int = 0

    def __post_init__(self) -> None:
        """Refuse what the class says it does not take."""
        whole = _is_whole(self.bits, self.base, self.shift)
        if not whole or self.bits < 0 or self.base < 0 or abs(self.shift) < self.bits:
            raise ModelError(
                f"swizzle ({self.bits}, {self.base}, {self.shift}): bits, base and shift must be "
                f"whole numbers, bits and base at least 0, and shift at least bits, up or down"
            )

    def __call__(self, offset: NDArray[np.integer[Any]] | int) -> NDArray[np.int64]:
        """Swizzle offsets of any shape.

        Raises
        ------
        ModelError
            If an offset is no whole number.
        """
        given = whole_numbers(f"swizzle {self}, offsets", offset)
        mask = (1 << self.bits) - 1
        taken = given >> (self.base + max(0, self.shift)) & mask
        return given ^ taken << self.changed

    @property
    def changed(self) -> int:
        """Lowest bit that changes."""
        return self.base + max(0, -self.shift)

    @property
    def block(self) -> int:
        """Size of the aligned blocks within which offsets change places."""
        return 1 << (self.changed + self.bits) if self.bits else 1

    def on_elements(self, element_bytes: int) -> "Swizzle":
        """Give the same swizzle for offsets counted in elements instead of bytes.

        Raises
        ------
        ModelError
            If it would move parts of an element.
        """
        smaller = element_bytes.bit_length() - 1
        if element_bytes < 1 or element_bytes != 1 << smaller or smaller > self.base:
            raise ModelError(
                f"swizzle {self}: keeps {1 << self.base} bytes together, which elements of "
                f"{element_bytes} bytes must divide"
            )
        return Swizzle(self.bits, self.base - smaller, self.shift)

    def __str__(self) -> str:
        """Write the parameters as CuTe does."""
        return f"({self.bits}, {self.base}, {self.shift})"


UNCHANGED = Swizzle()
LECTURE_SWIZZLE = Swizzle(3, 4, 3)


@dataclass(frozen=True)
class Layout:
    """Rows one after the other, with or without room between them, then swizzled.

    Attributes
    ----------
    row_bytes
        Bytes of a row that are used.
    padding
        Bytes behind each row that are not.
    swizzle
        Of byte addresses.

    Raises
    ------
    ModelError
        If there is less than one byte in a row, or less than no padding.
    """

    row_bytes: int
    padding: int = 0
    swizzle: Swizzle = UNCHANGED

    def __post_init__(self) -> None:
        """Refuse what the class says it does not take."""
        if not (_is_whole(self.row_bytes, self.padding) and self.row_bytes > 0 <= self.padding):
            raise ModelError(
                f"layout: a row has at least 1 byte and no less than 0 of padding, whole numbers; "
                f"given {self.row_bytes} and {self.padding}"
            )
        if not isinstance(self.swizzle, Swizzle):
            raise ModelError(f"layout: given {self.swizzle!r} as swizzle; write Swizzle(...)")

    @property
    def pitch(self) -> int:
        """Bytes from one row to the next."""
        return self.row_bytes + self.padding

    def address(
        self,
        row: NDArray[np.integer[Any]] | int,
        byte: NDArray[np.integer[Any]] | int,
        access_bytes: int = 1,
    ) -> NDArray[np.int64]:
        """Byte address of places in the tile.

        Parameters
        ----------
        row, byte
            Of any shapes that broadcast; ``byte`` counts within the row.
        access_bytes
            Bytes that are accessed from there on; they must stay together.

        Raises
        ------
        ModelError
            If rows or bytes are no whole numbers.
        OutOfRangeError
            If a place is in no row.
        MisalignedError
            If an access starts at no multiple of its size, or the swizzle tears it.
        """
        row, byte = np.broadcast_arrays(
            whole_numbers(f"layout {self}, rows", row), whole_numbers(f"layout {self}, bytes", byte)
        )
        outside = (row < 0) | (byte < 0) | (byte + access_bytes > self.row_bytes)
        if outside.any():
            raise OutOfRangeError(
                f"layout {self}: {access_bytes} bytes from byte {byte[outside][0]} of row "
                f"{row[outside][0]} on are in no row; rows have {self.row_bytes} bytes"
            )
        if self.swizzle.bits and 1 << self.swizzle.changed < access_bytes:
            raise MisalignedError(
                f"layout {self}: the swizzle keeps {1 << self.swizzle.changed} bytes together, and "
                f"an access has {access_bytes}; take a larger base"
            )
        linear = row * self.pitch + byte
        crooked = linear % access_bytes != 0
        if crooked.any():
            raise MisalignedError(
                f"layout {self}: byte {byte[crooked][0]} of row {row[crooked][0]} is at address "
                f"{linear[crooked][0]}, no multiple of the {access_bytes} bytes of an access; rows "
                f"are {self.pitch} bytes apart"
            )
        return self.swizzle(linear)

    def size(self, rows: int) -> int:
        """Bytes that so many rows take, swizzled ones in whole blocks."""
        return -(-rows * self.pitch // self.swizzle.block) * self.swizzle.block

    def extra_bytes(self, rows: int) -> int:
        """Bytes beyond those that are used."""
        return self.size(rows) - rows * self.row_bytes

    def __str__(self) -> str:
        """Say in a few words what is done to the rows."""
        parts = [f"{self.padding} B of padding"] if self.padding else []
        parts += [f"swizzle {self.swizzle}"] if self.swizzle.bits else []
        return " and ".join(parts) or "plain"


def plain(row_bytes: int) -> Layout:
    """Rows one after the other."""
    return Layout(row_bytes)


def padded(row_bytes: int) -> Layout:
    """Rows that start an odd number of 16-byte chunks apart.

    Eight rows one below the other then have one column of chunks in eight different places.
    """
    chunks = -(-row_bytes // CHUNK_BYTES)
    return Layout(row_bytes, (chunks | 1) * CHUNK_BYTES - row_bytes)


def xor_swizzle(row_bytes: int) -> Layout:
    """Rows one after the other, under the swizzle of the lecture."""
    return Layout(row_bytes, swizzle=LECTURE_SWIZZLE)


LAYOUTS = {"plain": plain, "padded": padded, "xor_swizzle": xor_swizzle}
"""Name of a layout -> what makes it for rows of so many bytes."""
