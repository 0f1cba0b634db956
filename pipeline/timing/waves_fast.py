"""Compiled loops of :mod:`pipeline.timing.waves`: what the waves of a launch touch.

For each launch five numbers are made: waves, and summed over them the tile rows that each touches,
the tile columns, whether it touches the last tile row, and whether the last tile column.
"""

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled

FIELDS = 5


@compiled
def _modulo_hits(start: int, step: int, count: int, modulus: int) -> int:
    """Count the i from 1 to ``count`` with ``start + i * step`` a multiple of ``modulus``."""
    # Euclid: divisor = gcd(step, modulus) = inverse * step modulo modulus.
    divisor, rest, inverse, following = modulus, step % modulus, 0, 1
    while rest:
        quotient = divisor // rest
        divisor, rest = rest, divisor - quotient * rest
        inverse, following = following, inverse - quotient * following
    if start % divisor:
        return 0
    period = modulus // divisor
    first = (-(start // divisor) % period) * (inverse % period) % period
    if first == 0:
        first = period
    return 0 if count < first else (count - first) // period + 1


@compiled
def _one_wave(
    first: int, last: int, tiles_m: int, tiles_n: int, group: int
) -> tuple[int, int, int, int]:
    """Count what the blocks from ``first`` up to ``last`` touch; see :func:`grouped`."""
    band, end_band = first // (group * tiles_n), (last - 1) // (group * tiles_n)
    height = min(group, tiles_m - band * group)
    start = first - band * group * tiles_n
    left = start // height
    end_height = min(group, tiles_m - end_band * group)
    end = last - end_band * group * tiles_n
    right = (end - 1) // end_height + 1
    in_last_band = (end_band + 1) * group >= tiles_m
    if band == end_band:
        blocks = end - start
        bottom = blocks >= height or end // height > start // height
        return (
            min(height, blocks),
            right - left,
            1 if in_last_band and bottom else 0,
            1 if right == tiles_n else 0,
        )
    # The rest of one band, whole bands, the beginning of another one.
    rows = min(height, height * tiles_n - start) + min(end_height, end)
    between = end_band - band - 1
    columns = tiles_n if between else min(tiles_n, tiles_n - left + right)
    bottom = in_last_band and end >= end_height
    return rows + between * group, columns, 1 if bottom else 0, 1


@compiled
def _waves_in_band(
    start: int, wave: int, count: int, height: int, tiles_n: int, last_band: bool
) -> tuple[int, int, int, int]:
    """Count what ``count`` waves touch that lie in one band, the first from block ``start`` on.

    Wave i starts at s(i) = start + i * wave. It touches all rows, or as many as it has blocks. It
    enters a column at its first block and at every multiple of the height after that, so the
    columns are counted by the multiples up to the end of the last wave, each wave without the one
    where the next wave begins. The last row is touched once per multiple that a wave passes.
    """
    end = start + count * wave
    passed = end // height - start // height
    rows = count * min(wave, height)
    columns = count + passed - _modulo_hits(start, wave, count, height)
    bottom = (count if wave >= height else passed) if last_band else 0
    # The last column is the last ``height`` blocks; waves that end before them do not reach it.
    before = (height * (tiles_n - 1) - start) // wave if start <= height * (tiles_n - 1) else 0
    return rows, columns, bottom, count - min(count, before)


@compiled
def grouped(
    tiles_m: NDArray[np.int64],
    tiles_n: NDArray[np.int64],
    wave: NDArray[np.int64],
    group: NDArray[np.int64],
    result: NDArray[np.int64],
) -> None:
    """Count what the waves of launches in grouped order touch, band by band.

    Parameters
    ----------
    tiles_m, tiles_n, wave, group : (launch,)
        Tiles of C, blocks per wave, and tile rows per band, all at least 1.
    result : (launch, field)
        Takes the fields of the module's head.
    """
    for i in range(len(wave)):
        blocks, per_band = tiles_m[i] * tiles_n[i], group[i] * tiles_n[i]
        result[i, 0] = -(-blocks // wave[i])
        first = 0
        while first < blocks:
            band = first // per_band
            height = min(group[i], tiles_m[i] - band * group[i])
            start = first - band * per_band
            count = (height * tiles_n[i] - start) // wave[i]
            if count:
                last_band = (band + 1) * group[i] >= tiles_m[i]
                found = _waves_in_band(start, wave[i], count, height, tiles_n[i], last_band)
                first += count * wave[i]
            else:
                last = min(first + wave[i], blocks)
                found = _one_wave(first, last, tiles_m[i], tiles_n[i], group[i])
                first = last
            for field in range(FIELDS - 1):
                result[i, field + 1] += found[field]


@compiled
def listed(
    row: NDArray[np.int64],
    column: NDArray[np.int64],
    wave: NDArray[np.int64],
    result: NDArray[np.int64],
) -> None:
    """Count what the waves of launches in one order touch, block by block.

    Parameters
    ----------
    row, column : (block,)
        Tile of each block, in the order of the launches.
    wave : (launch,)
        Blocks per wave.
    result : (launch, field)
        Takes the fields of the module's head.
    """
    last_row, last_column = row.max(), column.max()
    for i in range(len(wave)):
        result[i, 0] = -(-len(row) // wave[i])
        seen_row = np.full(last_row + 1, -1, np.int64)
        seen_column = np.full(last_column + 1, -1, np.int64)
        for block in range(len(row)):
            here, at, beside = block // wave[i], row[block], column[block]
            if seen_row[at] != here:
                seen_row[at] = here
                result[i, 1] += 1
                result[i, 3] += 1 if at == last_row else 0
            if seen_column[beside] != here:
                seen_column[beside] = here
                result[i, 2] += 1
                result[i, 4] += 1 if beside == last_column else 0
