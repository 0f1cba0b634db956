"""YAML in which nothing is lost without a word: a key that stands twice is an error."""

from collections.abc import Hashable
from typing import Any

import yaml


class _StrictLoader(yaml.SafeLoader):
    """The safe loader, which keeps the last of two equal keys, made to refuse the second."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        first: dict[Any, int] = {}
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if isinstance(key, Hashable) and key in first:
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    f"the key {key!r} stands twice, first on line {first[key]}",
                    key_node.start_mark,
                )
            if isinstance(key, Hashable):
                first[key] = line
        return super().construct_mapping(node, deep)


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
        If it is not YAML, or a key stands twice in one mapping. The message is one line and names
        the line where one is known.

    >>> parse("a: 1\na: 2")
    Traceback (most recent call last):
        ...
    ValueError: line 2: the key 'a' stands twice, first on line 1
    """
    try:
        return yaml.load(text, _StrictLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(f"{where}{error.problem or error.context}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split())) from None
