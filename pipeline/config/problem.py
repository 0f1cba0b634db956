"""One thing that is wrong with a configuration, as the user reads it."""

import difflib
import re
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

LONGEST_SHOWN = 60
_NAME = re.compile(r"\w{1,60}")

# What was allowed, by the kind of error that pydantic reports; {braces} are its context.
_ALLOWED = {
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "tuple_type": "must be a list, written [first, second]",
    "list_type": "must be a list, written [first, second]",
    "too_short": "must hold at least {min_length} entry",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "literal_error": "must be one of {expected}",
    "dict_type": "must be a group of keys with values",
    "model_type": "must be a group of keys with values",
    "model_attributes_type": "must be a group of keys with values",
}


class _Cut(reprlib.Repr):
    """Writes as much of a value as a message shows; a value may hold itself, or be without end."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxdict = 12
        self.maxstring = self.maxother = self.maxlong = LONGEST_SHOWN


@dataclass(frozen=True)
class Problem:
    """What is wrong at one place.

    Attributes
    ----------
    path
        Key path, such as ``counting.sizes[2]``.
    message
        What was given and what is allowed.
    """

    path: str
    message: str

    def __str__(self) -> str:
        """One line of the message."""
        return f"{self.path}: {self.message}"


def key_path(location: Iterable[str | int]) -> str:
    """Write a location as a path of keys.

    >>> key_path(["counting", "sizes", 2])
    'counting.sizes[2]'

    What cannot be a name stands in quotes.

    >>> key_path(["own_kernels", "../x"])
    "own_kernels['../x']"
    """
    return "".join(map(_step, location)).removeprefix(".")


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _NAME.fullmatch(part) else f"[{shown(part)}]"


def shown(value: object) -> str:
    """Write a value as it stands in a message, cut where it is long.

    >>> shown("128x")
    "'128x'"
    """
    if isinstance(value, bool):
        return f"{str(value).lower()} (YAML reads yes, no, on and off as truth values)"
    try:
        # Cuts what is nested before it is written out; numbers and text are cut below.
        text = repr(value) if isinstance(value, str | int | float) else _Cut().repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        text = "a number of thousands of digits"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def nearest(name: object, allowed: Sequence[str]) -> str:
    """List what is allowed and the closest of it to ``name``, if any is close.

    >>> nearest("sizez", ["sizes", "seed"])
    "allowed: sizes, seed; did you mean 'sizes'?"
    """
    close = difflib.get_close_matches(str(name).lower(), allowed, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"allowed: {', '.join(allowed) or 'nothing'}{hint}"


def unknown(location: Sequence[str | int], allowed: Sequence[str], kind: str = "key") -> Problem:
    """Report a key that nobody knows."""
    return Problem(key_path(location), f"unknown {kind}; {nearest(location[-1], allowed)}")


def missing(location: Sequence[str | int]) -> Problem:
    """Report a key that must be there."""
    return Problem(key_path(location), "is missing; give it a value, see config/README.md")


def require_sheet(path: str, name: str, folder: str, sheets: Sequence[str]) -> Iterator[Problem]:
    """Report a name that has no sheet in a folder of data."""
    if name not in sheets:
        yield Problem(
            path,
            f"given {shown(name)}; {folder} has no sheet of this name; {nearest(name, sheets)}",
        )


def require_one_of(path: str, name: str, where: str, there: Sequence[str]) -> Iterator[Problem]:
    """Report a name that does not stand where it must."""
    if name not in there:
        yield Problem(path, f"given {shown(name)}; must be one of {where}; {nearest(name, there)}")


def from_pydantic(
    error: ValidationError,
    inside: tuple[str, ...],
    kind: Any = None,
) -> list[Problem]:
    """Translate what pydantic found.

    Parameters
    ----------
    error
        The errors of one validation.
    inside
        Key path of the value that was validated.
    kind
        Type of the value; its models say which keys are allowed.
    """
    found = error.errors(include_url=False)
    # Where entries are refused, pydantic counts those that are left, and may report that as well.
    places = [details["loc"] for details in found]
    return [
        _translate(details, (*inside, *details["loc"]), _keys(kind, details["loc"]))
        for details in found
        if details["type"] != "too_short" or not any(_inside(one, details["loc"]) for one in places)
    ]


def _keys(kind: Any, location: Sequence[str | int]) -> tuple[str, ...]:
    """Keys of the group in which a location stands."""
    for part in location[:-1]:
        if get_origin(kind) is dict:
            kind = get_args(kind)[1]
        else:
            kind = _fields(kind)[str(part)].annotation
    return tuple(_fields(kind))


def _fields(kind: Any) -> dict[str, Any]:
    """Fields of a model, also where the type says more about it."""
    bare = get_args(kind)[0] if hasattr(kind, "__metadata__") else kind
    return bare.model_fields if isinstance(bare, type) and issubclass(bare, BaseModel) else {}


def _inside(place: tuple[str | int, ...], group: tuple[str | int, ...]) -> bool:
    return len(place) > len(group) and place[: len(group)] == group


def _translate(
    details: ErrorDetails, location: tuple[str | int, ...], keys: Sequence[str]
) -> Problem:
    if details["type"] == "extra_forbidden":
        return unknown(location, keys)
    if details["type"] == "missing":
        return missing(location)
    template = _ALLOWED.get(details["type"])
    message = template.format(**details.get("ctx", {})) if template else details["msg"]
    return Problem(key_path(location), f"given {shown(details['input'])}; {message}")
