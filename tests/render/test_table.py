import io
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.render.column import INFINITE, MISSING, Column, Legend
from pipeline.render.escape import escape_markdown, escape_tex
from pipeline.render.table import render_table, table_html

SUFFIXES = ("csv", "md", "html", "tex")
LEGEND = Legend("toy", "A toy", "It has 2 rows.")
COLUMNS = (
    Column("name", "name"),
    Column("count", "count", "", ",d"),
    Column("t", "time", "ms", ".1f", lambda seconds: seconds * 1e3),
)
TAGS = re.compile(r"<[^>]*>")


def frame(name="k01", t=0.1 + 0.2):
    return pd.DataFrame({"name": [name, "k02"], "count": [1234567, 0], "t": [t, 0.0123456789]})


def written(tmp_path, table, columns=COLUMNS, legend=LEGEND):
    paths = {suffix: tmp_path / f"toy.{suffix}" for suffix in SUFFIXES}
    render_table(table, columns, legend, paths.values())
    return {suffix: path.read_text() for suffix, path in paths.items()}


class Cells(HTMLParser):
    """Collect what a browser shows in the cells of a table, and every tag."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.tags, self._inside = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")
            self._inside = True

    def handle_endtag(self, tag):
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self._inside:
            self.cells[-1] += data


def test_render_table__csv_holds_every_digit_in_si_units(tmp_path):
    text = written(tmp_path, frame())["csv"]
    assert text.splitlines()[0] == "name,count,t"
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(text)), frame(), check_exact=True)


def test_render_table__csv_holds_columns_that_are_not_shown(tmp_path):
    texts = written(tmp_path, frame().assign(kernel=["a_b", "c_d"]))
    assert "a_b" in texts["csv"]
    assert "a\\_b" not in texts["md"]


def test_render_table__readers_see_units_and_rounded_numbers(tmp_path):
    texts = written(tmp_path, frame())
    for suffix in ("md", "html", "tex"):
        assert "1,234,567" in texts[suffix]
        assert "300.0" in texts[suffix]
        assert "12.3" in texts[suffix]
        assert "(ms)" in texts[suffix]
        assert "It has 2 rows." in texts[suffix]


def test_render_table__missing_and_infinite_values(tmp_path):
    table = pd.DataFrame(
        {
            "name": ["", None, "x"],
            "count": [1, 2, 3],
            "t": [np.nan, np.inf, -np.inf],
        }
    )
    texts = written(tmp_path, table)
    assert texts["csv"].splitlines()[1:] == [",1,NaN", "NaN,2,inf", "x,3,-inf"]
    rows = [line.split("|") for line in texts["md"].splitlines() if line.startswith("|")][2:]
    assert [row[1].strip() for row in rows] == [MISSING, MISSING, "x"]
    assert [row[3].strip() for row in rows] == [MISSING, INFINITE, f"-{INFINITE}"]
    shown = [MISSING, "1", MISSING, MISSING, "2", INFINITE, "x", "3", f"-{INFINITE}"]
    assert Cells(texts["html"]).cells[3:] == shown
    body = texts["tex"].split("\\midrule\n")[1].splitlines()[:3]
    assert body == [
        r"-- & 1 & -- \\",
        r"-- & 2 & $\infty$ \\",
        r"x & 3 & -$\infty$ \\",
    ]


def test_render_table__escapes_hostile_labels_everywhere(tmp_path):
    hostile = "<script>alert('x')</script>&amp;|`_*$^~\\#%{}[a](http://b)\"\n2"
    legend = Legend("toy", hostile, hostile)
    columns = (Column("name", hostile, hostile), *COLUMNS[1:])
    texts = written(tmp_path, frame(hostile), columns, legend)
    page = Cells(texts["html"])
    assert "script" not in page.tags
    assert page.cells[0] == f"{hostile} ({hostile})"
    assert page.cells[3] == hostile
    assert "<" not in texts["md"]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in texts["md"].splitlines()[2:])
    assert len(texts["tex"].split("\\midrule\n")[1].splitlines()[:2]) == 2
    assert pd.read_csv(io.StringIO(texts["csv"])).name[0] == hostile


@given(st.text(max_size=30))
def test_table_html__shows_any_label_as_it_is(label):
    html = table_html(frame(label), COLUMNS, Legend("toy", label, label))
    shown = Cells(html).cells[3]
    assert shown == (label or MISSING)


@given(st.text(max_size=30))
def test_escape_markdown__leaves_nothing_that_markdown_reads(text):
    escaped = escape_markdown(text)
    assert "\n" not in escaped
    plain = re.sub(r"\\[\\`*_\[\]|~$#]", "", escaped)
    assert not set(plain) & set("\\`*_[]|~$#<>")
    undone = re.sub(r"\\(.)", r"\1", escaped)
    undone = undone.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert undone == " ".join(text.split())


@given(st.text(alphabet=f'\\{{}}$&#_%~^<>|"[]{MISSING}{INFINITE} ab1', max_size=30))
def test_escape_tex__leaves_no_special_sign(text):
    escaped = escape_tex(text)
    commands = r"\\(text[a-z]+\{\}|[{}$&#_%])|\$\\infty\$|\{\[\}|\{\]\}|--"
    assert re.fullmatch(r"[ab1 ]*", re.sub(commands, "", escaped))


@pytest.mark.parametrize("sign", list('\\{}$&#_%~^<>|"[]'))
def test_escape_tex__every_special_sign_is_changed(sign):
    assert escape_tex(sign) != sign


def test_render_table__same_bytes_each_time(tmp_path):
    assert written(tmp_path / "a", frame()) == written(tmp_path / "b", frame())


def test_render_table__html_page_needs_nothing_else(tmp_path):
    page = written(tmp_path, frame())["html"]
    assert not re.findall(r"(src|href|url|@import)", page)
    assert 'name="viewport"' in page
    assert 'charset="utf-8"' in page
    assert table_html(frame(), COLUMNS, LEGEND) in page


def test_render_table__long_text_gets_a_width_of_its_own(tmp_path):
    texts = written(tmp_path, frame("x" * 50), (*COLUMNS[1:], COLUMNS[0]))
    assert r"\begin{tabular}{rrp{0.3\linewidth}}" in texts["tex"]
    assert '<td class="long">' in texts["html"]


def test_render_table__no_rows_is_a_table_of_headings(tmp_path):
    texts = written(tmp_path, frame().iloc[:0])
    assert Cells(texts["html"]).cells == ["name", "count", "time (ms)"]
    assert "time (ms)" in texts["md"]
    assert r"\midrule" in texts["tex"]


def test_render_table__leaves_nothing_beside_and_overwrites_leftovers(tmp_path):
    (tmp_path / ".toy.md.partial").write_text("half")
    written(tmp_path, frame())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"toy.{suffix}" for suffix in SUFFIXES
    )


def test_render_table__a_failure_leaves_the_older_files(tmp_path):
    before = written(tmp_path, frame())
    broken = frame().assign(count=["x", "y"])
    with pytest.raises(ValueError, match="format"):
        written(tmp_path, broken, (Column("name", "n"), Column("t", "t", "", "d")))
    assert {s: (tmp_path / f"toy.{s}").read_text() for s in SUFFIXES} == before


def test_column__converts_ids_to_names():
    column = Column("bound", "bound by", convert={"l1": "L1"}.get)
    assert column.shown("l1") == "L1"
    assert column.shown(float("nan")) == MISSING
