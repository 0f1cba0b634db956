"""How many sectors and lines a global access touches: the definition.

A warp instruction that touches global memory costs one 32-byte sector for every distinct sector
among its active lanes, and one 128-byte line for every distinct line (missing_modules, section 1;
on hardware: sectors and tag requests, exact on measured counters, see ``docs/MODEL.md``).
An aligned access of up to 16 bytes never straddles a sector, so start addresses suffice.

Atomics cost the same sectors and lines. Lanes of one warp instruction that hit one address are
served one after the other: every lane beyond the first is one conflict.
"""

import numpy as np
from numpy.typing import NDArray

SECTOR_BYTES = 32
LINE_BYTES = 128


def segments_per_warp(
    address: NDArray[np.int64], active: NDArray[np.bool_], segment_bytes: int
) -> NDArray[np.int64]:
    """Count the distinct aligned segments that each warp instruction touches.

    Parameters
    ----------
    address : (warp, lane)
        Byte address of each lane's access, relative to a segment boundary.
    active : (warp, lane)
        Lanes that take part; the address of the others does not matter.
    segment_bytes
        Size of a segment (B): 32 for sectors, 128 for lines.

    Returns
    -------
    (warp,)
        Distinct segments; 0 for a warp without an active lane.
    """
    segment = np.where(active, address // segment_bytes, np.int64(-1))
    ordered = np.sort(segment, axis=1)
    first = np.concatenate(
        [np.ones((len(ordered), 1), bool), np.diff(ordered, axis=1) != 0], axis=1
    )
    return np.count_nonzero(first & (ordered >= 0), axis=1).astype(np.int64)


def repeats_per_warp(address: NDArray[np.int64], active: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the lanes that hit an address which another lane of the warp has hit already.

    Parameters
    ----------
    address, active : (warp, lane)
        As in :func:`segments_per_warp`.

    Returns
    -------
    (warp,)
        Active lanes less distinct addresses.
    """
    distinct = segments_per_warp(address, active, 1)
    return np.count_nonzero(active, axis=1) - distinct
