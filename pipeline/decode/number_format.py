"""How numbers are kept in memory: so many bits each, and a scale for so many of them."""

from dataclasses import dataclass

TYPE_BITS = {"fp32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "int4": 4}
"""Bits of one number of each type."""

_BITS_PER_BYTE = 8


@dataclass(frozen=True)
class NumberFormat:
    """A type of numbers, with a scale for each group of them or without.

    Attributes
    ----------
    type
        Of the numbers, a key of ``TYPE_BITS``.
    group
        Numbers of one row that share a scale; a group ends with its row. 0: there are no scales.
    scale
        Type of the scales, a key of ``TYPE_BITS``; empty without scales.
    """

    type: str
    group: int = 0
    scale: str = ""

    def bytes(self, rows: int, columns: int) -> int:
        """Bytes that a matrix takes, its scales included; every row begins on a byte.

        >>> NumberFormat("int4", group=128, scale="fp16").bytes(rows=2, columns=256)
        264
        """
        values = _whole_bytes(columns * TYPE_BITS[self.type])
        if not self.group:
            return rows * values
        groups = -(-columns // self.group)
        return rows * (values + _whole_bytes(groups * TYPE_BITS[self.scale]))


def _whole_bytes(bits: int) -> int:
    return -(-bits // _BITS_PER_BYTE)
