import json
import re
from html import unescape
from itertools import pairwise

import pytest

from pipeline.site.build import site
from tests.site.checks import MOST_BYTES, broken_links, elements, links, parsed, text_of
from tests.site.small import CLAIMS, EMOJI, HOSTILE, LANGUAGES, LONG, contents, small_site

PAGES = [
    f"{folder}{name}.html"
    for folder in ("", "zh/")
    for name in ("index", "lecture10", "lecture11", "gpus", "claims")
]


@pytest.fixture(scope="module")
def trees(made):
    return {name: parsed(made[name]) for name in PAGES}


def test_site__has_the_same_pages_in_every_language(made):
    assert sorted(name for name in made if name.endswith(".html")) == sorted(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_page__is_valid_html(made, name):
    parsed(made[name])


@pytest.mark.parametrize("name", PAGES)
def test_page__ids_are_unique_and_what_refers_to_them_finds_them(trees, name):
    found = [element.get("id") for element in elements(trees[name]) if element.get("id")]
    assert len(found) == len(set(found))
    for element in elements(trees[name]):
        for attribute in ("aria-labelledby", "for", "aria-describedby"):
            assert set((element.get(attribute) or "").split()) <= set(found)


def test_pages__every_link_leads_somewhere_in_the_site(made, trees):
    assert broken_links(made) == []
    assert all(len(links(tree)) > 5 for tree in trees.values())


@pytest.mark.parametrize(
    "link", ["nowhere.html", "index.html#nowhere", "https://example.org/", "//host/index.html"]
)
def test_broken_links__are_found(made, link):
    page = made["index.html"].replace(b'href="gpus.html"', f'href="{link}"'.encode())
    assert ("index.html", link) in broken_links({**made, "index.html": page})


@pytest.mark.parametrize("name", PAGES)
def test_page__runs_no_code_and_loads_nothing_but_its_own(trees, name):
    for element in elements(trees[name]):
        assert not [key for key in element.attrib if str(key).lower().startswith("on")]
        assert element.tag not in ("img", "iframe", "object", "embed", "form", "base", "style")
        if element.tag == "script":
            assert re.fullmatch(r"(\.\./)?(data/\w+|site|explore)\.js", element.get("src"))
            assert not text_of(element)
    (policy,) = [e for e in elements(trees[name]) if e.get("http-equiv")]
    assert policy.get("content").startswith("default-src 'none'")
    assert "unsafe" not in policy.get("content")


def test_hostile_labels__are_shown_as_they_are(trees):
    for name, labels in (
        ("lecture10.html", (HOSTILE, LONG, EMOJI)),
        ("gpus.html", (HOSTILE, LONG, EMOJI)),
        ("zh/gpus.html", (HOSTILE, LONG, EMOJI)),
        ("claims.html", (HOSTILE,)),
        ("index.html", (HOSTILE,)),
    ):
        shown = text_of(trees[name])
        for label in labels:
            assert label.strip() in shown, name


def test_words_of_explorers__are_data(trees):
    found = [
        json.loads(element.get("data-words"))
        for name in PAGES
        for element in elements(trees[name])
        if element.get("data-words")
    ]
    assert len(found) == 4
    assert all(words["names"] for words in found)


@pytest.mark.parametrize("name", PAGES)
def test_page__has_one_first_heading_and_skips_no_level(trees, name):
    levels = [
        int(element.tag[1])
        for element in elements(trees[name])
        if re.fullmatch(r"h\d", element.tag)
    ]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", PAGES)
def test_page__every_heading_of_a_table_says_what_it_is_for(trees, name):
    for element in elements(trees[name]):
        if element.tag == "th":
            assert element.get("scope") in ("row", "col")
        if element.tag == "table":
            assert element.get("aria-labelledby")


def test_languages__have_the_same_places(trees):
    for name in PAGES[:5]:
        places = [
            {e.get("id") for e in elements(trees[one]) if not (e.get("id") or "_").startswith("_")}
            for one in (name, f"zh/{name}")
        ]
        assert places[0] == places[1]
        links = [e for e in elements(trees[name]) if e.get("class") == "switch"]
        assert [(link.get("href"), link.get("lang")) for link in links] == [
            (f"zh/{name}", "zh-Hans")
        ]
        back = [e for e in elements(trees[f"zh/{name}"]) if e.get("class") == "switch"]
        assert [link.get("href") for link in back] == [f"../{name}"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_language__is_at_the_top_and_has_no_switch(tmp_path, language):
    made = small_site(tmp_path, [language])
    assert not any(name.startswith(("en/", "zh/")) for name in made)
    tree = parsed(made["index.html"])
    assert not [e for e in elements(tree) if e.get("class") == "switch"]
    assert tree.get("lang") == {"en": "en", "zh": "zh-Hans"}[language]


def test_claims__stand_beside_what_they_interpret_with_their_verdict_in_words(trees):
    sections = {e.get("id"): e for e in elements(trees["lecture10.html"]) if e.tag == "section"}
    first = [
        text_of(e) for e in sections["first"].iter("li") if e.get("class") in ("yes", "no", "open")
    ]
    assert ["holds" in one and "does not" not in one for one in first] == [True, False, False]
    assert "does not hold" in first[1]
    assert "not applicable" in first[2]
    assert "It is not there." in first[2]
    beside = [e for e in sections["tile_sweep"].iter("li") if e.get("class") == "no"]
    assert len(beside) == 1


def test_claims__page_shows_bounds_and_every_claim(trees):
    entries = {e.get("id"): text_of(e) for e in elements(trees["claims.html"]) if e.tag == "li"}
    assert {claim["id"] for claim in CLAIMS["claims"]} <= set(entries)
    assert "x = 1.5; between 1 and 2" in entries["first_one"]
    assert "x = 3; at most 2" in entries["second"]
    assert "y = 3; at least 4" in entries["second"]
    assert "z = 3; it must be 4" in entries["second"]


def test_index__names_claims_that_do_not_hold(trees):
    assert "does not hold" in text_of(trees["index.html"])


def test_artifact__names_settings_and_stores(trees):
    sections = {e.get("id"): e for e in elements(trees["lecture10.html"]) if e.tag == "section"}
    codes = [text_of(e) for e in sections["first"].iter("code")]
    assert 'xr.open_zarr("results/sweeps/tiles.zarr")' in codes
    assert "lecture10.large_n: 4096" in codes
    assert f"lecture10.shown_gpus: {HOSTILE}, h100_sxm" in codes


def test_gpus__page_has_units_and_sources(trees):
    cells = [text_of(e) for e in elements(trees["gpus.html"]) if e.tag == "td"]
    assert "768 GB/s" in cells
    assert any("RTX A6000 data sheet, p. 3" in cell for cell in cells)
    assert "computed from the others" in cells


def test_site__is_small_and_the_same_every_time(made, tmp_path):
    assert sum(map(len, made.values())) < MOST_BYTES
    again = contents(tmp_path)
    assert site(again, LANGUAGES) == made


def test_escaping__tables_keep_text_that_looks_like_their_end(made):
    assert unescape(made["lecture10.html"].decode()).count("& </table> {{ 7 * 7 }}") > 3
