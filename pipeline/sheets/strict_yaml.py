"""YAML in which nothing is lost or turned into something else without a word.

A key that stands twice is an error, and so is a number that YAML reads in another base than a
reader sees. Aliases that repeat other values are counted: a few lines of them can stand for more
than a machine holds, or for what has no end.
"""

import re
from collections.abc import Hashable
from functools import lru_cache
from itertools import chain
from typing import Any

import yaml

DEEPEST = 40
"""Levels of groups and lists inside one another."""

MOST_VALUES = 100_000
"""Values in one file, repeated ones included."""

_TOO_DEEP = f"more than {DEEPEST} groups or lists inside one another"
_PLAIN = ("null", "bool", "int", "float", "str", "seq", "map")
_TAG = "tag:yaml.org,2002:"
_MOST_DIGITS = 4000


class _StrictLoader(yaml.SafeLoader):
    """The safe loader, made to refuse what it would take in silence."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0
        self._extents: dict[int, tuple[int, int]] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()
        anchored = self.anchors.get(getattr(event, "anchor", None))
        repeats = isinstance(event, yaml.AliasEvent) and anchored is not None
        if repeats and id(anchored) not in self._extents:
            raise _error(event, f"*{event.anchor} stands in a value that it repeats")
        self._depth += 1
        if self._depth > DEEPEST:
            raise _error(event, _TOO_DEEP)
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        if node is not None:
            self._extents[id(node)] = self._extent(node)
        return node

    def _extent(self, node: yaml.Node) -> tuple[int, int]:
        """Count values and levels, what aliases repeat each time that they do."""
        inside = node.value if isinstance(node, yaml.CollectionNode) else []
        parts = chain.from_iterable(inside) if isinstance(node, yaml.MappingNode) else inside
        extents = [(1, 0), *(self._extents[id(part)] for part in parts)]
        size, levels = sum(size for size, _ in extents), 1 + max(level for _, level in extents)
        if size > MOST_VALUES:
            raise _error(node, f"stands for more than {MOST_VALUES} values")
        if levels > DEEPEST:
            raise _error(node, _TOO_DEEP)
        return size, levels

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        kind = node.tag.removeprefix(_TAG)
        if kind not in _PLAIN:
            raise _error(node, _REFUSED.get(kind, f"{node.tag} is not taken; {_TAKEN}"))
        if kind in ("int", "float"):
            _require_plain_number(node)
        return super().construct_object(node, deep)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        first: dict[Any, int] = {}
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if isinstance(key, Hashable) and key in first:
                raise _error(key_node, f"the key {key!r} stands twice, first on line {first[key]}")
            if isinstance(key, Hashable):
                first[key] = line
        return super().construct_mapping(node, deep)


_TAKEN = "only text, numbers, true, false, lists and groups are"
_REFUSED = {
    "timestamp": 'is read as a date; put it in quotes if it is text, as in "2024-01-01"',
    "merge": "the key << is not taken; write the keys out",
    "value": "the value = is not taken; put it in quotes if it is text",
}


def _require_plain_number(node: Any) -> None:
    """Refuse numbers that are read as others than a reader sees."""
    text = node.value.replace("_", "").lstrip("+-")
    if ":" in text:
        raise _error(
            node, f"{node.value} is read as a number of base 60; write it out, or quote it"
        )
    if re.fullmatch("0[0-7]+", text):
        raise _error(node, f"{node.value} is read as a number of base 8; leave out the leading 0")
    if len(text) > _MOST_DIGITS:
        raise _error(node, f"a number of {len(text)} characters; at most {_MOST_DIGITS} are taken")


def _error(at: Any, problem: str) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, at.start_mark)


@lru_cache(maxsize=16)
def _composed(text: str) -> yaml.Node | None:
    """Read the one document of a text; some files are read two or three times at a start."""
    return _StrictLoader(text).get_single_node()


def parse(text: str) -> Any:
    r"""Read one YAML document.

    Parameters
    ----------
    text
        The document.

    Returns
    -------
    object
        What it holds: mappings, lists, text, numbers; None for an empty document.

    Raises
    ------
    ValueError
        If it is not YAML, or holds a key twice, a date, a number in base 8 or 60, or values without
        end. The message is one line and names the line where one is known.

    >>> parse("a: 1\na: 2")
    Traceback (most recent call last):
        ...
    ValueError: line 2: the key 'a' stands twice, first on line 1
    """
    try:
        node = _composed(text)
        return None if node is None else _StrictLoader("").construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(f"{where}{error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ValueError(
            f"line {line}: holds the character U+{ord(text[error.position]):04X}, which text does "
            f"not; delete it"
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        raise ValueError(" ".join(str(error).split())) from None
