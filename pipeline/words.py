"""The language of results: English in the source, other languages from ``pipeline/locale``.

The English text is the id of a message. A translation may put ``{placeholders}`` in another order,
so a template is translated first and filled afterwards: ``say("{n} blocks").format(n=n)``.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, reduce
from pathlib import Path
from string import Formatter

from babel.messages.pofile import read_po

ENGLISH = "en"
TRANSLATIONS = ("zh",)
"""Languages that have a catalogue."""

_LOCALE = Path(__file__).parent / "locale"

_HAN, _SIGNS = r"\u4e00-\u9fff", r"\u3000-\u303f\uff00-\uffef\u201c\u201d\u2026"
_SPACES = (
    (re.compile(rf"(?<=[{_HAN}]) +(?=[{_HAN}])|(?<=[{_SIGNS}]) +| +(?=[{_SIGNS}])"), ""),
    (re.compile(rf"(?<=[{_HAN}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9%])(?=[{_HAN}])"), " "),
)

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


def listed(names: Sequence[str], say: Say) -> str:
    """Write names in a row."""
    return say(", ").join(names)


def named_together(names: Sequence[str], say: Say) -> str:
    """Write names in a row as in a sentence, with a word before the last one."""
    if len(names) == 1:
        return names[0]
    return say("{names} and {last}").format(names=listed(names[:-1], say), last=names[-1])


def together(sentences: Sequence[str], say: Say) -> str:
    """Write sentences one after the other, as the language does."""
    told = [sentence for sentence in sentences if sentence]
    if not told:
        return ""
    return reduce(lambda one, two: say("{first} {second}").format(first=one, second=two), told)


def retold(text: str, templates: Iterable[str], say: Say) -> str:
    """Give a text that was made from a template in English, as those in stores are.

    Parameters
    ----------
    text
        Made from one of the templates, or from none; what was filled in may be made from one too.
    templates
        Marked with :func:`message`.
    say
        The language.
    """
    for template in templates:
        if found := _pattern(template).fullmatch(text):
            held = {name: retold(one, templates, say) for name, one in found.groupdict().items()}
            return _without_formats(say(template)).format(**held)
    return say(text)


def spaced(text: str, language: str) -> str:
    """Put spaces where Chinese meets Latin letters and numbers, and nowhere else beside it.

    Names that are filled into a template may be in either, so only the whole text shows where.

    >>> spaced("瓶颈是L1，不是 共享内存 ", "zh")
    '瓶颈是 L1，不是共享内存'
    """
    if language != "zh":
        return text
    for pattern, between in _SPACES:
        text = pattern.sub(between, text)
    return text.strip()


@cache
def _pattern(template: str) -> re.Pattern[str]:
    parts = (
        re.escape(fixed) + (f"(?P<{name}>.+?)" if name else "")
        for fixed, name, _, _ in Formatter().parse(template)
    )
    return re.compile("".join(parts))


def _without_formats(template: str) -> str:
    """Leave out how values are written: they are text already."""
    parts = (
        fixed + (f"{{{name}}}" if name else "") for fixed, name, _, _ in Formatter().parse(template)
    )
    return "".join(parts)


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
