"""Compiled loops that measure accesses: wavefronts, lines and sectors of every warp."""

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled
from pipeline.simt.banks_fast import block_wavefronts, warp_atomic_wavefronts

_LINE_SHIFT, _SECTOR_SHIFT = 7, 5
_BANKS = 32


@compiled
def shared_wavefronts(
    address: NDArray[np.int64],
    lanes: NDArray[np.bool_],
    size: int,
    paired: bool,
    found: NDArray[np.int32],
) -> None:
    """Find the wavefronts of every warp, ``address`` (warps, 32), by the ``hardware`` rule."""
    for w in range(address.shape[0]):
        found[w] = block_wavefronts(0, address[w], lanes[w], 1, size, paired, False)[2]


@compiled
def atomic_wavefronts(
    address: NDArray[np.int64], lanes: NDArray[np.bool_], size: int, found: NDArray[np.int32]
) -> None:
    """Find the wavefronts of an atomic on shared memory for every warp."""
    bank_lanes = np.empty(_BANKS, np.int64)
    for w in range(address.shape[0]):
        found[w] = warp_atomic_wavefronts(
            0, address[w] // size, lanes[w], 0, _BANKS, size, bank_lanes
        )


@compiled
def touched_lines(
    address: NDArray[np.int64],
    lanes: NDArray[np.bool_],
    counts: NDArray[np.int32],
    lines: NDArray[np.int64],
    masks: NDArray[np.uint8],
) -> int:
    """Write down the lines that every warp touches, and which of their sectors.

    Parameters
    ----------
    address, lanes : (warps, 32)
        Byte addresses and who takes part; an access lies within one sector.
    counts : (warps,)
        Filled with the lines of each warp.
    lines, masks
        Filled with line numbers and bit masks of sectors, warp after warp.

    Returns
    -------
    int
        How many there are.
    """
    total = 0
    for w in range(address.shape[0]):
        first = total
        for lane in range(address.shape[1]):
            if not lanes[w, lane]:
                continue
            line = address[w, lane] >> _LINE_SHIFT
            bit = np.uint8(1 << ((address[w, lane] >> _SECTOR_SHIFT) & 3))
            at = total - 1
            while at >= first and lines[at] != line:
                at -= 1
            if at < first:
                at = total
                lines[at] = line
                masks[at] = 0
                total += 1
            masks[at] |= bit
        counts[w] = total - first
    return total


@compiled
def numbered(lines: NDArray[np.int64], number: NDArray[np.int32]) -> int:
    """Give equal lines equal numbers from 0; return how many differ."""
    size = 1
    while size < 2 * lines.shape[0] + 2:
        size *= 2
    keys = np.full(size, -1, np.int64)
    values = np.zeros(size, np.int32)
    known = 0
    for i in range(lines.shape[0]):
        line = lines[i]
        at = ((line * 2654435761) >> 7) & (size - 1)
        while keys[at] != -1 and keys[at] != line:
            at = (at + 1) & (size - 1)
        if keys[at] == -1:
            keys[at] = line
            values[at] = known
            known += 1
        number[i] = values[at]
    return known
