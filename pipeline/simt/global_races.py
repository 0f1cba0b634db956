"""Races of blocks on global memory: the definition.

Nothing orders the blocks of a launch, so what counts is which blocks touch an element at any time
during the launch, never who came first.
"""

from dataclasses import dataclass, field

from pipeline.simt.hazards import GLOBAL_READ, GLOBAL_WRITE
from pipeline.simt.hazards_fast import ATOMIC, LOAD, STORE


@dataclass
class LaunchHistory:
    """Which blocks touched which element of one global array, over a whole launch."""

    instructions: list[tuple[int, int, set[int]]] = field(default_factory=list)

    def enter(self, block: int, kind: int, elements: set[int]) -> None:
        """Note one instruction of a block.

        Parameters
        ----------
        block
            Number of the block in the launch.
        kind
            ``LOAD``, ``STORE`` or ``ATOMIC`` of :mod:`pipeline.simt.hazards_fast`.
        elements
            What its active threads touch.
        """
        self.instructions.append((block, kind, elements))

    def races(self) -> list[str | None]:
        """Give the kind of hazard, or None, of every instruction in the order of entry.

        A load races with every write of another block, plain or atomic. A store races with the
        writes of blocks with a lower number, an atomic with their plain writes.
        """
        return [self._race(*instruction) for instruction in self.instructions]

    def _race(self, block: int, kind: int, elements: set[int]) -> str | None:
        against = {LOAD: (STORE, ATOMIC), STORE: (STORE, ATOMIC), ATOMIC: (STORE,)}[kind]
        for other, what, touched in self.instructions:
            comes_first = other != block if kind == LOAD else other < block
            if what in against and comes_first and touched & elements:
                return GLOBAL_READ if kind == LOAD else GLOBAL_WRITE
        return None
