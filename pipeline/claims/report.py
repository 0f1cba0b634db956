"""Judged claims as files, and in one line."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.claims.judge import FAILS, HOLDS, NOT_APPLICABLE, VERDICTS, Judged
from pipeline.render.files import as_csv, as_json, publish
from pipeline.words import ENGLISH, TRANSLATIONS, Say, message, speaker

NAMED = 5
"""As many claims that do not hold are named in the summary."""

ALL_HOLD = message("{holding} claims hold.")
ONE_FAILS = message("{holding} claims hold, 1 does not: {names}.")
SOME_FAIL = message("{holding} claims hold, {failing} do not: {names}.")
AND_MORE = message("{names} and {others} more")
NOT_APPLICABLE_TOO = message("{verdict} {left_out} are not applicable.")


def write_claims(judged: Sequence[Judged], outputs: Iterable[str | Path]) -> None:
    """Write claims, in every language there is.

    Parameters
    ----------
    judged
        In the order in which they are shown.
    outputs
        Paths that end in csv or json. The csv has a row per claim; numbers of a claim that has
        several, and their bounds, are separated by semicolons. The json holds what a page needs.
    """
    says = {language: speaker(language) for language in (ENGLISH, *TRANSLATIONS)}
    writers: dict[str, Callable[[], bytes]] = {
        ".csv": lambda: as_csv(_frame(judged, says)),
        ".json": lambda: as_json(_page(judged, says)),
    }
    publish({Path(path): writers[Path(path).suffix]() for path in outputs})


def summary(judged: Sequence[Judged], say: Say) -> str:
    """Count claims in a sentence, and name those that do not hold."""
    counts = _counts(judged)
    failing = [one.claim.id for one in judged if one.verdict == FAILS]
    names = ", ".join(failing[:NAMED])
    if len(failing) > NAMED:
        names = say(AND_MORE).format(names=names, others=len(failing) - NAMED)
    template = {0: ALL_HOLD, 1: ONE_FAILS}.get(len(failing), SOME_FAIL)
    verdict = say(template).format(holding=counts[HOLDS], failing=len(failing), names=names)
    if not counts[NOT_APPLICABLE]:
        return verdict
    return say(NOT_APPLICABLE_TOO).format(verdict=verdict, left_out=counts[NOT_APPLICABLE])


def told(path: str | Path, language: str) -> str:
    """Read the summary from the json that was written."""
    page = json.loads(Path(path).read_text(encoding="utf-8"))
    text: str = page["summary"][language]
    return text


def _counts(judged: Iterable[Judged]) -> dict[str, int]:
    verdicts = [one.verdict for one in judged]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def _frame(judged: Iterable[Judged], says: Mapping[str, Say]) -> pd.DataFrame:
    return pd.DataFrame([_row(one, says) for one in judged])


def _row(one: Judged, says: Mapping[str, Say]) -> dict[str, Any]:
    measures = list(one.measures.values())
    columns = {
        "value": [measure.value for measure in measures],
        "lower": [measure.lower for measure in measures],
        "upper": [measure.upper for measure in measures],
    }
    return {
        "id": one.claim.id,
        "lecture": one.claim.lecture,
        "artifacts": " ".join(one.claim.artifacts),
        "statement": one.statement(says[ENGLISH]),
        **{f"statement_{name}": one.statement(says[name]) for name in TRANSLATIONS},
        **{name: "; ".join(map(_text, numbers)) for name, numbers in columns.items()},
        "holds": one.verdict,
        "reason": one.why_not(says[ENGLISH]),
    }


def _text(number: float) -> str:
    """Write a number to the last digit; no bound is no text."""
    return repr(number) if math.isfinite(number) else ""


def _page(judged: Sequence[Judged], says: Mapping[str, Say]) -> dict[str, Any]:
    return {
        "counts": _counts(judged),
        "summary": {language: summary(judged, say) for language, say in says.items()},
        "claims": [_entry(one, says) for one in judged],
    }


def _entry(one: Judged, says: Mapping[str, Say]) -> dict[str, Any]:
    return {
        "id": one.claim.id,
        "lecture": one.claim.lecture,
        "artifacts": list(one.claim.artifacts),
        "holds": one.verdict,
        "statement": {language: one.statement(say) for language, say in says.items()},
        "reason": {language: one.why_not(say) for language, say in says.items()},
        "measures": [
            {
                "name": name,
                "value": measure.value,
                "lower": _or_none(measure.lower),
                "upper": _or_none(measure.upper),
            }
            for name, measure in one.measures.items()
        ],
        "needs": {name: f"results/{store}.zarr" for name, store in one.claim.needs.items()},
        "parameters": dict(one.parameters),
    }


def _or_none(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None
