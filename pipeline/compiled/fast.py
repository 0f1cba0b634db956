"""Compiled loops of the executor: runs of multiply-adds, and lanes that move words in memory."""

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled

_CHUNK = 1024
"""Lanes that a run of multiply-adds treats together: their registers stay in the nearest cache."""


@compiled
def ffma_run(rows: NDArray[np.float32], table: NDArray[np.int64]) -> None:
    """Do a run of single-precision multiply-adds on all lanes.

    Parameters
    ----------
    rows : (registers, lanes)
        Changed.
    table : (instructions, 6)
        Rows of d, a, b, c of ``d = a * b + c``, and whether the product and c change sign.
    """
    lanes = rows.shape[1]
    for first in range(0, lanes, _CHUNK):
        last = min(first + _CHUNK, lanes)
        for i in range(table.shape[0]):
            d = rows[table[i, 0], first:last]
            a = rows[table[i, 1], first:last]
            b = rows[table[i, 2], first:last]
            c = rows[table[i, 3], first:last]
            sign = np.float64(-1.0) if table[i, 4] else np.float64(1.0)
            added = np.float64(-1.0) if table[i, 5] else np.float64(1.0)
            for j in range(last - first):
                product = sign * np.float64(a[j]) * np.float64(b[j])
                d[j] = np.float32(product + added * np.float64(c[j]))


@compiled
def resolve(
    address: NDArray[np.int64],
    lanes: NDArray[np.bool_],
    size: int,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    offsets: NDArray[np.int64],
    index: NDArray[np.int64],
) -> int:
    """Turn addresses into places in the memory that holds all arrays.

    Parameters
    ----------
    address, lanes : (lanes,)
        Byte addresses, and who takes part.
    size
        Bytes per lane.
    starts, ends, offsets : (arrays,)
        First address of every array, the first one behind it, and where it starts in memory.
    index : (lanes,)
        Filled with places in memory (B), 0 for lanes that take no part.

    Returns
    -------
    int
        The first lane whose access is not aligned or not inside an array, -1 if there is none.
    """
    last = 0
    for lane in range(address.shape[0]):
        index[lane] = 0
        if not lanes[lane]:
            continue
        where = address[lane]
        if where < starts[last] or where + size > ends[last]:
            found = -1
            for i in range(starts.shape[0]):
                if starts[i] <= where and where + size <= ends[i]:
                    found = i
            if found < 0:
                return lane
            last = found
        if where & (size - 1):
            return lane
        index[lane] = where - starts[last] + offsets[last]
    return -1


@compiled
def load_words(
    memory: NDArray[np.uint32],
    index: NDArray[np.int64],
    lanes: NDArray[np.bool_],
    rows: NDArray[np.uint32],
    first: int,
    words: int,
) -> None:
    """Load words from byte places ``index`` into the rows from ``first`` on."""
    for word in range(words):
        row = rows[first + word]
        for lane in range(index.shape[0]):
            if lanes[lane]:
                row[lane] = memory[(index[lane] >> 2) + word]


@compiled
def store_words(
    memory: NDArray[np.uint32],
    index: NDArray[np.int64],
    lanes: NDArray[np.bool_],
    rows: NDArray[np.uint32],
    sources: NDArray[np.int64],
) -> None:
    """Store the rows ``sources`` to byte places; of equal places the last lane's stays."""
    for lane in range(index.shape[0]):
        if lanes[lane]:
            at = index[lane] >> 2
            for word in range(sources.shape[0]):
                memory[at + word] = rows[sources[word], lane]


@compiled
def load_small(
    memory: NDArray[np.uint8],
    index: NDArray[np.int64],
    lanes: NDArray[np.bool_],
    size: int,
    signed: bool,
    row: NDArray[np.uint32],
) -> None:
    """Load one or two bytes per lane, extended by zeros or by the sign."""
    for lane in range(index.shape[0]):
        if lanes[lane]:
            value = np.int64(memory[index[lane]])
            if size == 2:
                value |= np.int64(memory[index[lane] + 1]) << 8
            if signed and value >> (8 * size - 1):
                value -= np.int64(1) << (8 * size)
            row[lane] = np.uint32(value & 0xFFFFFFFF)


@compiled
def store_small(
    memory: NDArray[np.uint8],
    index: NDArray[np.int64],
    lanes: NDArray[np.bool_],
    size: int,
    row: NDArray[np.uint32],
) -> None:
    """Store the lowest one or two bytes per lane."""
    for lane in range(index.shape[0]):
        if lanes[lane]:
            for byte in range(size):
                memory[index[lane] + byte] = np.uint8((row[lane] >> np.uint32(8 * byte)) & 0xFF)


@compiled
def common_period(
    before: NDArray[np.int64], after: NDArray[np.int64], lanes: NDArray[np.bool_], size: int
) -> int:
    """Return after how many steps all addresses stand within ``size`` bytes as before.

    Parameters
    ----------
    before, after, lanes : (lanes,)
        Byte addresses before and after one step, and who takes part; whole warps of 32.
    size
        A power of two (B).

    Returns
    -------
    int
        0 if the lanes of a warp do not move together.
    """
    period = 1
    for start in range(0, lanes.shape[0], 32):
        is_first, step = True, 0
        for lane in range(start, start + 32):
            if lanes[lane]:
                moved = after[lane] - before[lane]
                if is_first:
                    is_first, step = False, moved
                elif moved != step:
                    return 0
        # A step of an odd number of 2^k bytes comes round after size / 2^k steps.
        period = max(period, size // (step & -step)) if step % size else period
    return period


@compiled
def _product(a: float, b: float) -> tuple[float, float]:
    """Multiply without error: the rounded product and what it lacks (Dekker)."""
    product = a * b
    split_a, split_b = a * 134217729.0, b * 134217729.0
    high_a, high_b = split_a - (split_a - a), split_b - (split_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


@compiled
def missed64(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    c: NDArray[np.float64],
    near: NDArray[np.float64],
) -> NDArray[np.int8]:
    """Say whether a b + c is above ``near`` (1), below it (-1), or equal to it (0), exactly.

    The four parts are summed as an expansion whose parts do not overlap (Shewchuk 1997, Grow-
    Expansion); the largest of them has the sign of all. Of numbers so large or small that a product
    cannot be split, 0 is given.
    """
    sign = np.zeros(a.shape[0], np.int8)
    parts = np.zeros(4)
    for i in range(a.shape[0]):
        product, error = _product(a[i], b[i])
        for count, number in enumerate((product, error, c[i], -near[i])):
            total = number
            for j in range(count):
                whole = total + parts[j]
                back = whole - total
                parts[j] = (total - (whole - back)) + (parts[j] - back)
                total = whole
            parts[count] = total
        for j in range(4):
            if parts[j] != 0.0 and np.isfinite(parts[j]):
                sign[i] = 1 if parts[j] > 0.0 else -1
    return sign


@compiled
def fma64(
    a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Multiply and add with one rounding, by error-free sums and products (Dekker, Knuth)."""
    result = np.empty_like(a)
    for i in range(a.shape[0]):
        product, error = _product(a[i], b[i])
        plain = product + c[i]
        back = plain - product
        rest = (product - (plain - back)) + (c[i] - back)
        exact = plain + (rest + error)
        result[i] = exact if np.isfinite(exact) else plain
    return result
