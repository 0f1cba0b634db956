"""A slow second opinion: what accesses cost and which hazards they show, one lane at a time.

Plain Python over plain lists, written from the rules alone and sharing no code with ``pipeline``,
so that an agreement of the two means something. An access is a list of :class:`Lane`, of any number
of warps and blocks; every lane moves ``width`` neighbouring elements of ``itemsize`` bytes.

Everything is followed down to single bytes: a lane's bytes give its sectors, lines and words, and
hazards are kept per byte. As an array has elements of one size and accesses are aligned, two
accesses share a byte exactly if they share an element.

Sources of the rules: section 1 of the lecture's module description (counting, phases, hazards) and
the rules measured on hardware (pairs of lanes; see ``docs/MODEL.md``).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

SECTOR, LINE, WORD = 32, 128, 4
BANKS = LANES = 32

RAW = "read_after_write"
WAR = "write_after_read"
WAW = "write_after_write"
COLLISION = "store_collision"
UNINITIALISED = "uninitialised_read"
RACES = (RAW, WAR, WAW, COLLISION)


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


@dataclass(frozen=True)
class Offence:
    """One element that one warp may not touch now.

    Attributes
    ----------
    warp
        The warp whose instruction offends.
    other
        The warp that it collides with: itself for two lanes of one store, -1 for an element that
        nobody wrote.
    address
        First byte of the element.
    """

    warp: int
    other: int
    address: int


@dataclass
class Byte:
    """What happened to one byte of one block's array.

    ``readers`` and ``writers`` are the warps that touched it in the interval ``epoch``; in a later
    interval they no longer count. ``written`` holds for good.
    """

    epoch: int = -1
    readers: set[int] = field(default_factory=set)
    writers: set[int] = field(default_factory=set)
    written: bool = False

    def enter(self, epoch: int) -> None:
        """Forget who touched it before the last barrier."""
        if self.epoch != epoch:
            self.epoch = epoch
            self.readers = set()
            self.writers = set()


def global_access(lanes: Iterable[Lane], itemsize: int = 4, width: int = 1) -> dict[str, int]:
    """Count what a global load or store asks of memory.

    Returns
    -------
    dict
        ``instructions`` (warps with an active lane), ``sectors`` and ``lines`` (distinct 32-byte
        and 128-byte pieces, per warp instruction), ``bytes`` (active lanes times bytes per lane).
    """
    size = _bytes_per_lane(itemsize, width)
    count = {"instructions": 0, "sectors": 0, "lines": 0, "bytes": 0}
    for warp in _active_warps(lanes):
        sectors = set()
        lines = set()
        for lane in warp:
            for byte in _bytes_of(lane, size):
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
    size = _bytes_per_lane(itemsize, width)
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


class HazardOracle:
    """Hazards on one shared array of every block of a launch.

    Attributes
    ----------
    counts
        Instructions of blocks that showed each kind.
    race_count
        Instructions of blocks that showed any race, whatever its kinds.
    """

    def __init__(self) -> None:
        self.counts = {RAW: 0, WAR: 0, WAW: 0, COLLISION: 0, UNINITIALISED: 0}
        self.race_count = 0
        self._bytes: dict[tuple[int, int], Byte] = {}
        self._epochs: dict[int, int] = {}

    def barrier(self, block: int) -> None:
        """Let all threads of ``block`` wait for each other."""
        self._epochs[block] = self._epochs.get(block, 0) + 1

    def load(
        self, lanes: Iterable[Lane], itemsize: int = 4, width: int = 1
    ) -> dict[int, dict[str, set[Offence]]]:
        """Read; give the offences of this instruction by block and kind."""
        size = _bytes_per_lane(itemsize, width)
        found: dict[int, dict[str, set[Offence]]] = {}
        for lane in lanes:
            for address in _bytes_of(lane, size) if lane.active else ():
                byte = self._at(lane.block, address)
                element = address - address % itemsize
                for other in byte.writers:
                    if other != lane.warp:
                        _add(found, lane, RAW, other, element)
                if not byte.written:
                    _add(found, lane, UNINITIALISED, -1, element)
                byte.readers.add(lane.warp)
        return self._report(found)

    def store(
        self, lanes: Iterable[Lane], itemsize: int = 4, width: int = 1
    ) -> dict[int, dict[str, set[Offence]]]:
        """Write; give the offences of this instruction by block and kind."""
        size = _bytes_per_lane(itemsize, width)
        found: dict[int, dict[str, set[Offence]]] = {}
        stored: set[tuple[int, int, int]] = set()
        for lane in lanes:
            for address in _bytes_of(lane, size) if lane.active else ():
                byte = self._at(lane.block, address)
                element = address - address % itemsize
                for others, kind in ((byte.readers, WAR), (byte.writers, WAW)):
                    for other in others:
                        if other != lane.warp:
                            _add(found, lane, kind, other, element)
                if (lane.block, lane.warp, address) in stored:
                    _add(found, lane, COLLISION, lane.warp, element)
                stored.add((lane.block, lane.warp, address))
                byte.writers.add(lane.warp)
                byte.written = True
        return self._report(found)

    def _at(self, block: int, address: int) -> Byte:
        byte = self._bytes.setdefault((block, address), Byte())
        byte.enter(self._epochs.get(block, 0))
        return byte

    def _report(
        self, found: dict[int, dict[str, set[Offence]]]
    ) -> dict[int, dict[str, set[Offence]]]:
        for kinds in found.values():
            for kind in kinds:
                self.counts[kind] += 1
            if any(kind in RACES for kind in kinds):
                self.race_count += 1
        return found


def colliding_blocks(lanes: Iterable[Lane], itemsize: int = 4, width: int = 1) -> set[int]:
    """Give the blocks of which two threads write one element of global memory in one store."""
    size = _bytes_per_lane(itemsize, width)
    stored: set[tuple[int, int]] = set()
    colliding: set[int] = set()
    for lane in lanes:
        for address in _bytes_of(lane, size) if lane.active else ():
            if (lane.block, address) in stored:
                colliding.add(lane.block)
            stored.add((lane.block, address))
    return colliding


def _bytes_per_lane(itemsize: int, width: int) -> int:
    size = itemsize * width
    if itemsize not in (1, 2, 4, 8) or width not in (1, 2, 4) or size > 16:
        raise ValueError(f"no access moves {width} elements of {itemsize} bytes")
    return size


def _bytes_of(lane: Lane, size: int) -> range:
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
    return {byte // WORD for lane in group for byte in _bytes_of(lane, size)}


def _busiest_bank(group: list[Lane], size: int) -> int:
    """Count the distinct words in the bank that has most: one wavefront each."""
    per_bank = [0] * BANKS
    for word in _words(group, size):
        per_bank[word % BANKS] += 1
    return max(per_bank)


def _add(
    found: dict[int, dict[str, set[Offence]]], lane: Lane, kind: str, other: int, element: int
) -> None:
    kinds = found.setdefault(lane.block, {})
    kinds.setdefault(kind, set()).add(Offence(lane.warp, other, element))
