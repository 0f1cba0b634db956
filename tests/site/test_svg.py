import re
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from pipeline.render.column import Legend
from pipeline.render.figure import render_figure
from pipeline.site.svg import Shapes, inline
from tests.site.small import HOSTILE, draw, frame

SPACE = "{http://www.w3.org/2000/svg}"


def rectangles(_, figure: Figure):
    axes = figure.subplots()
    axes.barh([f"row {place}" for place in range(40)], [place + 1.5 for place in range(40)])
    axes.hist2d([1, 2, 2, 3], [1, 1, 2, 3], bins=3)
    axes.set_xlabel("row (1)")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("svg")
    for name, drawing in (("bars", draw), ("rectangles", rectangles)):
        legend = Legend(name, "Title", "Caption.")
        render_figure(frame().iloc[3:8], drawing, legend, {}, [folder / f"{name}.svg"])
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def page(*pictures):
    """Parse pictures with their shapes as one document."""
    shapes = Shapes()
    parts = [str(inline(source, name, words, shapes)) for name, source, words in pictures]
    return ElementTree.fromstring(f"<body>{''.join([*parts, str(shapes.markup())])}</body>")


def ids(root):
    return [element.attrib["id"] for element in root.iter() if "id" in element.attrib]


def test_inline__is_smaller_and_named(sources):
    shapes = Shapes()
    for name, source in sources.items():
        picture = inline(source, name, HOSTILE, shapes)
        assert len(picture) < 0.4 * len(source)
        root = ElementTree.fromstring(str(picture))
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"] == HOSTILE


def test_inline__ids_of_a_page_are_unique_and_all_that_is_used_is_there(sources):
    root = page(
        ("one", sources["bars"], "a"),
        ("two", sources["bars"], "b"),
        ("three", sources["rectangles"], "c"),
    )
    assert len(ids(root)) == len(set(ids(root)))
    used = set()
    for element in root.iter():
        used |= set(re.findall(r"url\(#([^)]+)\)", " ".join(element.attrib.values())))
        if element.tag == "use":
            used.add(element.attrib["href"].removeprefix("#"))
    assert used == set(ids(root))


def test_inline__needs_no_style_and_holds_nothing_foreign(sources):
    root = page(*((name, source, "words") for name, source in sources.items()))
    for element in root.iter():
        assert "style" not in element.attrib
        assert ":" not in element.tag.replace(SPACE, "")
        assert element.tag not in ("metadata", "style", "title", "script")


def test_shapes__stand_once_for_all_pictures(sources):
    once = page(("one", sources["bars"], "a"))
    twice = page(("one", sources["bars"], "a"), ("two", sources["bars"], "a"))
    shared = [name for name in ids(twice) if name.startswith("_")]
    assert shared == [name for name in ids(once) if name.startswith("_")]


def test_inline__rectangles_of_one_colour_are_one_path(sources):
    picture = str(inline(sources["rectangles"], "x", "w", Shapes()))
    bars = max(re.findall(r' d="([^"]*)"', picture), key=lambda d: d.count("z"))
    assert bars.count("z") == 40


def test_inline__opacity_and_strokes_stay_with_each_mark():
    source = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
        '<path d="M 0 0 L 2 0 L 2 2 L 0 2 z" style="fill: #ff0000; opacity: 0.5"/>'
        '<path d="M 1 0 L 3 0 L 3 2 L 1 2 z" style="fill: #ff0000; opacity: 0.5"/></svg>'
    )
    root = ElementTree.fromstring(str(inline(source, "x", "w", Shapes())))
    assert [element.attrib.get("opacity") for element in root] == [".5", ".5"]
    striped = source.replace("opacity: 0.5", "stroke: #000000")
    root = ElementTree.fromstring(str(inline(striped, "x", "w", Shapes())))
    assert [len(group) for group in root] == [2]
    # Opposite ways round: where they overlap, one path of both would be empty.
    turned = source.replace("; opacity: 0.5", "").replace(
        "M 1 0 L 3 0 L 3 2 L 1 2 z", "M 1 2 L 3 2 L 3 0 L 1 0 z"
    )
    root = ElementTree.fromstring(str(inline(turned, "x", "w", Shapes())))
    assert [len(group) for group in root] == [2]


def hatched(_, figure: Figure):
    axes = figure.subplots()
    axes.bar(["a"], [1], hatch="....", color="#D55E00", edgecolor="white")
    axes.set_ylabel("share (1)")


def test_inline__dots_of_a_hatch_are_short_and_as_wide_as_they_were(tmp_path):
    render_figure(frame().iloc[3:4], hatched, Legend("x", "T", "C."), {}, [tmp_path / "x.svg"])
    picture = str(inline((tmp_path / "x.svg").read_text(encoding="utf-8"), "x", "w", Shapes()))
    (pattern,) = re.findall(r"<pattern.*?</pattern>", picture)
    assert len(pattern) < 8000
    dotted = ElementTree.fromstring(pattern).find("path").attrib
    # Radius 0.3 of the dot, and 1 of the line around it.
    assert (dotted["stroke-width"], dotted["stroke-linecap"], dotted["fill"]) == (
        "1.6", "round", "none",
    )  # fmt: skip
    assert dotted["d"].count("M") > 500


def test_inline__dots_that_are_only_filled_stay():
    circle = (
        "M 1 0 C 1 0.55 0.55 1 0 1 C -0.55 1 -1 0.55 -1 0 C -1 -0.55 -0.55 -1 0 -1 "
        "C 0.55 -1 1 -0.55 1 0 z"
    )
    for style in ("fill: #ff0000", "fill: #ff0000; stroke: none", "stroke: none; fill: none"):
        source = (
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
            f'<path d="{circle}" style="{style}"/></svg>'
        )
        root = ElementTree.fromstring(str(inline(source, "x", "w", Shapes())))
        assert "stroke-linecap" not in root[0].attrib
