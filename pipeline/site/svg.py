"""Pictures inside a page: as matplotlib wrote them, made small, with ids that no other picture has.

All pictures of a page share their glyphs, words and marks, which stand once, in :class:`Shapes`.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from xml.etree import ElementTree

from markupsafe import Markup

from pipeline.site.paths import dots, short_number, shorter_path

PLACE_DIGITS = 2
"""Decimals of points (1/72 inch) that are kept: a hundredth is far below what a screen shows."""

_SCALE_DIGITS = 6
_XLINK = "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d*\.?\d+(?:e[+-]?\d+)?")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_TRANSFORM = re.compile(r"(\w+)\(([^)]*)\)")
_DROPPED = ("metadata", "title", "desc", "style")
_GROUPS = ("g", "defs")
_ROUNDED = ("x", "y", "width", "height", "stroke-width", "stroke-dasharray", "opacity")
_OF_THE_PLACE = ("x", "y", "transform", "clip-path")

_RECTANGLE = re.compile(r"M(\S+) (\S+?)h([^hvz]+)v([^hvz]+)h[^hvz]+z")
_OF_ITS_OWN = ("d", "href", "x", "y")
_NOT_FOR_A_GROUP = ("id", "transform", "opacity")

# What matplotlib writes although it says nothing.
_NEEDLESS = {"fill-opacity": "1", "stroke-opacity": "1", "opacity": "1"}

Element = ElementTree.Element


class Shapes:
    """Glyphs, words and marks of the pictures of one page, each once, in the order of first use."""

    def __init__(self) -> None:
        self._held: dict[str, Element] = {}

    def name(self, shape: Element) -> str:
        """Take a shape without an id, and give the id under which it stands in the page."""
        text = _text(shape)
        if text not in self._held:
            shape.set("id", f"_{len(self._held)}")
            self._held[text] = shape
        return self._held[text].attrib["id"]

    def markup(self) -> Markup:
        """Give the element that holds all of them; it takes no room in the page."""
        held = _markup(self._held.values())
        return Markup('<svg class="shapes" aria-hidden="true"><defs>{}</defs></svg>').format(held)


def inline(source: str, name: str, words: str, shapes: Shapes) -> Markup:
    """Make a picture part of a page.

    Parameters
    ----------
    source
        An svg file of matplotlib's.
    name
        What ids in it begin with; no other picture of the page has it.
    words
        What it shows, for those who do not see it.
    shapes
        Where its glyphs, words and marks go.
    """
    root = ElementTree.fromstring(source)
    width, height = (short_number(float(v), 1) for v in root.attrib["viewBox"].split()[2:])
    body = _markup(_Picture(root, name, shapes).parts(root))
    return Markup(
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}" stroke-linejoin="round">{}</svg>'
    ).format(width, height, words, body)


class _Picture:
    """One picture on its way into a page."""

    def __init__(self, root: Element, name: str, shapes: Shapes) -> None:
        self._shapes = shapes
        self._defined = {e.attrib["id"]: e for e in root.iter() if "id" in e.attrib}
        used = dict.fromkeys(_references(root))
        # Marks and glyphs are paths; the rest, such as clips, stays with the picture.
        paths = [one for one in used if _local(self._defined[one]) == "path"]
        self._shared = {one: shapes.name(self._small(self._defined[one])) for one in paths}
        own = [one for one in used if one not in self._shared]
        self._own = {one: f"{name}-{place}" for place, one in enumerate(own)}

    def parts(self, parent: Element) -> list[Element]:
        """Give what is drawn in ``parent``; groups that say nothing are dissolved."""
        found: list[Element] = []
        for element in parent:
            name = element.attrib.get("id")
            if _local(element) in _DROPPED or name in self._shared:
                continue
            children = self.parts(element)
            made = self._small(element)
            if name in self._own:
                made.set("id", self._own[name])
            if made.tag in _GROUPS and (not made.attrib or not children):
                found += children
                continue
            found.append(self._filled(made, children))
        return list(_gathered(found))

    def _filled(self, made: Element, children: list[Element]) -> Element:
        """Put children into an element; words, which are rows of glyphs, become shapes."""
        if made.tag == "g" and len(children) > 1 and all(_is_glyph(child) for child in children):
            word = Element("g")
            word.extend(children)
            return Element("use", {"href": f"#{self._shapes.name(word)}", **made.attrib})
        made.extend(children)
        return made

    def _small(self, element: Element) -> Element:
        """Copy an element without its children and id, with short attributes."""
        attributes = _attributes(element)
        target = attributes.pop(_XLINK, "")
        if _local(element) == "use":
            attributes = self._placed(target.removeprefix("#"), attributes)
        elif target:
            attributes["href"] = target
        return Element(
            _local(element),
            {
                key: self._referred(value) if "url(" in value else value
                for key, value in attributes.items()
            },
        )

    def _referred(self, value: str) -> str:
        return _REFERENCE.sub(lambda found: f"url(#{self._own[found[1]]})", value)

    def _placed(self, target: str, attributes: dict[str, str]) -> dict[str, str]:
        """Use a shape at a place, in the shortest way."""
        # What the shape says itself, the place of its use cannot change.
        shape = _said(self._defined[target])
        kept = {k: v for k, v in attributes.items() if k in _OF_THE_PLACE or k not in shape}
        moved = re.fullmatch(r"translate\((\S+) (\S+)\)", kept.get("transform", ""))
        if moved and "x" not in kept:
            del kept["transform"]
            kept |= {"x": moved[1], "y": moved[2]}
        kept = {k: v for k, v in kept.items() if k not in ("x", "y") or v != "0"}
        return {"href": f"#{self._shared[target]}", **kept}


def _references(root: Element) -> Iterator[str]:
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == _XLINK and _local(element) == "use":
                yield value.removeprefix("#")
            yield from _REFERENCE.findall(value)


def _gathered(elements: Iterable[Element]) -> Iterator[Element]:
    """Say once what neighbours have in common."""
    for (_, shared), run in groupby(elements, _in_common):
        alike = list(run)
        if len(alike) == 1 or not shared:
            yield from alike
            continue
        for element in alike:
            for key, _ in shared:
                del element.attrib[key]
        group = Element("g", dict(shared))
        group.extend(alike)
        area = _one_area(group)
        yield group if area is None else area


def _one_area(group: Element) -> Element | None:
    """Make one path of rectangles that are only filled and run the same way round.

    Where they overlap it is filled as each of them was; so it looks the same.
    """
    found = [_RECTANGLE.fullmatch(path.attrib.get("d", "")) for path in group]
    filled = group.attrib.keys() <= {"fill", "clip-path"} and group.attrib.get("fill") != "none"
    if not filled or not all(found):
        return None
    corners = [match.groups() for match in found if match]
    if len({(width[0] == "-") == (height[0] == "-") for _, _, width, height in corners}) > 1:
        return None
    moves = "".join(f"M{x} {y}h{width}v{height}H{x}z" for x, y, width, height in corners)
    return Element("path", {"d": moves, **group.attrib})


def _in_common(element: Element) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Give what a group around an element could say for it: nothing if that is not the same."""
    attributes = element.attrib
    if element.tag not in ("path", "use") or not attributes.keys().isdisjoint(_NOT_FOR_A_GROUP):
        return element.tag, ()
    return element.tag, tuple((k, v) for k, v in attributes.items() if k not in _OF_ITS_OWN)


