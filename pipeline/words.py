"""The language of results: English in the source, other languages from ``pipeline/locale``.

The English text is the id of a message. A translation may put ``{placeholders}`` in another order,
so a template is translated first and filled afterwards: ``say("{n} blocks").format(n=n)``.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from babel.messages.pofile import read_po

ENGLISH = "en"
TRANSLATIONS = ("zh",)
"""Languages that have a catalogue."""

_LOCALE = Path(__file__).parent / "locale"

Say = Callable[[str], str]
"""Gives a text in one language; what is not in the catalogue, such as the name of a GPU, stays."""


def message(text: str) -> str:
    """Mark a text of a record for translation; ``say`` gives it in a language where it is shown."""
    return text


def english(text: str) -> str:
    """Give a text as it stands in the source."""
    return text


def speaker(language: str) -> Say:
    """Choose a language.

    Parameters
    ----------
    language
        ``"en"``, or one of :data:`TRANSLATIONS`.

    Raises
    ------
    FileNotFoundError
        If there is no catalogue of that language.
    """
    if language == ENGLISH:
        return english
    catalogue = translations(language)
    return lambda text: catalogue.get(text, text)


@cache
def translations(language: str) -> Mapping[str, str]:
    """Read what a catalogue translates: English text to text, without what has no translation.

    Raises
    ------
    FileNotFoundError
        If there is no catalogue of that language.
    """
    with catalogue_file(language).open("rb") as file:
        catalogue = read_po(file, locale=language)
    return {
        str(entry.id): str(entry.string)
        for entry in catalogue
        if entry.id and entry.string and not entry.fuzzy
    }


def catalogue_file(language: str) -> Path:
    """Name the file of a catalogue."""
    return _LOCALE / f"{language}.po"


def digest(language: str, used: Iterable[str]) -> str:
    """Digest of what a language says for these texts.

    Returns
    -------
    SHA-256 in hexadecimal; it changes exactly when the translation of one of the texts does.
    """
    say = speaker(language)
    pairs = sorted((text, say(text)) for text in set(used) if say(text) != text)
    return hashlib.sha256(repr(pairs).encode()).hexdigest()
