"""Tables as csv, Markdown, html and LaTeX.

The csv holds the numbers in SI units, to the last digit; the others show them as a reader wants
them. Text from configuration and data sheets is escaped.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import jinja2
import pandas as pd

from pipeline.render.column import Column, Legend
from pipeline.render.escape import escape_markdown, escape_tex
from pipeline.render.files import as_csv, publish

Cells = list[tuple[str, ...]]


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
        ".html": lambda: _page(legend, table_html(frame, columns, legend)).encode(),
        ".tex": lambda: _tex(_cells(frame, columns), columns, legend).encode(),
    }
    publish({Path(path): writers[Path(path).suffix]() for path in outputs})


def table_html(frame: pd.DataFrame, columns: Sequence[Column], legend: Legend) -> str:
    """Give a table as an html fragment, for a page that brings its own style."""
    return _HTML.from_string(_HTML_TABLE).render(
        rows=_cells(frame, columns), columns=columns, legend=legend
    )


def _cells(frame: pd.DataFrame, columns: Sequence[Column]) -> Cells:
    shown = [[column.shown(value) for value in frame[column.field]] for column in columns]
    return list(zip(*shown, strict=True))


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
    title, caption = escape_markdown(legend.title), escape_markdown(legend.caption)
    return f"**{title}.** {caption}\n\n{table}\n"


def _tex(cells: Cells, columns: Sequence[Column], legend: Legend) -> str:
    headings = [column.heading for column in columns]
    units = [f"({column.unit})" if column.unit else "" for column in columns]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{\textbf{{{escape_tex(legend.title)}.}} {escape_tex(legend.caption)}}}",
            rf"\label{{tab:{legend.id}}}",
            rf"\begin{{tabular}}{{{''.join('l' if c.is_text else 'r' for c in columns)}}}",
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


def _page(legend: Legend, body: str) -> str:
    return _HTML.from_string(_HTML_PAGE).render(legend=legend, body=body)


_HTML = jinja2.Environment(
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=jinja2.StrictUndefined,
)
_HTML_TABLE = """\
{% macro kind(column) %}{% if not column.is_text %} class="number"{% endif %}{% endmacro %}
<div class="table">
<table id="{{ legend.id }}">
<caption><strong>{{ legend.title }}.</strong> {{ legend.caption }}</caption>
<thead>
<tr>
{% for column in columns %}
<th scope="col"{{ kind(column) }}>{{ column.heading }}
{%- if column.unit %} <span class="unit">({{ column.unit }})</span>{% endif %}</th>
{% endfor %}
</tr>
</thead>
<tbody>
{% for row in rows %}
<tr>
<th scope="row">{{ row[0] }}</th>
{% for column in columns[1:] %}
<td{{ kind(column) }}>{{ row[loop.index] }}</td>
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table>
</div>
"""
_HTML_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ legend.title }}</title>
<style>
:root { color-scheme: light dark; }
body { margin: 1rem; font: 1rem/1.45 system-ui, sans-serif; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: 0.6rem; max-width: 70ch; }
th, td { padding: 0.25rem 0.6rem; text-align: left; vertical-align: top; }
thead th { vertical-align: bottom; border-bottom: 2px solid; }
tbody tr { border-bottom: 1px solid #8884; }
tbody th { position: sticky; left: 0; background: Canvas; font-weight: 600; white-space: nowrap; }
.number { text-align: right; }
.unit { font-weight: 400; white-space: nowrap; }
@media print { .table { overflow: visible; } table { font-size: 8pt; } }
</style>
</head>
<body>
{{ body | safe }}</body>
</html>
"""
