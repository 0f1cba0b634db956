"""The site in a browser: as a reader sees it, on a wide screen and on a phone."""

from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from pipeline.render.column import MISSING
from tests.site.reading import PHONE, WIDE, fits, grave_findings, reading
from tests.site.small import EMOJI, HOSTILE, ROWS

PAGES = [
    f"{folder}{name}.html"
    for folder in ("", "zh/")
    for name in ("index", "lecture10", "lecture11", "gpus", "claims")
]


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_pages__fit_and_complain_of_nothing(browser, folder, size):
    with reading(browser, folder, size) as (page, to):
        for name in PAGES:
            to(name)
            assert fits(page), name
            assert page.locator("h1").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages__have_no_serious_finding_of_accessibility(browser, folder, scheme):
    with reading(browser, folder, color_scheme=scheme) as (page, to):
        for name in PAGES if scheme == "light" else PAGES[:5]:
            to(name)
            assert grave_findings(page) == [], name


def test_language__switch_leads_to_the_same_place(browser, folder):
    with reading(browser, folder) as (page, to):
        to("lecture10.html#tile_sweep")
        page.locator("a.switch").click()
        assert page.url.endswith("/zh/lecture10.html#tile_sweep")
        assert page.locator("html").get_attribute("lang") == "zh-Hans"
        page.locator("a.switch").click()
        assert page.url.endswith("site/lecture10.html#tile_sweep")


def test_without_script__everything_can_be_read(browser, folder):
    with reading(browser, folder, java_script_enabled=False) as (page, to):
        to("lecture10.html")
        assert page.locator("#first table tbody tr").count() == ROWS
        assert page.locator("#first svg[role=img]").is_visible()
        assert page.locator(".explorer").is_hidden()
        page.locator("a.switch").click()
        assert page.url.endswith("/zh/lecture10.html")
        to("lecture11.html")
        assert page.locator(".explore table").is_visible()


def test_sorting__by_pointer_and_by_key(browser, folder):
    with reading(browser, folder) as (page, to):
        to("lecture10.html")
        heading = page.locator("#first thead th").nth(1)
        cells = page.locator("#first tbody tr > :nth-child(2)")
        heading.locator("button").click()
        assert heading.get_attribute("aria-sort") == "ascending"
        shown = cells.all_inner_texts()
        numbers = [float(text.replace(",", "")) for text in shown[:-1]]
        assert shown[-1] == MISSING
        assert numbers == sorted(numbers)
        heading.locator("button").press("Enter")
        assert heading.get_attribute("aria-sort") == "descending"
        assert cells.first.inner_text() == "1,234.5"
        assert cells.last.inner_text() == MISSING
        page.locator("#first thead th").first.locator("button").click()
        assert heading.get_attribute("aria-sort") is None


def test_picture__can_be_taken_along(browser, folder, tmp_path):
    with reading(browser, folder) as (page, to):
        to("lecture10.html")
        page.locator("#first details summary").click()
        with page.expect_download() as taken:
            page.locator("#first .files a", has_text="first.svg").click()
        picture = tmp_path / taken.value.suggested_filename
        taken.value.save_as(picture)
        assert picture.name == "first.svg"
        text = picture.read_text(encoding="utf-8")
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        used = {one.get("href")[1:] for one in root.iter() if one.tag.endswith("}use")}
        assert len(used) > 5
        assert used <= {one.get("id") for one in root.iter()}


def test_tiles__best_rate_moves_with_the_choices(browser, folder):
    with reading(browser, folder) as (page, to):
        to("lecture10.html")
        explorer = page.locator(".explorer")
        table = explorer.locator("table.heat")
        assert table.locator("tbody tr").count() == 3
        expect(explorer.locator(".top-rate")).to_have_count(1)
        assert HOSTILE in explorer.locator("[data-key=gpu] option").first.inner_text()
        before = table.inner_text()
        explorer.locator("[data-key=gpu]").select_option(index=2)
        assert table.inner_text() != before
        assert EMOJI in table.locator("caption").inner_text()
        explorer.locator("[data-key=rows]").select_option("tm")
        assert table.locator("tbody th").all_inner_texts() == ["1", "4", "8"]
        explorer.locator("[data-key=tn]").select_option("0")
        explorer.locator("[data-key=space]").select_option("1")
        assert table.locator("tbody th").all_inner_texts() == ["64", "128"]


def test_tiles__keys_move_through_the_cells_and_tell_why_one_is_excluded(browser, folder):
    with reading(browser, folder) as (page, to):
        to("lecture10.html")
        explorer = page.locator(".explorer")
        status = explorer.locator("[role=status]")
        assert explorer.locator("td[tabindex='0']").count() == 1
        explorer.locator("td[tabindex='0']").focus()
        first = status.inner_text()
        assert "TFLOP/s" in first
        page.keyboard.press("ArrowUp")
        assert status.inner_text() != first
        explorer.locator("[data-key=tm]").select_option(label="1")
        explorer.locator("[data-key=bk]").select_option(label="16")
        explorer.locator("[data-key=tn]").select_option(label="4")
        explorer.locator("td.empty").first.hover(timeout=5000)
        assert "does not run" in status.inner_text()
        assert "k0" in status.inner_text()


def test_timeline__bars_and_lines_follow_the_parameters(browser, folder):
    with reading(browser, folder) as (page, to):
        to("lecture11.html")
        explorer = page.locator(".explorer")
        bars = explorer.locator("table.bars")
        before = bars.inner_text()
        slider = explorer.locator("input[type=range]").first
        slider.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert slider.get_attribute("aria-valuetext") == "4 µs"
        assert bars.inner_text() != before
        graph, mega = bars.locator("tbody tr").all()
        assert graph.locator("td").first.inner_text() > mega.locator("td").first.inner_text()
        assert explorer.locator(".spot").count() == 6
        explorer.locator(".spot[tabindex='0']").focus()
        page.keyboard.press("ArrowRight")
        assert "µs" in explorer.locator("[role=status]").inner_text()
        explorer.locator("select").nth(1).select_option("context")
        assert explorer.locator(".spot").count() == 4


def test_keyboard__first_stop_skips_to_the_text(browser, folder):
    with reading(browser, folder) as (page, to):
        to("lecture10.html")
        page.keyboard.press("Tab")
        assert page.locator(".skip").is_visible()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


def test_print__shows_tables_whole_and_no_controls(browser, folder):
    with reading(browser, folder) as (page, to):
        to("lecture10.html")
        page.emulate_media(media="print")
        assert page.locator(".explorer").is_hidden()
        assert page.locator(".top nav").is_hidden()
        assert page.locator("#first tbody tr").last.is_visible()
        box = page.locator("#first .scroll")
        assert box.evaluate("one => one.scrollHeight <= one.clientHeight + 1")
        assert page.pdf()[:5] == b"%PDF-"
