"""The only place where SI values become human ones.

Everything inside is in SI units (B, s, Hz, FLOP/s); tables and axes convert with these.
"""

from typing import Protocol, Self, TypeVar


class Scalable(Protocol):
    """A number or an array of numbers."""

    def __truediv__(self, divisor: float, /) -> Self:
        """Divide by a number."""


T = TypeVar("T", bound=Scalable)

_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_KIBI = 1024


def to_mega(value: T) -> T:
    """Convert to units of 1e6 (MB); takes numbers and arrays."""
    return value / 1e6


def to_giga(value: T) -> T:
    """Convert to units of 1e9 (GFLOP/s, GB/s, GHz); takes numbers and arrays."""
    return value / 1e9


def to_tera(value: T) -> T:
    """Convert to units of 1e12 (TFLOP/s, TB/s); takes numbers and arrays."""
    return value / 1e12


def to_milliseconds(seconds: T) -> T:
    """Convert seconds to milliseconds; takes numbers and arrays."""
    return seconds / 1e-3


def to_microseconds(seconds: T) -> T:
    """Convert seconds to microseconds; takes numbers and arrays."""
    return seconds / 1e-6


def to_kibibytes(value: T) -> T:
    """Convert bytes to KiB; takes numbers and arrays."""
    return value / _KIBI


def to_mebibytes(value: T) -> T:
    """Convert bytes to MiB; takes numbers and arrays."""
    return value / _KIBI**2


def with_prefix(value: float, unit: str) -> str:
    """Format ``value`` with three significant digits and the SI prefix that fits.

    >>> with_prefix(3.35e12, "B/s")
    '3.35 TB/s'
    >>> with_prefix(0, "B")
    '0 B'
    """
    prefix = max(
        (p for p in _SCALES if abs(value) >= _SCALES[p]), key=_SCALES.__getitem__, default=""
    )
    return f"{value / _SCALES[prefix]:.3g} {prefix}{unit}"
