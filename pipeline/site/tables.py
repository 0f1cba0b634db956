"""Tables inside a page, taken from the pages that the artifacts' jobs wrote."""

import re

from markupsafe import Markup

_TABLE = re.compile(r"<table>(.*</table>)", re.DOTALL)
_ROW = "<tr>"


def table_of(page: str, heading: str) -> Markup:
    """Take the table out of a page of :mod:`pipeline.render.html`.

    Text in it was escaped when the page was written, so that no label can look like its end.

    Parameters
    ----------
    page
        A page of its own.
    heading
        Id of the element that names the table.

    Raises
    ------
    ValueError
        If there is no table.
    """
    found = _TABLE.search(page)
    if not found:
        raise ValueError("a page of a table without a table")
    # Numbers are the rule: the style says it once for all cells.
    cells = found[1].replace('<td class="number">', "<td>").replace("\n", "")
    return Markup('<table aria-labelledby="{}">{}').format(heading, Markup(cells))


def rows_of(table: Markup) -> int:
    """Count the rows of a table below its headings."""
    return table.count(_ROW) - 1
