"""A claim: a sentence about results, with the numbers that decide whether it is true.

A claim is made from a function that computes numbers and says between which bounds they must lie:

    @claim(10, ("counters",), message("... {ratio:.1f} times ..."))
    def coalescing_saves_lines(counts, small_n):
        ...
        return Finding({"ratio": between(ratio, 16, 17)})

Its arguments are names of ``STORES`` and of settings of the lecture; its name is the claim's id.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.errors import PaperGpuError

STORES = {
    "bank_patterns": "bank_patterns",
    "best_tiles": "sweeps/best_tiles",
    "best_warp_tiles": "sweeps/best_warp_tiles",
    "block_programs": "block_programs",
    "claimed_reads": "claimed_reads",
    "compared": "decode/compared",
    "compiled_counts": "compiled_counts",
    "counters_measured": "counters_measured",
    "counts": "counts",
    "extrapolation": "extrapolation",
    "fragments": "tensor_core/fragments",
    "gpus": "gpus",
    "hazards": "hazards",
    "ldmatrix": "tensor_core/ldmatrix",
    "ledger": "decode/ledger",
    "measured": "measured",
    "occupancy": "occupancy",
    "predictions": "predictions",
    "sensitivity": "decode/sensitivity",
    "sm_predictions": "sm_predictions",
    "spans": "decode/spans",
    "tile_order": "tile_order",
    "timeline": "decode/timeline",
    "timeline_gain": "sweeps/timeline_gain",
    "validation": "validation",
    "waves": "decode/waves",
}
"""Arguments of claims -> the stores below ``results/`` that they take, without ``.zarr``."""


class NotApplicableError(PaperGpuError):
    """A claim is about something that the results do not hold; no mistake of anybody's.

    Attributes
    ----------
    reason
        A sentence, as a template.
    facts
        What fills it.
    """

    def __init__(self, reason: str, **facts: Any) -> None:
        super().__init__(reason.format(**facts))
        self.reason = reason
        self.facts = facts


@dataclass(frozen=True)
class Measure:
    """A number with the bounds that it must keep, both included."""

    value: float
    lower: float = -math.inf
    upper: float = math.inf

    @property
    def holds(self) -> bool:
        """Whether the number is within its bounds; NaN is not."""
        return self.lower <= self.value <= self.upper


def between(value: float, lower: float, upper: float) -> Measure:
    """Bound a number on both sides."""
    return Measure(float(value), lower, upper)


def exactly(value: float, wanted: float) -> Measure:
    """Demand a number to the last digit, as counts allow."""
    return Measure(float(value), wanted, wanted)


def near(value: float, wanted: float, tolerance: float = 0.01) -> Measure:
    """Demand a number up to a share ``tolerance`` of it, as rounded figures of a text allow."""
    return Measure(float(value), wanted * (1 - tolerance), wanted * (1 + tolerance))


def at_least(value: float, lower: float) -> Measure:
    """Bound a number from below."""
    return Measure(float(value), lower=lower)


def at_most(value: float, upper: float) -> Measure:
    """Bound a number from above."""
    return Measure(float(value), upper=upper)


@dataclass(frozen=True)
class Finding:
    """What a claim has found: judged numbers by name, and what else its sentence names."""

    measures: Mapping[str, Measure]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether every number is within its bounds."""
        return all(measure.holds for measure in self.measures.values())

    @property
    def words(self) -> dict[str, Any]:
        """All that fills the statement."""
        return {name: measure.value for name, measure in self.measures.items()} | dict(self.facts)


@dataclass(frozen=True)
class Claim:
    """One statement of a lecture.

    Attributes
    ----------
    id
        Names it in files and on pages.
    lecture
        Number of the lecture that makes it.
    artifacts
        Tables and figures of that lecture that it interprets.
    statement
        A full sentence; ``{name}`` takes a number of the finding, formats are those of
        ``str.format``.
    check
        Takes what it names of ``STORES`` and of the settings of the lecture.
    """

    id: str
    lecture: int
    artifacts: tuple[str, ...]
    statement: str
    check: Callable[..., Finding]

    @property
    def needs(self) -> dict[str, str]:
        """Stores that it takes, by argument."""
        return {name: STORES[name] for name in self._arguments if name in STORES}

    @property
    def parameters(self) -> tuple[str, ...]:
        """Settings of the lecture that it takes."""
        return tuple(name for name in self._arguments if name not in STORES)

    @property
    def _arguments(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.check).parameters)


def claim(
    lecture: int, artifacts: tuple[str, ...], statement: str
) -> Callable[[Callable[..., Finding]], Claim]:
    """Make a claim of the function below; arguments are the fields of :class:`Claim`."""

    def make(check: Callable[..., Finding]) -> Claim:
        return Claim(check.__name__, lecture, artifacts, statement, check)

    return make