def _is_glyph(element: Element) -> bool:
    return element.tag == "use" and set(element.attrib) <= {"href", "x", "y", "transform"}


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _attributes(element: Element) -> dict[str, str]:
    """Give attributes but the id, numbers short."""
    said = _dotted(_said(element))
    return {k: _short(k, v) for k, v in said.items() if _NEEDLESS.get(k) != v}


def _dotted(said: dict[str, str]) -> dict[str, str]:
    """Draw what is nothing but round dots as the round ends of lines without length."""
    one_colour = said.get("fill") == said.get("stroke") not in (None, "none")
    found = dots(said["d"]) if one_colour and "d" in said else None
    if found is None:
        return said
    radius, d = found
    width = 2 * radius + float(said.get("stroke-width", 1))
    return said | {
        "d": d, "fill": "none", "stroke-width": f"{width}", "stroke-linecap": "round",
    }  # fmt: skip


def _said(element: Element) -> dict[str, str]:
    """Give attributes but the id, a style taken apart."""
    attributes = {k: v for k, v in element.attrib.items() if k not in ("id", "style")}
    return attributes | _declared(element.attrib.get("style", ""))


@cache
def _declared(style: str) -> dict[str, str]:
    declarations = (one.partition(":") for one in style.split(";"))
    return {key.strip(): value.strip() for key, _, value in declarations if value}


# The pictures of two languages, and words and marks of one, say most of it again.
@cache
def _short(key: str, value: str) -> str:
    if key == "d":
        return shorter_path(value, PLACE_DIGITS)
    if key == "transform":
        return _TRANSFORM.sub(_short_transform, value)
    if key in ("fill", "stroke"):
        return re.sub(r"^#(.)\1(.)\2(.)\3$", r"#\1\2\3", value)
    return _rounded(value, PLACE_DIGITS) if key in _ROUNDED else value


def _short_transform(found: re.Match[str]) -> str:
    digits = PLACE_DIGITS if found[1] == "translate" else _SCALE_DIGITS
    return f"{found[1]}({_rounded(found[2], digits)})"


def _rounded(value: str, digits: int) -> str:
    return _NUMBER.sub(lambda found: short_number(float(found[0]), digits), value)


def _markup(elements: Iterable[Element]) -> Markup:
    # Parsed before, and written anew: what was text is still text.
    return Markup("".join(map(_text, elements)))


def _text(element: Element) -> str:
    return ElementTree.tostring(element, encoding="unicode").replace(" />", "/>")
