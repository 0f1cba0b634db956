"""What a table or figure declares about itself.

One module per artifact holds ``ARTIFACT`` and functions that take what they name: datasets by the
keys of ``needs``, settings by the names in ``parameters``.

``table`` and ``COLUMNS``
    The numbers of the table, in SI units, and how each column is shown.
``drawn`` and ``draw``
    The numbers of the figure, and ink: ``drawn`` never formats, ``draw`` never computes.
``facts``
    The numbers in title and captions, by name.

All of them may also name ``say``, which gives a text in the language that is made. Words of
``ARTIFACT`` and ``COLUMNS``, cells of text and facts of text are given in it without asking.

These modules are imported wherever the catalog is looked at, as at every start of Snakemake. So
they import matplotlib, a third of a second, only for types and inside functions that draw.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.render.column import FULL_STOP, Legend
from pipeline.words import Say, together

# What stands at the end of a sentence before the next one.
_SENTENCE_END = re.compile(rf"(?<=\.)\s+(?=\S)|(?<={FULL_STOP})(?=.)")
ALT_SENTENCES = 2


def sentences(text: str) -> list[str]:
    """Take a text of full sentences apart."""
    return _SENTENCE_END.split(text)


@dataclass(frozen=True)
class Words:
    """What is written beside an artifact in one language, with the facts filled in.

    Attributes
    ----------
    title, caption, reading
        As those of :class:`Artifact`.
    both
        Caption and reading in one.
    alt
        The finding, for those who cannot see a picture.
    """

    title: str
    caption: str
    reading: str
    both: str
    alt: str


@dataclass(frozen=True)
class Artifact:
    """Identity, words and needs of one table, figure or both.

    Attributes
    ----------
    id
        Names its files.
    lecture
        Number of the lecture that shows it.
    title
        A few words.
    caption
        Full sentences: what is to be seen. ``{name}`` takes the fact of that name; formats are
        those of ``str.format``.
    reading
        Full sentences that only the figure needs: what its marks mean. Also a template.
    needs
        Argument of the functions -> store below ``results/``, without ``.zarr``.
    parameters
        Settings of the lecture in the configuration that the functions take.
    """

    id: str
    lecture: int
    title: str
    caption: str
    needs: Mapping[str, str]
    parameters: tuple[str, ...] = ()
    reading: str = ""

    def words(self, facts: Mapping[str, Any], say: Say) -> Words:
        """Fill the facts in, in the language of ``say``.

        Parameters
        ----------
        facts
            By the names in the templates; those that are text are given in the language too.
        say
            The language.
        """
        told = {name: say(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}
        title, caption, reading = (
            say(template).format(**told) if template else ""
            for template in (self.title, self.caption, self.reading)
        )
        finding = sentences(caption)[:ALT_SENTENCES]
        return Words(
            title=title,
            caption=caption,
            reading=reading,
            both=together([caption, reading], say),
            alt=together([say("{title}.").format(title=title), *finding], say),
        )

    def legend(self, words: Words, kind: str, language: str) -> Legend:
        """Words of the ``"table"``, or of the ``"figure"``, which also has the reading."""
        caption = words.both if kind == "figure" else words.caption
        return Legend(self.id, words.title, caption, language)
