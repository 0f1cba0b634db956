"""A slow second opinion: which hazards accesses show, one lane at a time.

Written from the rules alone, as :mod:`tests.simt.oracle`. Hazards are kept per byte: as an array
has elements of one size and accesses are aligned, two accesses share a byte exactly if they share
an element.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.simt.oracle import Lane, bytes_of, bytes_per_lane

RAW = "read_after_write"
WAR = "write_after_read"
WAW = "write_after_write"
COLLISION = "store_collision"
UNINITIALISED = "uninitialised_read"
IN_FLIGHT = "unfinished_copy"
GLOBAL_READ = "global_read_race"
GLOBAL_WRITE = "global_write_race"
INACTIVE_LANE = "inactive_lane_read"
DIVERGENT_BARRIER = "divergent_barrier"
RACES = (RAW, WAR, WAW, COLLISION, IN_FLIGHT)


@dataclass(frozen=True)
class Offence:
    """One element that one warp may not touch now.

    Attributes
    ----------
    warp
        The warp whose instruction offends.
    other
        The warp that it collides with: itself for two lanes of one store, -1 where there is none.
    address
        First byte of the element.
    """

    warp: int
    other: int
    address: int


Found = dict[int, dict[str, set[Offence]]]


@dataclass
class Byte:
    """What happened to one byte of one block's array.

    ``readers``, ``writers`` and ``updaters`` (by atomics) are the warps that touched it in the
    interval ``epoch``; in a later interval they no longer count. ``written`` holds for good, and
    ``flying`` counts the copies that have not been waited for.
    """

    epoch: int = -1
    readers: set[int] = field(default_factory=set)
    writers: set[int] = field(default_factory=set)
    updaters: set[int] = field(default_factory=set)
    written: bool = False
    flying: int = 0

    def enter(self, epoch: int) -> None:
        """Forget who touched it before the last barrier."""
        if self.epoch != epoch:
            self.epoch = epoch
            self.readers = set()
            self.writers = set()
            self.updaters = set()


class HazardOracle:
    """Hazards on one shared array of every block of a launch.

    Every instruction gives its offences by block and kind.

    Attributes
    ----------
    counts
        Instructions of blocks that showed each kind.
    race_count
        Instructions of blocks that showed any race, whatever its kinds.
    """

    def __init__(self) -> None:
        self.counts = dict.fromkeys((*RACES, UNINITIALISED), 0)
        self.race_count = 0
        self._bytes: dict[tuple[int, int], Byte] = {}
        self._epochs: dict[int, int] = {}

    def barrier(self, block: int) -> None:
        """Let all threads of ``block`` wait for each other."""
        self._epochs[block] = self._epochs.get(block, 0) + 1

    def load(self, lanes: Iterable[Lane], itemsize: int = 4, width: int = 1) -> Found:
        """Read."""
        found: Found = {}
        for lane, element, byte in self._touched(lanes, itemsize, width):
            _others(found, lane, RAW, byte.writers | byte.updaters, element)
            _alone(found, lane, UNINITIALISED, not byte.written, element)
            _alone(found, lane, IN_FLIGHT, byte.flying > 0, element)
            byte.readers.add(lane.warp)
        return self._report(found)

    def store(self, lanes: Iterable[Lane], itemsize: int = 4, width: int = 1) -> Found:
        """Write."""
        return self._write(lanes, itemsize, width, flies=False)

    def copy(self, lanes: Iterable[Lane], itemsize: int = 4, width: int = 1) -> Found:
        """Start an asynchronous copy, which writes when it likes until it lands."""
        return self._write(lanes, itemsize, width, flies=True)

    def land(self, lanes: Iterable[Lane], itemsize: int = 4, width: int = 1) -> None:
        """Let a copy arrive by the wait of those who started it."""
        for lane, _, byte in self._touched(lanes, itemsize, width):
            byte.flying -= 1
            byte.writers.add(lane.warp)

    def atomic(self, lanes: Iterable[Lane], itemsize: int = 4) -> Found:
        """Read and write at once; in order with other atomics, whoever does them."""
        found: Found = {}
        for lane, element, byte in self._touched(lanes, itemsize, 1):
            _others(found, lane, WAR, byte.readers, element)
            _others(found, lane, WAW, byte.writers, element)
            _alone(found, lane, UNINITIALISED, not byte.written, element)
            _alone(found, lane, IN_FLIGHT, byte.flying > 0, element)
        for lane, _, byte in self._touched(lanes, itemsize, 1):
            byte.updaters.add(lane.warp)
            byte.written = True
        return self._report(found)

    def _write(self, lanes: Iterable[Lane], itemsize: int, width: int, *, flies: bool) -> Found:
        found: Found = {}
        stored: set[tuple[int, int, int]] = set()
        for lane, element, byte in self._touched(lanes, itemsize, width):
            _others(found, lane, WAR, byte.readers, element)
            _others(found, lane, WAW, byte.writers | byte.updaters, element)
            _alone(found, lane, IN_FLIGHT, byte.flying > 0, element)
            place = (lane.block, lane.warp, id(byte))
            if place in stored:
                _add(found, lane, COLLISION, lane.warp, element)
            stored.add(place)
            byte.writers.add(lane.warp)
            byte.written = True
            byte.flying += flies
        return self._report(found)

    def _touched(
        self, lanes: Iterable[Lane], itemsize: int, width: int
    ) -> Iterable[tuple[Lane, int, Byte]]:
        size = bytes_per_lane(itemsize, width)
        for lane in lanes:
            for address in bytes_of(lane, size) if lane.active else ():
                byte = self._bytes.setdefault((lane.block, address), Byte())
                byte.enter(self._epochs.get(lane.block, 0))
                yield lane, address - address % itemsize, byte

    def _report(self, found: Found) -> Found:
        for kinds in found.values():
            for kind in kinds:
                self.counts[kind] += 1
            if any(kind in RACES for kind in kinds):
                self.race_count += 1
        return found


class BlockRaceOracle:
    """Races of blocks on one global array: who may touch what is known only after the launch.

    Every instruction is kept with the bytes that each block touches.
    """

    def __init__(self) -> None:
        self._instructions: list[tuple[str, dict[int, set[int]], set[int]]] = []

    def enter(
        self,
        kind: str,
        lanes: Iterable[Lane],
        itemsize: int = 4,
        width: int = 1,
        colliding: Iterable[int] = (),
    ) -> None:
        """Note a ``load``, ``store`` or ``atomic``.

        ``colliding`` are the blocks for which the instruction is an offence already.
        """
        size = bytes_per_lane(itemsize, width)
        touched: dict[int, set[int]] = {}
        for lane in lanes:
            if lane.active:
                touched.setdefault(lane.block, set()).update(bytes_of(lane, size))
        self._instructions.append((kind, touched, set(colliding)))

    def offences(self) -> list[tuple[str, int, bool]]:
        """Give hazard, block, and whether it offended otherwise already, once per instruction.

        Of a reader and a writer the reader offends, of two writers the one with the higher number;
        two atomics do not.
        """
        found = []
        for kind, touched, colliding in self._instructions:
            for block, mine in touched.items():
                if kind == "load":
                    theirs = self._written(("store", "atomic"), lambda it, me=block: it != me)
                elif kind == "store":
                    theirs = self._written(("store", "atomic"), lambda it, me=block: it < me)
                else:
                    theirs = self._written(("store",), lambda it, me=block: it < me)
                if mine & theirs:
                    hazard = GLOBAL_READ if kind == "load" else GLOBAL_WRITE
                    found.append((hazard, block, block in colliding))
        return found

    def _written(self, kinds, counts) -> set[int]:
        return {
            byte
            for kind, touched, _ in self._instructions
            if kind in kinds
            for block, bytes_touched in touched.items()
            if counts(block)
            for byte in bytes_touched
        }


def colliding_blocks(lanes: Iterable[Lane], itemsize: int = 4, width: int = 1) -> set[int]:
    """Give the blocks of which two threads write one element of global memory in one store."""
    size = bytes_per_lane(itemsize, width)
    stored: set[tuple[int, int]] = set()
    colliding: set[int] = set()
    for lane in lanes:
        for address in bytes_of(lane, size) if lane.active else ():
            if (lane.block, address) in stored:
                colliding.add(lane.block)
            stored.add((lane.block, address))
    return colliding


def _others(found: Found, lane: Lane, kind: str, warps: set[int], element: int) -> None:
    for other in warps - {lane.warp}:
        _add(found, lane, kind, other, element)


def _alone(found: Found, lane: Lane, kind: str, holds: bool, element: int) -> None:
    if holds:
        _add(found, lane, kind, -1, element)


def _add(found: Found, lane: Lane, kind: str, other: int, element: int) -> None:
    kinds = found.setdefault(lane.block, {})
    kinds.setdefault(kind, set()).add(Offence(lane.warp, other, element))
