"""Tables as html: a fragment for a page with a style of its own, and a page that stands alone."""

from collections.abc import Sequence

import jinja2

from pipeline.render.column import Column, Legend


def fragment(
    legend: Legend,
    columns: Sequence[Column],
    kinds: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> str:
    """Give a table with its caption; the caption stays in place when a wide table is scrolled.

    Parameters
    ----------
    legend
        Title and caption.
    columns, kinds
        Headings, and ``number``, ``text`` or ``long`` as the class of each column.
    rows
        Cells as text; all text is escaped here.
    """
    return _ENVIRONMENT.from_string(_FRAGMENT).render(
        legend=legend, columns=list(zip(columns, kinds, strict=True)), rows=rows
    )


def page(legend: Legend, body: str) -> str:
    """Give a page around a fragment that reads on a phone and on paper and loads nothing."""
    return _ENVIRONMENT.from_string(_PAGE).render(legend=legend, body=body, style=STYLE)


STYLE = """\
:root { color-scheme: light dark; }
body { margin: 1rem; font: 1rem/1.45 system-ui, sans-serif; }
figure { margin: 0; }
figcaption { max-width: 70ch; margin-bottom: 0.6rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.6rem; text-align: left; vertical-align: top; }
thead th { vertical-align: bottom; border-bottom: 2px solid; }
tbody tr { border-bottom: 1px solid #8884; }
tbody th { position: sticky; left: 0; background: Canvas; font-weight: 600; }
th.number, td.number { text-align: right; }
td.text, tbody th, .unit { white-space: nowrap; }
td.long { min-width: 20rem; }
.unit { font-weight: 400; }
@media print { .table { overflow: visible; } table { font-size: 8pt; } }"""
"""How tables look, on a phone and on paper; for pages that hold some."""

_ENVIRONMENT = jinja2.Environment(
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=jinja2.StrictUndefined,
)
_FRAGMENT = """\
<figure id="{{ legend.id }}">
<figcaption><strong>{{ legend.heading }}</strong>{{ legend.gap }}{{ legend.caption }}</figcaption>
<div class="table" tabindex="0">
<table>
<thead>
<tr>
{% for column, kind in columns %}
<th scope="col" class="{{ kind }}">{{ column.heading }}
{%- if column.unit %} <span class="unit">({{ column.unit }})</span>{% endif %}</th>
{% endfor %}
</tr>
</thead>
<tbody>
{% for row in rows %}
<tr>
<th scope="row">{{ row[0] }}</th>
{% for column, kind in columns[1:] %}
<td class="{{ kind }}">{{ row[loop.index] }}</td>
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table>
</div>
</figure>
"""
_PAGE = """\
<!doctype html>
<html lang="{{ legend.language }}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ legend.title }}</title>
<style>
{{ style | safe }}
</style>
</head>
<body>
{{ body | safe }}</body>
</html>
"""
