"""Labels that can be drawn, whatever a data sheet or the configuration calls a thing."""

from functools import partial

import matplotlib
import pandas as pd
from matplotlib import font_manager
from matplotlib.font_manager import FontProperties

LABEL_CHARACTERS = 40
"""Longer labels would leave no room for the picture; they are whole in the csv."""

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
UNKNOWN = "\N{REPLACEMENT CHARACTER}"

# What is left of a longer label fits above the smallest panel. Names that begin alike often end
# differently, so both ends are kept.
_BEGIN, _END = 13, 8


def drawable(frame: pd.DataFrame) -> pd.DataFrame:
    """Shorten long labels, and replace signs for which the fonts in use have no shape.

    Parameters
    ----------
    frame
        The numbers of a figure with their labels.
    """
    families = matplotlib.rcParams["font.family"]
    found = (font_manager.findfont(FontProperties(family=[one])) for one in families)
    shapes = frozenset().union(*(font_manager.get_font(path).get_charmap() for path in found))
    return frame.apply(
        lambda column: column.map(partial(_drawn, shapes)) if _holds_text(column) else column
    )


def _holds_text(column: pd.Series) -> bool:
    return not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column))


def _drawn(shapes: frozenset[int], value: object) -> object:
    if not isinstance(value, str):
        return value
    text = "".join(sign if ord(sign) in shapes or sign.isspace() else UNKNOWN for sign in value)
    if len(text) <= LABEL_CHARACTERS:
        return text
    return text[:_BEGIN].rstrip() + ELLIPSIS + text[-_END:].lstrip()
