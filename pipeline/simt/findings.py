"""Hazards that an instruction shows by itself, whatever came before."""

import numpy as np
from numpy.typing import NDArray

from pipeline.simt import exchange, hazards
from pipeline.simt.access import Access
from pipeline.simt.accounting import Accounting
from pipeline.simt.blocks import Blocks
from pipeline.simt.collisions import collisions
from pipeline.simt.masks import WARP, Mask


def note_collision(
    accounting: Accounting,
    blocks: Blocks,
    name: str,
    access: Access,
    racing: NDArray[np.bool_] | None,
) -> None:
    """Report a global store in which two threads of a block write one element.

    Parameters
    ----------
    name, access
        The array, and what is stored to.
    racing : (blocks,)
        Blocks that are in ``race_count`` already for this instruction.
    """
    found = collisions(access.thread, access.active)
    if found is None:
        return
    colliding = np.broadcast_to(found.colliding, (len(blocks),))
    count = int(np.count_nonzero(colliding))
    known = 0 if racing is None else int(np.count_nonzero(colliding & racing))
    accounting.counters["race_count"] += count - known
    accounting.note(
        hazards.COLLISION,
        count,
        blocks,
        found.row,
        found.thread // WARP,
        found.other // WARP,
        array=name,
        index=int(access.const + access.block[found.row, 0]) + found.offset,
    )


def note_silent_lanes(
    accounting: Accounting, blocks: Blocks, lane: NDArray[np.int64], mask: Mask
) -> None:
    """Report a shuffle in which a thread reads from a lane that does not take part.

    ``lane``, (1 or blocks, threads), is the lane that each thread reads from.
    """
    first = np.zeros(3, np.int64)
    rows = exchange.silent_lanes(lane, mask.active, first)
    if not rows:
        return
    single = max(len(lane), len(mask.active)) == 1
    row, thread, lane_read = first.tolist()
    accounting.note(
        hazards.INACTIVE_LANE,
        len(blocks) if single else rows,
        blocks,
        row,
        thread // WARP,
        index=lane_read,
    )


def note_torn_barrier(
    accounting: Accounting, blocks: Blocks, torn: NDArray[np.bool_], mask: Mask
) -> None:
    """Report the ``torn`` blocks, of which only some threads reach a barrier."""
    row = int(np.flatnonzero(torn)[0])
    active = mask.active[row if len(mask.active) > 1 else 0]
    accounting.note(
        hazards.DIVERGENT_BARRIER,
        int(np.count_nonzero(torn)),
        blocks,
        row,
        int(np.flatnonzero(active)[0]) // WARP,
        int(np.flatnonzero(~active)[0]) // WARP,
    )
