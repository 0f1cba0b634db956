"""Shared memory's banks: how many wavefronts a group of lanes takes.

Shared memory has 32 banks of 4-byte words; each bank serves one word per wavefront, and lanes that
ask for the same word share it. So lanes that are served together take as many wavefronts as the
busiest bank has distinct words.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

BANKS = 32
WORD_BYTES = 4


def groups_of(access_bytes: int) -> int:
    """Return into how many groups of lanes an access of ``access_bytes`` per lane is cut.

    Each group asks for at most as many bytes as the banks serve in a wavefront.
    """
    return max(1, access_bytes // WORD_BYTES)


def words_of(address: NDArray[np.integer[Any]], access_bytes: int) -> NDArray[np.int64]:
    """List the words that accesses touch.

    Parameters
    ----------
    address : (...)
        Byte addresses, multiples of ``access_bytes``.
    access_bytes
        Bytes per lane: 1, 2, 4, 8 or 16.

    Returns
    -------
    (..., words per access) array
    """
    start = np.asarray(address)[..., None] // WORD_BYTES
    return start + np.arange(groups_of(access_bytes))


def busiest(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the wavefronts of groups of lanes: distinct words of the busiest bank.

    Parameters
    ----------
    words : (..., words of a group)
        What the lanes of each group ask for together, in any order.

    Returns
    -------
    (...) array
    """
    ordered = np.sort(words, axis=-1).reshape(math.prod(words.shape[:-1]), words.shape[-1])
    distinct = np.ones(ordered.shape, bool)
    distinct[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    bank = np.arange(len(ordered))[:, None] * BANKS + ordered % BANKS
    found = np.bincount(bank[distinct], minlength=len(ordered) * BANKS)
    return found.reshape(*words.shape[:-1], BANKS).max(axis=-1)
