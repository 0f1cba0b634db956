"""What a table or figure declares about itself.

One module per artifact holds ``ARTIFACT`` and functions that take what they name: datasets by the
keys of ``needs``, settings by the names in ``parameters``.

``table`` and ``COLUMNS``
    The numbers of the table, in SI units, and how each column is shown.
``drawn`` and ``draw``
    The numbers of the figure, and ink: ``drawn`` never formats, ``draw`` never computes.
``facts``
    The numbers in title and captions, by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.render.column import Legend


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

    def table_legend(self, facts: Mapping[str, Any]) -> Legend:
        """Words of the table, with the facts filled in."""
        return Legend(self.id, self.title.format(**facts), self.caption.format(**facts))

    def figure_legend(self, facts: Mapping[str, Any]) -> Legend:
        """Words of the figure, with the facts filled in."""
        caption = f"{self.caption} {self.reading}".strip()
        return Legend(self.id, self.title.format(**facts), caption.format(**facts))
