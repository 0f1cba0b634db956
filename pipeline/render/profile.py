"""A page like a profiler's: one launch, on every GPU, and inside its code.

It loads nothing, reads on a phone, and all text in it is escaped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import jinja2

from pipeline.render.files import publish
from pipeline.render.html import STYLE
from pipeline.words import message, spaced, speaker


@dataclass(frozen=True)
class Bar:
    """A share of a whole, with its name and what is shown beside it."""

    name: str
    share: float
    shown: str


@dataclass(frozen=True)
class CodeLine:
    """A line of source or of machine code.

    Attributes
    ----------
    number, text
        Line number or address, and the line itself.
    cells
        What is shown of it, as text; as many as there are headings.
    heat
        Share of the instructions that are run there, 0 to 1.
    wasteful
        Whether it wastes memory transactions.
    """

    number: str
    text: str
    cells: tuple[str, ...]
    heat: float
    wasteful: bool


@dataclass(frozen=True)
class Code:
    """Lines of one file, or of the machine code."""

    title: str
    headings: tuple[str, ...]
    lines: Sequence[CodeLine]


@dataclass(frozen=True)
class Part:
    """What is known of the code for one architecture.

    Attributes
    ----------
    title, summary
        Its name, and a line about it.
    failure
        Why it failed, in English as all errors are; empty if it did not.
    findings
        What is conspicuous, as sentences.
    mix
        Instructions by class.
    tables
        Tables as html fragments, which are escaped already.
    sources
        The sources, line by line.
    machine_code
        The instructions.
    """

    title: str
    summary: str
    failure: str = ""
    findings: Sequence[str] = ()
    mix: Sequence[Bar] = ()
    tables: Sequence[str] = ()
    sources: Sequence[Code] = ()
    machine_code: Sequence[Code] = ()


@dataclass(frozen=True)
class Profile:
    """All of a page.

    Attributes
    ----------
    language
        Of its words.
    title
        Name of the kernel.
    facts
        What was launched: name and value.
    tables
        Tables about all architectures, as html fragments, which are escaped already.
    parts
        One for each architecture.
    notes
        What to keep in mind.
    """

    language: str
    title: str
    facts: Sequence[tuple[str, str]]
    tables: Sequence[str] = ()
    parts: Sequence[Part] = ()
    notes: Sequence[str] = field(default_factory=tuple)


def render_profile(profile: Profile, path: str | Path) -> None:
    """Write the page."""
    say = speaker(profile.language)
    text = _ENVIRONMENT.from_string(_PAGE).render(
        page=profile,
        style=STYLE,
        words={name: say(text) for name, text in _WORDS.items()},
        spaced=partial(spaced, language=profile.language),
    )
    publish({Path(path): text.encode()})


_WORDS = {
    "text": message("text"),
    "failed": message("Failed:"),
    "findings": message("What stands out"),
    "mix": message("Instruction mix"),
    "machine_code": message("Machine code, {count} instructions"),
    "notes": message("What to keep in mind"),
}
"""What the page itself says."""

_ENVIRONMENT = jinja2.Environment(
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=jinja2.StrictUndefined,
)
_PAGE = """\
{% macro code(one) %}
<figure><figcaption><strong>{{ one.title }}</strong></figcaption>
<div class="table" tabindex="0"><table class="code">
<thead><tr><th scope="col" class="number">{{ one.headings[0] }}</th>
{% for heading in one.headings[1:] %}
<th scope="col" class="number">{{ heading }}</th>
{% endfor %}
<th scope="col">{{ words.text }}</th></tr></thead>
<tbody>
{% for line in one.lines %}
<tr{% if line.wasteful %} class="waste"{% endif %}><th scope="row" class="number">{{ line.number -}}
</th>
{%- for cell in line.cells %}<td class="number">{{ cell }}</td>{% endfor -%}
<td class="line" style="--heat:{{ '%.3f' | format(line.heat) }}">{{ line.text }}</td></tr>
{% endfor %}
</tbody></table></div></figure>
{% endmacro %}
<!doctype html>
<html lang="{{ page.language }}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ page.title }}</title>
<style>
{{ style | safe }}
h1 { font-size: 1.5rem; margin: 0 0 0.5rem; } h2 { font-size: 1.2rem; margin: 1.5rem 0 0.5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 0.4rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; margin: 0; }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
summary { cursor: pointer; font-weight: 600; padding: 0.3rem 0; }
details.part > summary { font-size: 1.1rem; border-bottom: 2px solid; }
.failed { border-left: 0.3rem solid #D55E00; padding: 0.3rem 0.8rem; overflow-wrap: anywhere;
  white-space: pre-line; }
.passed { border-left: 0.3rem solid #009E73; padding: 0.3rem 0.8rem; }
.mix { display: grid; grid-template-columns: max-content 1fr max-content; gap: 0.15rem 0.6rem;
  max-width: 44rem; align-items: center; font-size: 0.9rem; }
.mix i { display: block; height: 0.8rem; background: #0072B2; min-width: 1px; }
.mix b { font-weight: 400; text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
table.code { font-size: 0.8rem; }
table.code td, table.code th { padding: 0.05rem 0.5rem; }
table.code tbody tr { border-bottom: 0; }
table.code td.line { font-family: ui-monospace, monospace; white-space: pre;
  background: color-mix(in srgb, #E69F00 calc(var(--heat) * 70%), transparent); }
tr.waste th, tr.waste td.number { color: #B34700; font-weight: 700; }
@media (prefers-color-scheme: dark) { tr.waste th, tr.waste td.number { color: #FF9E5E; } }
@media print { details:not([open]) > :not(summary) { display: none; } }
</style>
</head>
<body>
<h1>{{ page.title }}</h1>
<dl>
{% for name, value in page.facts %}
<dt>{{ name }}</dt><dd>{{ value }}</dd>
{% endfor %}
</dl>
{% for table in page.tables %}
{{ table | safe }}
{% endfor %}
{% for part in page.parts %}
<details class="part"{% if loop.first or part.failure %} open{% endif %}>
<summary>{{ part.title }}</summary>
<p>{{ spaced(part.summary) }}</p>
{% if part.failure %}
<p class="failed"><strong>{{ words.failed }}</strong> <span lang="en">{{ part.failure }}</span></p>
{% endif %}
{% if part.findings %}
<h3>{{ words.findings }}</h3>
<ul>
{% for finding in part.findings %}
<li>{{ spaced(finding) }}</li>
{% endfor %}
</ul>
{% endif %}
{% if part.mix %}
<h3>{{ words.mix }}</h3>
<div class="mix">
{% for bar in part.mix %}
<span>{{ bar.name }}</span><i style="width:{{ '%.2f' | format(100 * bar.share) }}%"></i>
<b>{{ bar.shown }}</b>
{% endfor %}
</div>
{% endif %}
{% for table in part.tables %}
{{ table | safe }}
{% endfor %}
{% for one in part.sources %}
{{ code(one) }}
{% endfor %}
{% for one in part.machine_code %}
<details><summary>{{ words.machine_code.format(count=one.lines | length) }}</summary>
{{ code(one) }}
</details>
{% endfor %}
</details>
{% endfor %}
{% if page.notes %}
<h2>{{ words.notes }}</h2>
<ul>
{% for note in page.notes %}
<li>{{ spaced(note) }}</li>
{% endfor %}
</ul>
{% endif %}
</body>
</html>
"""
