"""Whole numbers that a kernel declares to have 64 bits.

Indices are computed with 64 bits whatever a kernel means, where CUDA's ``int`` has 32. So the type
of an array does not say how many registers a value takes: where it comes from does.
"""

from typing import Any

import numpy as np


class Wide(np.ndarray[Any, np.dtype[Any]]):
    """Values from an int64 array or int64 registers, or computed from such.

    Everything else about it is a plain array.
    """

    wide = True
    __array_priority__ = 1.0

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Keep what numpy's functions make of it wide."""
        found = super().__array_function__(func, types, args, kwargs)
        return declared(found) if isinstance(found, np.ndarray) else found


def declared(values: Any) -> Any:
    """Mark an array of int64 as declared to be so; give any other back as it is."""
    return values.view(Wide) if values.dtype == np.int64 else values


def registers(values: Any) -> int:
    """Return the 32-bit registers of each value: one for whole numbers not declared wide."""
    if values.dtype == np.int64 and not getattr(values, "wide", False):
        return 1
    return -(-int(values.itemsize) // 4)
