"""Tables as csv, Markdown, html and LaTeX.

The csv holds the numbers in SI units, to the last digit; the others show them as a reader wants
them. Text from configuration and data sheets is escaped.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pandas as pd

from pipeline.render import html
from pipeline.render.column import Column, Legend
from pipeline.render.escape import escape_markdown, escape_tex
from pipeline.render.files import as_csv, publish

Cells = list[tuple[str, ...]]

# What a document with a table of a language has to load besides its class.
_PACKAGES = {"zh": "booktabs,ctex"}

# Text beyond this many characters is set in several lines, in a column of its own width.
LONG_TEXT = 40


def render_table(
    frame: pd.DataFrame, columns: Sequence[Column], legend: Legend, outputs: Iterable[str | Path]
) -> None:
    """Write a table; the suffix of each path says how.

    Parameters
    ----------
    frame
        Numbers in SI units, and labels. The csv holds all of it, the others what ``columns`` name.
    columns
        How each column is shown, in this order; the first one names the row.
    legend
        Title and caption.
    outputs
        Paths that end in csv, md, html or tex. The html is a page of its own that needs no other
        file, so that it reads well on a phone; :func:`table_html` gives the table alone. The tex is
        to be included in a document that uses the package booktabs.
    """
    writers: dict[str, Callable[[], bytes]] = {
        ".csv": lambda: as_csv(frame),
        ".md": lambda: _markdown(_cells(frame, columns), columns, legend).encode(),
        ".html": lambda: html.page(legend, table_html(frame, columns, legend)).encode(),
        ".tex": lambda: _tex(_cells(frame, columns), columns, legend).encode(),
    }
    publish({Path(path): writers[Path(path).suffix]() for path in outputs})


def table_html(frame: pd.DataFrame, columns: Sequence[Column], legend: Legend) -> str:
    """Give a table as an html fragment, for a page that brings its own style."""
    rows = _cells(frame, columns)
    return html.fragment(legend, columns, _kinds(rows, columns), rows)


def _cells(frame: pd.DataFrame, columns: Sequence[Column]) -> Cells:
    shown = [[column.shown(value) for value in frame[column.field]] for column in columns]
    return list(zip(*shown, strict=True))


def _kinds(cells: Cells, columns: Sequence[Column]) -> list[str]:
    """Say of each column whether it holds ``number``, ``text`` or ``long`` text."""
    longest = [max(map(len, column)) for column in zip(*cells, strict=True)] or [0] * len(columns)
    return [
        ("long" if length > LONG_TEXT else "text") if column.is_text else "number"
        for column, length in zip(columns, longest, strict=True)
    ]


def _markdown(cells: Cells, columns: Sequence[Column], legend: Legend) -> str:
    table = pd.DataFrame(
        [[escape_markdown(cell) for cell in row] for row in cells],
        columns=[escape_markdown(column.heading_with_unit) for column in columns],
        dtype=object,
    ).to_markdown(
        index=False,
        disable_numparse=True,
        colalign=["left" if column.is_text else "right" for column in columns],
    )
    heading, caption = escape_markdown(legend.heading), escape_markdown(legend.caption)
    return f"**{heading}**{legend.gap}{caption}\n\n{table}\n"


def _tex(cells: Cells, columns: Sequence[Column], legend: Legend) -> str:
    headings = [column.heading for column in columns]
    units = [f"({column.unit})" if column.unit else "" for column in columns]
    places = {"number": "r", "text": "l", "long": r"p{0.3\linewidth}"}
    return "\n".join(
        [
            rf"% needs \usepackage{{{_PACKAGES.get(legend.language, 'booktabs')}}}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{\textbf{{{escape_tex(legend.heading)}}}{legend.gap}"
            rf"{escape_tex(legend.caption)}}}",
            rf"\label{{tab:{legend.id}}}",
            rf"\begin{{tabular}}{{{''.join(places[kind] for kind in _kinds(cells, columns))}}}",
            r"\toprule",
            *[_tex_row(row) for row in (headings, units) if any(row)],
            r"\midrule",
            *[_tex_row(row) for row in cells],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _tex_row(row: Sequence[str]) -> str:
    return " & ".join(escape_tex(cell) for cell in row) + r" \\"
