"""What holds for any site: its pages are valid, and its links lead somewhere."""

from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import html5lib

MOST_BYTES = 5_000_000

LINKS = {"a": "href", "link": "href", "script": "src", "img": "src"}


def parsed(page):
    """Parse a page; whatever is not valid html is an error."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    return parser.parse(page.decode())


def elements(tree):
    return [element for element in tree.iter() if isinstance(element.tag, str)]


def text_of(element):
    return "".join(element.itertext())


def links(tree):
    return [e.get(LINKS[e.tag]) for e in elements(tree) if e.tag in LINKS and e.get(LINKS[e.tag])]


def broken_links(made):
    """List the links of all pages that lead out of the site, or to nothing in it."""
    trees = {name: parsed(page) for name, page in made.items() if name.endswith(".html")}
    anchors = {name: {e.get("id") for e in elements(tree)} for name, tree in trees.items()}
    return [
        (name, link)
        for name, tree in trees.items()
        for link in links(tree)
        if not link.startswith("data:") and not leads_somewhere(name, link, made, anchors)
    ]


def leads_somewhere(name, link, made, anchors):
    address = urlsplit(link)
    parts = []
    for part in (PurePosixPath(name).parent / unquote(address.path)).parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    target = "/".join(parts) if address.path else name
    inside = not address.scheme and not address.netloc and target in made
    return inside and (not address.fragment or address.fragment in anchors[target])
