"""How tables are shown: one record per column, and the words around the whole."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

MISSING = "\N{EN DASH}"
INFINITE = "\N{INFINITY}"

# Languages whose full stop is as wide as a letter, so that no space follows it.
_WIDE = ("zh",)
FULL_STOP = "\N{IDEOGRAPHIC FULL STOP}"


@dataclass(frozen=True)
class Column:
    """How one column of a table is shown.

    Attributes
    ----------
    field
        Column of the frame; its name in the csv.
    heading
        What readers see above it.
    unit
        Unit of what is shown; empty for text, counts and shares.
    format
        Format specification of Python, applied to what ``convert`` gives; empty for text.
    convert
        From the SI unit of the frame to ``unit``, such as ``pipeline.units.to_giga``; or from an
        id to the name that readers know.
    """

    field: str
    heading: str
    unit: str = ""
    format: str = ""
    convert: Callable[[Any], Any] | None = None

    @property
    def is_text(self) -> bool:
        """Whether the column is aligned to the left."""
        return not self.format

    @property
    def heading_with_unit(self) -> str:
        """Heading and unit in one line."""
        return f"{self.heading} ({self.unit})" if self.unit else self.heading

    def shown(self, value: Any) -> str:
        """Format one value; what is missing and what is infinite have signs of their own.

        >>> Column("t", "time", "ms", ".1f", lambda seconds: seconds * 1e3).shown(0.0123)
        '12.3'
        """
        if pd.isna(value):
            return MISSING
        converted = self.convert(value) if self.convert else value
        if isinstance(converted, str):
            return converted or MISSING
        if math.isinf(converted):
            return INFINITE if converted > 0 else f"-{INFINITE}"
        return format(converted, self.format)


@dataclass(frozen=True)
class Legend:
    """What stands beside a table or a figure.

    Attributes
    ----------
    id
        Names it in cross references.
    title
        A few words.
    caption
        Full sentences.
    language
        Of the words, as html names it: ``"en"``, ``"zh"``.
    """

    id: str
    title: str
    caption: str
    language: str = "en"

    @property
    def heading(self) -> str:
        """The title as a sentence of its own."""
        return self.title + (FULL_STOP if self._wide else ".")

    @property
    def gap(self) -> str:
        """What stands between one sentence and the next."""
        return "" if self._wide else " "

    @property
    def _wide(self) -> bool:
        return self.language in _WIDE
