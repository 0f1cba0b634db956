"""What is written about an artifact: for programs as json, and as captions of a report."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pipeline.render.escape import escape_rst
from pipeline.render.files import as_json, publish


def render_words(about: Mapping[str, Any], outputs: Iterable[str | Path]) -> None:
    """Write the words of an artifact; the suffix of each path says how.

    Parameters
    ----------
    about
        Plain values. ``words`` holds ``title``, ``caption`` and ``reading`` by language.
    outputs
        Paths that end in json or rst. The rst has a part for each language between the lines
        ``.. begin en`` and ``.. end en``, which ``include`` can take out.
    """
    writers = {".json": as_json, ".rst": _captions}
    publish({Path(path): writers[Path(path).suffix](about) for path in outputs})


def _captions(about: Mapping[str, Any]) -> bytes:
    parts = []
    for language, words in about["words"].items():
        texts = [f"**{escape_rst(words['title'])}**"]
        texts += [escape_rst(words[name]) for name in ("caption", "reading") if words[name]]
        parts += [f".. begin {language}", *texts, f".. end {language}"]
    return ("\n\n".join(parts) + "\n").encode()
