"""Hold claims against results."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import xarray as xr

from pipeline.claims.claim import Claim, Finding, Measure, NotApplicableError
from pipeline.claims.pick import NOTHING
from pipeline.render.column import MISSING
from pipeline.words import Say

HOLDS, FAILS, NOT_APPLICABLE = "yes", "no", "not applicable"
VERDICTS = (HOLDS, FAILS, NOT_APPLICABLE)


class _Unknown:
    """Stands for a number that there is not, whatever its format."""

    def __format__(self, specification: str) -> str:
        return MISSING


@dataclass(frozen=True)
class Judged:
    """A claim and what came of it.

    Attributes
    ----------
    claim
        The claim.
    parameters
        Settings that it took.
    finding
        None where the claim is not applicable.
    reason, reason_facts
        Why it is not: a template, and what fills it.
    """

    claim: Claim
    parameters: Mapping[str, Any]
    finding: Finding | None = None
    reason: str = ""
    reason_facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """One of ``VERDICTS``."""
        if self.finding is None:
            return NOT_APPLICABLE
        return HOLDS if self.finding.holds else FAILS

    @property
    def measures(self) -> Mapping[str, Measure]:
        """What was judged; nothing where the claim is not applicable."""
        return self.finding.measures if self.finding else {}

    def statement(self, say: Say) -> str:
        """Give the statement in a language; dashes stand for numbers that there are not."""
        template = say(self.claim.statement)
        if self.finding is None:
            return template.format_map(_Dashes())
        return template.format(**_told(self.finding.words, say))

    def why_not(self, say: Say) -> str:
        """Say in a language why the claim is not applicable; nothing where it is."""
        return say(self.reason).format(**_told(self.reason_facts, say)) if self.reason else ""


class _Dashes(dict[str, _Unknown]):
    def __missing__(self, name: str) -> _Unknown:
        return _Unknown()


def _told(facts: Mapping[str, Any], say: Say) -> dict[str, Any]:
    """Give names in the language too."""
    return {name: say(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}


def judge(
    claims: Iterable[Claim],
    stores: Mapping[str, xr.Dataset],
    settings: Mapping[int, Mapping[str, Any]],
) -> list[Judged]:
    """Check claims.

    Parameters
    ----------
    claims
        In any order.
    stores
        By the names of ``pipeline.claims.claim.STORES``.
    settings
        Lecture -> its settings, those that its claims take.

    Returns
    -------
    In the order of ``claims``. A claim about something that the results do not hold, or whose
    number does not exist, is not applicable.
    """
    return [_judge(one, stores, settings.get(one.lecture, {})) for one in claims]


def _judge(claim: Claim, stores: Mapping[str, xr.Dataset], settings: Mapping[str, Any]) -> Judged:
    parameters = {name: settings[name] for name in claim.parameters}
    try:
        finding = claim.check(**{name: stores[name] for name in claim.needs}, **parameters)
    except NotApplicableError as error:
        return Judged(claim, parameters, None, error.reason, error.facts)
    except ZeroDivisionError:
        # A ratio to something of which there is none, stalls say.
        return Judged(claim, parameters, None, NOTHING)
    if not all(math.isfinite(measure.value) for measure in finding.measures.values()):
        return Judged(claim, parameters, None, NOTHING)
    return Judged(claim, parameters, finding)
