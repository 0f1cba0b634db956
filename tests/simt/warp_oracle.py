"""A slow second opinion: what lanes of a warp give each other, and what atomics leave behind.

Written from CUDA's rules alone, one lane at a time, in Python's own numbers.
"""

import struct
from collections.abc import Mapping

WIDTH = 32


def shuffle(
    kind: str, values: Mapping[int, float], by: Mapping[int, int]
) -> tuple[dict[int, float], bool]:
    """Exchange values within one warp.

    Parameters
    ----------
    kind
        ``shfl_idx``, ``shfl_up``, ``shfl_down`` or ``shfl_xor``.
    values
        What each active lane offers, by lane.
    by
        Lane, distance or mask that each active lane names.

    Returns
    -------
    dict, bool
        What each active lane gets, and whether a lane that is not active was read.
    """
    got, silent = {}, False
    for lane, own in values.items():
        if kind == "shfl_idx":
            source = by[lane] % WIDTH
        elif kind == "shfl_up":
            source = lane - by[lane] if by[lane] <= lane else lane
        elif kind == "shfl_down":
            source = lane + by[lane] if lane + by[lane] < WIDTH else lane
        else:
            source = lane ^ by[lane]
        got[lane] = own if source == lane else values.get(source, 0)
        silent = silent or source not in values
    return got, silent


def ballot(holds: Mapping[int, bool]) -> int:
    """Collect what the active lanes of one warp say."""
    return sum(1 << lane for lane, says in holds.items() if says)


def rounded(value: float, dtype: str) -> float:
    """Bring a number to one that ``dtype`` holds: integers wrap around, floats are rounded."""
    if dtype[0] == "f":
        letter = {"2": "e", "4": "f", "8": "d"}[dtype[1]]
        try:
            return struct.unpack(letter, struct.pack(letter, value))[0]
        except OverflowError:
            return float("inf")
    bits = 8 * int(dtype[1])
    value %= 1 << bits
    return value - (1 << bits) if dtype[0] == "i" and value >> (bits - 1) else value


def combined(operation: str, before: float, given: float, dtype: str) -> float:
    """What an atomic ``add``, ``max`` or ``min`` leaves in an element."""
    if operation == "add":
        return rounded(before + given, dtype)
    return max(before, given) if operation == "max" else min(before, given)
