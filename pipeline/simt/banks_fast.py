"""Compiled twin of :mod:`pipeline.simt.banks` over the warps of a block."""

import numpy as np
from numpy.typing import NDArray

from pipeline.loops import compiled

WARP = 32
_BANKS = 32
_WORD_SHIFT = 2
_WIDEST_BYTES = 16


@compiled
def _pairs_up(
    offset: NDArray[np.int64], active: NDArray[np.bool_], first: int, last: int, step: int
) -> bool:
    """Say whether every active lane agrees with the active lane ``step`` away from it."""
    for t in range(first, last):
        partner = first + ((t - first) ^ step)
        if active[t] and partner < last and active[partner] and offset[t] != offset[partner]:
            return False
    return True


@compiled
def _group_wavefronts(
    base: int,
    offset: NDArray[np.int64],
    active: NDArray[np.bool_],
    first: int,
    last: int,
    scale: int,
    words_per_lane: int,
    bank_words: NDArray[np.int64],
    bank_count: NDArray[np.int64],
) -> int:
    """Return the wavefronts of the lanes ``first`` to ``last``."""
    bank_count[:] = 0
    busiest = 0
    for t in range(first, last):
        if not active[t]:
            continue
        start = ((base + offset[t]) * scale) >> _WORD_SHIFT
        for word in range(start, start + words_per_lane):
            bank = word % _BANKS
            known = False
            for i in range(bank_count[bank]):
                if bank_words[bank, i] == word:
                    known = True
                    break
            if not known:
                bank_words[bank, bank_count[bank]] = word
                bank_count[bank] += 1
                busiest = max(busiest, bank_count[bank])
    return busiest


@compiled
def _lit_groups(active: NDArray[np.bool_], first: int, last: int, size: int) -> int:
    """Count the groups of ``size`` lanes with an active one."""
    count = 0
    for start in range(first, last, size):
        count += 1 if active[start : min(start + size, last)].any() else 0
    return count


@compiled
def block_wavefronts(
    base: int,
    offset: NDArray[np.int64],
    active: NDArray[np.bool_],
    scale: int,
    width: int,
    hardware_rule: bool,
    store: bool,
) -> tuple[int, int, int, int]:
    """Add up warp instructions, active lanes, wavefronts and ideal wavefronts of one block."""
    threads = offset.shape[0]
    bank_words = np.empty((_BANKS, WARP * 4), np.int64)
    bank_count = np.empty(_BANKS, np.int64)
    words_per_lane = max(1, scale * width >> _WORD_SHIFT)
    warps = lanes = taken = ideal = 0
    for first in range(0, threads, WARP):
        last = min(first + WARP, threads)
        lit = 0
        for t in range(first, last):
            lit += active[t]
        if lit == 0:
            continue
        warps += 1
        lanes += lit
        groups = words_per_lane
        if hardware_rule and groups > 1:
            paired = _pairs_up(offset, active, first, last, 1)
            if paired or _pairs_up(offset, active, first, last, 2):
                groups //= 2
        size = WARP // groups
        for start in range(first, last, size):
            end = min(start + size, last)
            taken += _group_wavefronts(
                base, offset, active, start, end, scale, words_per_lane, bank_words, bank_count
            )
        # The profiler's ideal of a 128-bit store knows no pairs.
        wide_store = store and scale * width == _WIDEST_BYTES
        ideal += _lit_groups(active, first, last, WARP // words_per_lane if wide_store else size)
    return warps, lanes, taken, ideal


@compiled
def wavefronts(
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    scale: int,
    width: int,
    hardware_rule: bool,
    store: bool,
    rows: int,
) -> tuple[int, int, int, int]:
    """Count what one shared access of every thread costs.

    Parameters
    ----------
    const, block : (blocks, 1), thread, active : (1 or blocks, threads), width
        The access, see :class:`pipeline.simt.access.Access`.
    scale
        Bytes per element.
    hardware_rule
        Whether lanes that pair up are served together.
    store
        Whether it is a store.
    rows
        Count the first ``rows`` blocks: 1 where all blocks do the same.

    Returns
    -------
    warps, lanes, wavefronts, ideal
        Summed over these blocks.
    """
    total = (0, 0, 0, 0)
    for b in range(rows):
        offset = thread[b if thread.shape[0] > 1 else 0]
        lit = active[b if active.shape[0] > 1 else 0]
        w, n, k, i = block_wavefronts(
            const + block[b, 0], offset, lit, scale, width, hardware_rule, store
        )
        total = (total[0] + w, total[1] + n, total[2] + k, total[3] + i)
    return total


@compiled
def warp_atomic_wavefronts(
    base: int,
    offset: NDArray[np.int64],
    active: NDArray[np.bool_],
    first: int,
    last: int,
    scale: int,
    bank_lanes: NDArray[np.int64],
) -> int:
    """Return the wavefronts of an atomic of the warp whose lanes are ``first`` to ``last``."""
    taken = 0
    words_per_lane = max(1, scale >> _WORD_SHIFT)
    size = WARP // words_per_lane
    for start in range(first, last, size):
        bank_lanes[:] = 0
        busiest = 0
        for t in range(start, min(start + size, last)):
            if active[t]:
                word = ((base + offset[t]) * scale) >> _WORD_SHIFT
                for bank in range(word, word + words_per_lane):
                    bank_lanes[bank % _BANKS] += 1
                    busiest = max(busiest, bank_lanes[bank % _BANKS])
        taken += busiest
    return taken


@compiled
def atomic_wavefronts(
    const: int,
    block: NDArray[np.int64],
    thread: NDArray[np.int64],
    active: NDArray[np.bool_],
    scale: int,
    rows: int,
) -> tuple[int, int, int]:
    """Count what one shared atomic of every thread costs.

    Parameters and result are those of :func:`wavefronts`, without the ideal.
    """
    warps = lanes = taken = 0
    bank_lanes = np.empty(_BANKS, np.int64)
    for b in range(rows):
        offset = thread[b if thread.shape[0] > 1 else 0]
        lit = active[b if active.shape[0] > 1 else 0]
        for first in range(0, offset.shape[0], WARP):
            last = min(first + WARP, offset.shape[0])
            warps += 1 if lit[first:last].any() else 0
            for t in range(first, last):
                lanes += lit[t]
            taken += warp_atomic_wavefronts(
                const + block[b, 0], offset, lit, first, last, scale, bank_lanes
            )
    return warps, lanes, taken
