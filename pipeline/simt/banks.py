"""How many wavefronts a shared-memory access takes: the definition.

A warp instruction is cut into groups of lanes that are served one after the other; a group takes as
many wavefronts as the busiest bank has distinct words (:mod:`pipeline.banks`).

Two rules say how many groups there are. ``lecture``: one for accesses of up to 32 bits, two for
64 bits, four for 128 bits (the phases of the lecture script). ``hardware``: the same, but halved if
lanes pair up on equal addresses (``pair condition``), as measured counters show; the evidence is in
``docs/MODEL.md``.

An atomic shares nothing: the lanes that hit one word are served one after the other, by either
rule.
"""

import numpy as np
from numpy.typing import NDArray

from pipeline.banks import BANKS, busiest, groups_of, words_of

WIDEST_BYTES = 16
WARP = 32
RULES = ("lecture", "hardware")


def pairs_up(address: NDArray[np.int64], active: NDArray[np.bool_]) -> bool:
    """Say whether the lanes of a warp pair up on equal addresses.

    True if for x = 1 or for x = 2 every active lane l has lane ``l xor x`` inactive or at the same
    address.

    Parameters
    ----------
    address, active : (32,)
        Byte address and activity of each lane.
    """
    lane = np.arange(WARP)
    return any(
        bool(np.all(~active | ~active[lane ^ x] | (address == address[lane ^ x]))) for x in (1, 2)
    )


def wavefronts(
    address: NDArray[np.int64],
    active: NDArray[np.bool_],
    access_bytes: int,
    rule: str,
    store: bool = False,
) -> tuple[int, int]:
    """Count the wavefronts of one warp instruction.

    Parameters
    ----------
    address : (32,)
        Byte address of each lane's access, a multiple of ``access_bytes``.
    active : (32,)
        Lanes that take part.
    access_bytes
        Bytes per lane: element size times vector width; 1, 2, 4, 8 or 16.
    rule
        ``lecture`` or ``hardware``.
    store
        Whether it is a store: the profiler's ideal of a 128-bit store knows no pairs.

    Returns
    -------
    taken, ideal
        Wavefronts, and how many it would be if no two words shared a bank: one per group with an
        active lane, since the words of a group fill the 32 banks at most once.
    """
    groups = most = groups_of(access_bytes)
    if rule == "hardware" and groups > 1 and pairs_up(address, active):
        groups //= 2
    taken = 0
    for lanes in np.split(np.arange(WARP), groups):
        taken += int(busiest(words_of(address[lanes][active[lanes]], access_bytes).ravel()))
    wide_store = store and access_bytes == WIDEST_BYTES
    ideal = active.reshape(most if wide_store else groups, -1).any(axis=1).sum()
    return taken, int(ideal)


def atomic_wavefronts(
    address: NDArray[np.int64], active: NDArray[np.bool_], access_bytes: int
) -> int:
    """Count the wavefronts of one warp's atomic.

    Per group of lanes, the largest number of active lanes on one bank: lanes on one word count
    separately.

    Parameters
    ----------
    address, active : (32,)
        Byte address and activity of each lane.
    access_bytes
        Bytes per lane: 2, 4 or 8.
    """
    taken = 0
    for lanes in np.split(np.arange(WARP), groups_of(access_bytes)):
        words = words_of(address[lanes][active[lanes]], access_bytes)
        taken += int(np.bincount(words.ravel() % BANKS, minlength=1).max())
    return taken
