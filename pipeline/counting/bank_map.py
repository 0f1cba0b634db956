"""Which bank serves which lanes in which wavefront: one access to shared memory as a map."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.banks import BANKS, groups_of, words_of
from pipeline.simt.banks import WARP


class Served(NamedTuple):
    """One word that one bank gives out.

    Attributes
    ----------
    group
        Group of lanes that is served, see :mod:`pipeline.banks`.
    wavefront
        Counted through all groups.
    first
        Whether it is the first wavefront of its group; the others are conflicts.
    bank, word
        Which bank gives which word.
    lanes
        Lanes that share it.
    """

    group: int
    wavefront: int
    first: bool
    bank: int
    word: int
    lanes: tuple[int, ...]


def bank_map(address: NDArray[np.int64], access_bytes: int) -> list[Served]:
    """Serve one access of a warp by the lecture's rule, wavefront by wavefront.

    Parameters
    ----------
    address : (32,)
        Byte address of each lane's access, a multiple of ``access_bytes``.
    access_bytes
        Bytes per lane (B).

    Returns
    -------
    Words in the order of wavefronts and banks. Words that share a bank are served in the order of
    their addresses; hardware may choose another one, which changes no count.
    """
    served: list[Served] = []
    begin = 0
    for group, lanes in enumerate(np.split(np.arange(WARP), groups_of(access_bytes))):
        wanted: dict[int, list[int]] = {}
        for lane in lanes.tolist():
            for word in words_of(address[lane], access_bytes).tolist():
                wanted.setdefault(word, []).append(lane)
        waiting = [0] * BANKS
        found = []
        for word in sorted(wanted):
            rank = waiting[word % BANKS]
            waiting[word % BANKS] += 1
            place = (group, begin + rank, rank == 0, word % BANKS, word)
            found.append(Served(*place, tuple(wanted[word])))
        served += sorted(found, key=lambda one: (one.wavefront, one.bank))
        begin += max(waiting)
    return served
