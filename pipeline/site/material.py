"""What the pages are made of: the files of the artifacts, by lecture, kind and language."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FIRST_LANGUAGE = "en"
"""Files in this language have no sign of it in their names."""

DOWNLOADS = (".csv", ".tex")
"""What is copied beside the pages, so that they can be taken along; pictures are in the pages."""

MOST_CHARACTERS = 30_000
"""Longer files are not copied: their numbers are in the dataset."""


@dataclass(frozen=True)
class Material:
    """Everything that is shown of one artifact.

    Attributes
    ----------
    id
        As in the catalog.
    words
        The job's own record of it: its words by language, the stores it needs, its parameters.
    files
        (kind, language, suffix) -> content; kind is ``"tables"`` or ``"figures"``. A csv has no
        language: it stands under the first one.
    """

    id: str
    words: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[tuple[str, str, str], str] = field(default_factory=dict)

    def text(self, kind: str, language: str, suffix: str) -> str | None:
        """Content of one file, or None if there is no such file."""
        return self.files.get((kind, language, suffix))

    def downloads(self, language: str) -> dict[str, str]:
        """Files that a reader of one language may take along: name -> content."""
        return {
            f"{kind}/{self.id}{'' if spoken == FIRST_LANGUAGE else f'.{spoken}'}{suffix}": content
            for (kind, spoken, suffix), content in self.files.items()
            if suffix in DOWNLOADS and len(content) <= MOST_CHARACTERS
            if spoken == (FIRST_LANGUAGE if suffix == ".csv" else language)
        }


def read_claims(path: str | Path) -> dict[str, Any]:
    """Read the claims, as the rule ``claims`` wrote them."""
    claims: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return claims


def read_material(
    paths: Iterable[str | Path], lectures: Mapping[str, Sequence[str]]
) -> dict[str, list[Material]]:
    """Read the files of the artifacts.

    Parameters
    ----------
    paths
        Files as ``.../lecture10/tables/<id>.zh.html`` and ``.../lecture10/words/<id>.json``.
    lectures
        ``"lecture10"`` -> ids, in the order in which they are shown.

    Returns
    -------
    dict
        Lecture -> its artifacts in that order.
    """
    words: dict[tuple[str, str], Any] = {}
    files: dict[tuple[str, str], dict[tuple[str, str, str], str]] = {}
    for path in map(Path, paths):
        lecture, kind = path.parts[-3:-1]
        artifact, _, ending = path.name.partition(".")
        text = path.read_text(encoding="utf-8")
        if kind == "words":
            words[lecture, artifact] = json.loads(text)
        else:
            language = ending.rpartition(".")[0] or FIRST_LANGUAGE
            files.setdefault((lecture, artifact), {})[kind, language, path.suffix] = text
    return {
        lecture: [Material(one, words[lecture, one], files.get((lecture, one), {})) for one in ids]
        for lecture, ids in lectures.items()
    }
