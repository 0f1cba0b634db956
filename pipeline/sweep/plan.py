"""Say what a sweep will take before it starts, and stop if that is too much."""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline import units
from pipeline.errors import SweepError


@dataclass(frozen=True)
class Budget:
    """The most that a sweep may take.

    Attributes
    ----------
    points
        Points computed.
    size
        Bytes in memory of what is stored; compressed it takes less.
    seconds
        Estimated time (s).
    """

    points: int
    size: int
    seconds: float


@dataclass(frozen=True)
class Plan:
    """What a sweep will take.

    Attributes
    ----------
    name, unit
        As in the sweep.
    lengths
        Values of each parameter.
    considered, points, excluded
        Points of the grid; those computed; those excluded, by rule.
    regions
        How many parts it is done in.
    size
        Bytes of the result, before compression.
    seconds
        Estimated time of one worker (s), from a sample.
    """

    name: str
    unit: str
    lengths: Mapping[str, int]
    considered: int
    points: int
    excluded: Mapping[str, int]
    regions: int
    size: int
    seconds: float

    def statement(self) -> str:
        """Put the plan into words."""
        grid = " x ".join(f"{length} {name}" for name, length in self.lengths.items())
        left_out = ", ".join(f"{rule} {count:,}" for rule, count in self.excluded.items() if count)
        return "\n".join(
            [
                f"{self.name}: {grid} = {self.considered:,} {self.unit}",
                f"  excluded: {left_out or 'none'}",
                f"  computed: {self.points:,}, in {self.regions:,} regions",
                f"  writes {units.with_prefix(self.size, 'B')} before compression",
                f"  takes at most about {duration(self.seconds)}, by a sample with one worker",
            ]
        )

    def require(self, budget: Budget) -> None:
        """Refuse a sweep that exceeds the budget.

        Raises
        ------
        SweepError
            Naming what exceeds it, and what to cut.
        """
        over = [
            f"{what} {wanted} of at most {most}"
            for what, wanted, most, exceeds in (
                ("points", f"{self.points:,}", f"{budget.points:,}", self.points > budget.points),
                (
                    "bytes",
                    units.with_prefix(self.size, "B"),
                    units.with_prefix(budget.size, "B"),
                    self.size > budget.size,
                ),
                (
                    "time",
                    duration(self.seconds),
                    duration(budget.seconds),
                    self.seconds > budget.seconds,
                ),
            )
            if exceeds
        ]
        if over:
            raise SweepError(
                f"{self.statement()}\nThis is more than the budget allows: {'; '.join(over)}. "
                f"{self._cut(budget)} Or raise sweeps.budget in config/config.yaml"
            )

    def _cut(self, budget: Budget) -> str:
        """Say by how much the longest parameters have to be shortened."""
        factor = max(
            self.points / budget.points, self.size / budget.size, self.seconds / budget.seconds
        )
        longest = sorted(self.lengths, key=lambda name: -self.lengths[name])[:3]
        listed = ", ".join(f"{name} ({self.lengths[name]} values)" for name in longest)
        return f"Cut the space to 1/{factor:.3g} of it: fewer values of {listed}, or a lower scale."


def duration(seconds: float) -> str:
    """Write a time for people.

    >>> duration(0.4), duration(75), duration(7300)
    ('0.4 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    if round(seconds) < 3600:
        return "{} min {} s".format(*divmod(round(seconds), 60))
    return "{} h {} min".format(*divmod(round(seconds / 60), 60))
