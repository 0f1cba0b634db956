"""How far a sweep is: a line per step in the log, one moving line on a terminal."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO

from pipeline.sweep.plan import duration


@dataclass
class Progress:
    """Tells how many points are done, how fast, and for how long it will go on.

    Attributes
    ----------
    log
        Takes a line per step.
    terminal
        Takes one line that is written anew; None where nobody looks on.
    clock
        Gives seconds.
    """

    log: TextIO
    terminal: TextIO | None = None
    clock: Callable[[], float] = time.monotonic
    _total: int = field(init=False, default=0)
    _started: float = field(init=False, default=0.0)
    _done: int = field(init=False, default=0)
    _found: int = field(init=False, default=0)

    def begin(self, plan: str, points: int) -> None:
        """Tell the plan, and start the clock."""
        for stream in filter(None, (self.log, self.terminal)):
            stream.write(f"{plan}\n")
            stream.flush()
        self._total, self._started = points, self.clock()

    def found(self, points: int, regions: int) -> None:
        """Tell what an earlier run had finished."""
        if regions:
            self._done = self._found = points
            self.log.write(f"found {regions:,} finished regions, {points:,} points\n")
            self.log.flush()

    def step(self, name: str, points: int) -> None:
        """Tell that a part is done."""
        self._done += points
        line = self._line()
        self.log.write(f"{name}: {line}\n")
        self.log.flush()
        if self.terminal:
            self.terminal.write(f"\r{line}\x1b[K")
            self.terminal.flush()

    def end(self) -> None:
        """Leave the terminal's line as it is."""
        if self.terminal and self._done > self._found:
            self.terminal.write("\n")
            self.terminal.flush()

    def _line(self) -> str:
        seconds = max(self.clock() - self._started, 1e-9)
        rate = (self._done - self._found) / seconds
        left = f", {duration((self._total - self._done) / rate)} left" if rate else ""
        share = self._done / self._total if self._total else 1.0
        return (
            f"{share:.1%}, {self._done:,} of {self._total:,} points, {rate:,.4g} per second{left}"
        )
