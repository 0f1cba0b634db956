"""Watch a global array for races of blocks, doing the work only where a race is possible.

A block that stores is entered in the history of the array at once, because stores are rare. Loads
are many, and harmless on an array that the launch never writes. So they are entered only for arrays
that are both read and written; when an array turns out to be one, the launch starts again with
:class:`StartAgainError`. Only if the history shows a race at the end does the launch run once more,
to say which instructions of which blocks take part.
"""

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError
from pipeline.simt import global_races_fast as fast
from pipeline.simt.access import Access
from pipeline.simt.hazards_fast import LOAD
from pipeline.simt.source import source


class StartAgainError(Exception):
    """A launch must start again to see all loads; never leaves ``pipeline.simt.launch``."""


class Mode(Enum):
    """What is done with an access."""

    OFF = "nothing"
    HISTORY = "entered"
    JUDGE = "held against the history"


class Races:
    """Blocks of a batch that race at one instruction.

    Attributes
    ----------
    racing : (blocks,)
        Which they are.
    report
        See :mod:`pipeline.simt.global_races_fast`.
    """

    __slots__ = ("racing", "report")

    def __init__(self, blocks: int) -> None:
        self.racing = np.zeros(blocks, np.bool_)
        self.report = np.zeros(fast.REPORT_FIELDS, np.int64)


class Traffic:
    """Which blocks touch which element of a global array in one launch.

    Attributes
    ----------
    skips_loads
        Whether further loads change nothing here, so that they need not be handed in.

    Parameters
    ----------
    flat : (elements,)
        The array.
    overlapping
        Names of other arguments that share a part of its memory; such an array cannot be stored to.
    """

    def __init__(self, flat: NDArray[Any], overlapping: tuple[str, ...] = ()) -> None:
        self._flat = flat
        self._overlapping = overlapping
        self._mode = Mode.HISTORY
        self._loads_count = False
        self.skips_loads = False
        self._before: NDArray[Any] | None = None
        self._state: NDArray[np.int32] | None = None

    def access(self, access: Access, numbers: NDArray[np.int64], kind: int) -> list[Races]:
        """Enter an access, or judge it.

        Parameters
        ----------
        access
            One or several instructions.
        numbers : (blocks,)
            Numbers of the blocks in the launch.
        kind
            ``LOAD``, ``STORE`` or ``ATOMIC`` of :mod:`pipeline.simt.hazards_fast`.

        Returns
        -------
        list of Races
            One for each instruction at which blocks race.

        Raises
        ------
        StartAgainError
            If loads turn out to matter that have not been entered.
        """
        if self._mode is Mode.JUDGE and self._state is not None:
            return self._judge(access, numbers, kind, self._state)
        if self._mode is Mode.HISTORY:
            if kind == LOAD and not self._loads_count:
                self.skips_loads = True
                if self._before is not None:
                    self._start_again()
            else:
                self._enter(access, numbers, kind)
        return []

    def prepare_store(self) -> None:
        """Keep the contents before the first store, so that the launch can start again.

        Raises
        ------
        LaunchError
            If the array shares a part of its memory with another argument.
        StartAgainError
            If the array has been loaded from, and loads have not been entered.
        """
        if self._mode is not Mode.HISTORY or self._before is not None:
            return
        if self._overlapping:
            raise LaunchError(
                f"{source()}: the kernel stores to an array that shares a part of its memory with "
                f"{', '.join(self._overlapping)}; pass the same array, or copies"
            )
        self._before = self._flat.copy()
        if self.skips_loads:
            self._start_again()

    def restart(self) -> None:
        """Restore the contents and forget the history."""
        self._restore()
        self.skips_loads, self._state = False, None

    def has_race(self) -> bool:
        """Say whether blocks raced."""
        return self._state is not None and fast.any_race(self._state)

    def review(self) -> None:
        """Restore the contents, and judge the accesses of the next run if blocks raced."""
        self._mode = Mode.JUDGE if self.has_race() else Mode.OFF
        self.skips_loads = self._mode is Mode.OFF
        self._restore()

    def _restore(self) -> None:
        if self._before is not None:
            self._flat[:] = self._before
            self._before = None

    def _start_again(self) -> None:
        self._loads_count = True
        raise StartAgainError

    def _enter(self, access: Access, numbers: NDArray[np.int64], kind: int) -> None:
        if self._state is None:
            self._state = fast.new_state(self._flat.size)
        for number in range(access.repeat):
            fast.enter(
                access.const + number * access.step,
                access.block,
                access.thread,
                access.active,
                access.width,
                kind,
                numbers,
                self._state,
            )

    def _judge(
        self, access: Access, numbers: NDArray[np.int64], kind: int, state: NDArray[np.int32]
    ) -> list[Races]:
        found = []
        for number in range(access.repeat):
            races = Races(len(numbers))
            if fast.judge(
                access.const + number * access.step,
                access.block,
                access.thread,
                access.active,
                access.width,
                kind,
                numbers,
                state,
                races.report,
                races.racing,
            ):
                found.append(races)
        return found
