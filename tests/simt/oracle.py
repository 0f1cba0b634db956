"""A slow second opinion: what accesses cost, one lane at a time.

Plain Python over plain lists, written from the rules alone and sharing no code with ``pipeline``,
so that an agreement of the two means something. An access is a list of :class:`Lane`, of any number
of warps and blocks; every lane moves ``width`` neighbouring elements of ``itemsize`` bytes.

Everything is followed down to single bytes: a lane's bytes give its sectors, lines and words.

Sources of the rules: section 1 of the lecture's module description (counting, phases) and the rules
measured on hardware (pairs of lanes; see ``docs/MODEL.md``).
"""

from collections.abc import Iterable
from dataclasses import dataclass

SECTOR, LINE, WORD = 32, 128, 4
BANKS = LANES = 32


@dataclass(frozen=True)
class Lane:
    """One lane of one warp at one instruction.

    Attributes
    ----------
    block, warp, lane
        Who: block of the launch, warp of the block, lane 0 to 31 of the warp.
    address
        First byte that it moves, counted from the start of the array.
    active
        Whether it takes part at all.
    """

    block: int
    warp: int
    lane: int
    address: int
    active: bool = True


def global_access(lanes: Iterable[Lane], itemsize: int = 4, width: int = 1) -> dict[str, int]:
    """Count what a global load or store asks of memory.

    Returns
    -------
    dict
        ``instructions`` (warps with an active lane), ``sectors`` and ``lines`` (distinct 32-byte
        and 128-byte pieces, per warp instruction), ``bytes`` (active lanes times bytes per lane).
    """
    size = bytes_per_lane(itemsize, width)
    count = {"instructions": 0, "sectors": 0, "lines": 0, "bytes": 0}
    for warp in _active_warps(lanes):
        sectors = set()
        lines = set()
        for lane in warp:
            for byte in bytes_of(lane, size):
                sectors.add(byte // SECTOR)
                lines.add(byte // LINE)
                count["bytes"] += 1
        count["instructions"] += 1
        count["sectors"] += len(sectors)
        count["lines"] += len(lines)
    return count


def shared_access(
    lanes: Iterable[Lane],
    rule: str,
    itemsize: int = 4,
    width: int = 1,
    *,
    store: bool = False,
) -> dict[str, int]:
    """Count the wavefronts of a shared load or store.

    Parameters
    ----------
    lanes, itemsize, width
        The access.
    rule
        ``lecture`` or ``hardware``.
    store
        Whether it is a store; only the hardware rule's ideal for 16 bytes per lane asks.

    Returns
    -------
    dict
        ``instructions``, ``wavefronts``, ``ideal``.
    """
    if rule not in ("lecture", "hardware"):
        raise ValueError(f"the rule must be lecture or hardware, not {rule}")
    size = bytes_per_lane(itemsize, width)
    count = {"instructions": 0, "wavefronts": 0, "ideal": 0}
    for warp in _active_warps(lanes):
        paired = rule == "hardware" and _pair_condition(warp)
        count["instructions"] += 1
        for group in _groups(warp, _lanes_per_group(size, paired)):
            count["wavefronts"] += _busiest_bank(group, size)
        if rule == "lecture":
            for group in _groups(warp, _lanes_per_group(size, paired=False)):
                count["ideal"] += max(1, -(-len(_words(group, size)) // BANKS))
        else:
            widest_store = store and size == 16
            ideal = _lanes_per_group(size, paired and not widest_store)
            count["ideal"] += len(_groups(warp, ideal))
    return count


def global_atomic(lanes: Iterable[Lane], itemsize: int = 4) -> dict[str, int]:
    """Count what a global atomic asks of memory.

    Returns
    -------
    dict
        As :func:`global_access`, and ``conflicts``: lanes that find another lane of their warp at
        their address before them.
    """
    count = global_access(lanes, itemsize) | {"conflicts": 0}
    for warp in _active_warps(lanes):
        taken = set()
        for lane in warp:
            count["conflicts"] += lane.address in taken
            taken.add(lane.address)
    return count


def shared_atomic(lanes: Iterable[Lane], itemsize: int = 4) -> dict[str, int]:
    """Count the wavefronts of a shared atomic: lanes on one bank go one after the other.

    Returns
    -------
    dict
        ``instructions``, ``wavefronts``.
    """
    size = bytes_per_lane(itemsize, 1)
    count = {"instructions": 0, "wavefronts": 0}
    for warp in _active_warps(lanes):
        count["instructions"] += 1
        for group in _groups(warp, _lanes_per_group(size, paired=False)):
            visits = [0] * BANKS
            for lane in group:
                for bank in {byte // WORD % BANKS for byte in bytes_of(lane, size)}:
                    visits[bank] += 1
            count["wavefronts"] += max(visits)
    return count


def bytes_per_lane(itemsize: int, width: int) -> int:
    size = itemsize * width
    if itemsize not in (1, 2, 4, 8) or width not in (1, 2, 4, 8, 16) or size > 16:
        raise ValueError(f"no access moves {width} elements of {itemsize} bytes")
    return size


def bytes_of(lane: Lane, size: int) -> range:
    if lane.address % size:
        raise ValueError(f"{lane} does not start at a multiple of {size} bytes")
    return range(lane.address, lane.address + size)


def _active_warps(lanes: Iterable[Lane]) -> list[list[Lane]]:
    warps: dict[tuple[int, int], list[Lane]] = {}
    for lane in lanes:
        if lane.active:
            warps.setdefault((lane.block, lane.warp), []).append(lane)
    return list(warps.values())


def _lanes_per_group(size: int, paired: bool) -> int:
    """Lanes that are served together: 32, or 16 at 8 bytes each, 8 at 16; twice that in pairs."""
    alone = {8: 16, 16: 8}.get(size, LANES)
    return min(LANES, 2 * alone) if paired else alone


def _groups(warp: list[Lane], lanes_per_group: int) -> list[list[Lane]]:
    """Cut the active lanes of a warp by lane number; groups without any do not appear."""
    groups: dict[int, list[Lane]] = {}
    for lane in warp:
        groups.setdefault(lane.lane // lanes_per_group, []).append(lane)
    return list(groups.values())


def _pair_condition(warp: list[Lane]) -> bool:
    """Say if lanes pair up: all 0 with 1, 2 with 3, ..., or all 0 with 2, 1 with 3, ...

    A pair holds if both lanes have one address, or if at most one of them is active.
    """
    address = {lane.lane: lane.address for lane in warp}
    for distance in (1, 2):
        partners = [(address[lane], address.get(lane ^ distance)) for lane in address]
        if all(other is None or own == other for own, other in partners):
            return True
    return False


def _words(group: list[Lane], size: int) -> set[int]:
    return {byte // WORD for lane in group for byte in bytes_of(lane, size)}


def _busiest_bank(group: list[Lane], size: int) -> int:
    """Count the distinct words in the bank that has most: one wavefront each."""
    per_bank = [0] * BANKS
    for word in _words(group, size):
        per_bank[word % BANKS] += 1
    return max(per_bank)
