"""The site that the whole workflow makes."""

import pytest

from tests.site.checks import MOST_BYTES, broken_links, parsed, text_of
from tests.site.reading import PHONE, WIDE, fits, grave_findings, reading
from tests.workflow.scratch import FROM_RIGHT, LONG, MARKUP

pytestmark = pytest.mark.workflow

# Endings of files in which markup would do something.
TEXTS = (".html", ".md", ".tex")


@pytest.fixture(scope="module")
def pages(built):
    folder = built.folder / "results/site"
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_site__is_valid_whole_and_small(pages):
    names = {f"{name}.html" for name in ("index", "lecture10", "lecture11", "gpus", "claims")}
    assert names | {f"zh/{name}" for name in names} <= set(pages)
    for name, page in pages.items():
        if name.endswith(".html"):
            parsed(page)
    assert broken_links(pages) == []
    assert sum(map(len, pages.values())) < MOST_BYTES


def test_site__shows_every_artifact_and_claim(built, pages):
    for kind in ("lecture10", "lecture11"):
        shown = pages[f"{kind}.html"].decode()
        for words in (built.folder / f"results/{kind}/words").iterdir():
            assert f'<section class="artifact" id="{words.stem}"' in shown
    claims = built.text("results/claims.csv").splitlines()[1:]
    assert pages["claims.html"].decode().count('class="bounds"') == len(claims)


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_site__reads_in_a_browser(browser, built, pages, size):
    with reading(browser, built.folder / "results/site", size) as (page, to):
        for name in sorted(name for name in pages if name.endswith(".html")):
            to(name)
            assert fits(page), name
        to("lecture10.html")
        assert page.locator(".explorer table.heat").is_visible()


def test_site__has_no_serious_finding_of_accessibility(browser, built):
    with reading(browser, built.folder / "results/site") as (page, to):
        for name in ("zh/lecture10.html", "lecture11.html"):
            to(name)
            assert grave_findings(page) == [], name


def test_names__are_text_wherever_they_stand(built, pages):
    for path in (built.folder / "results").rglob("*.*"):
        text = path.read_text(encoding="utf-8") if path.suffix in TEXTS else ""
        assert "<script>alert" not in text, path
        assert "$x$" not in text or path.suffix != ".tex", path
    for name in ("gpus.html", "zh/gpus.html", "lecture10.html", "zh/lecture11.html"):
        assert MARKUP in text_of(parsed(pages[name])), name
    for name in ("lecture11.html", "zh/lecture11.html"):
        assert LONG in text_of(parsed(pages[name])), name
        assert FROM_RIGHT in text_of(parsed(pages[name])), name
