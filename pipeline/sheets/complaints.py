"""Sentences for people out of the errors of a validating model."""

import difflib
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from pipeline.sheets.figures import Figure, Sourced

_FIGURE = '{value: ..., unit: ..., source: "document, page"}'
# Beyond this the digits tell a reader nothing, and Python may refuse to print them.
_LONGEST = 10**18


def nearest(name: object, known: Iterable[str]) -> str:
    """Say which known names are meant, nearest first.

    >>> nearest("sm_cuont", ["clock_hz", "sm_count"])
    'did you mean sm_count?'
    >>> nearest("x", ["clock_hz", "sm_count"])
    'known are clock_hz, sm_count'
    """
    names = list(known)
    close = difflib.get_close_matches(str(name).lower(), names, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(names)}"


def complaints(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Turn each error of ``model`` into one line: field path, what is wrong, what was allowed.

    Parameters
    ----------
    error
        What validating raised.
    model
        The model that was validated, whose field names are offered for an unknown one.
    """
    lines = []
    for item in error.errors(include_url=False):
        path = tuple(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            known = model.model_fields if len(path) == 1 else Figure.model_fields
            sentence = f"is not a field here; {nearest(path[-1], known)}"
        elif item["type"] == "missing" and len(path) == 1 and _is_figure(model, path[0]):
            sentence = f"is missing; add it as {_FIGURE}"
        else:
            sentence = _SENTENCES.get(item["type"], _in_its_own_words)(item)
        lines.append(": ".join([".".join(path), sentence] if path else [sentence]))
    return lines


Item = Mapping[str, Any]


def _shown(item: Item) -> str:
    """Show the offending value, cut to a length that leaves the message readable."""
    value = item["input"]
    if isinstance(value, int) and abs(value) > _LONGEST:
        return "a number of more than 18 digits"
    return reprlib.repr(value)


def _is_figure(model: type[BaseModel], field: str) -> bool:
    kind = model.model_fields[field].annotation
    return isinstance(kind, type) and issubclass(kind, Sourced)


def _missing(_: Item) -> str:
    return "is missing"


def _not_a_number(item: Item) -> str:
    value = item["input"]
    whole = item["type"].startswith("int")
    wanted = "a whole number" if whole else "a number"
    if value is None:
        return f"is empty; it must be {wanted}"
    if isinstance(value, bool):
        return f"is {str(value).lower()} (YAML reads yes and no as truth values), not {wanted}"
    if not isinstance(value, str):
        return f"is {_shown(item)}, not {wanted}"
    hint = ""
    if _is_number(value):
        hint = "; write it without quotes, and a power of ten with point and sign as in 2.5e+11"
    return f"is the text {_shown(item)}, not {wanted}{hint}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _too_small(item: Item) -> str:
    if "gt" in item["ctx"]:
        return f"is {_shown(item)}; it must be greater than {item['ctx']['gt']:g}"
    least = item["ctx"]["ge"]
    hint = "; figures are in SI units, so 1.8 GHz is 1.8e+9 and 768 GB/s is 768.0e+9"
    return f"is {_shown(item)}; it must be at least {least:g}{hint if least else ''}"


def _too_large(item: Item) -> str:
    return f"is {_shown(item)}; it must be at most {item['ctx']['le']:g}"


def _not_finite(item: Item) -> str:
    return f"is {_shown(item)}; it must be a finite number"


def _not_a_figure(item: Item) -> str:
    return f"is {_shown(item)}; a figure is written {_FIGURE}"


def _not_text(item: Item) -> str:
    value = item["input"]
    if isinstance(value, bool):
        return (
            f"is {str(value).lower()} (YAML reads yes and no as truth values); put it in quotes, "
            f"if it is text"
        )
    if isinstance(value, (int, float)):
        return f'is the number {_shown(item)}; put it in quotes, as in "{_shown(item)}"'
    return f"is {_shown(item)}; it must be text"


def _not_among(item: Item) -> str:
    wanted = str(item["ctx"]["expected"])
    if item["loc"][-1] != "unit":
        return f"is {_shown(item)}; it must be one of {wanted}"
    unit = wanted.strip("'")
    return f'is {_shown(item)}; this figure is given in "{unit}" (with the quotes)'


def _not_a_flag(item: Item) -> str:
    return f"is {_shown(item)}; it must be true or false"


def _not_a_group(item: Item) -> str:
    return f"is {_shown(item)}; it must hold lines 'name: [first, second]'"


def _not_a_list(item: Item) -> str:
    return f"is {_shown(item)}; it must be a list, written [first, second]"


def _below(item: Item) -> str:
    return f"is {_shown(item)}; it must be less than {item['ctx']['lt']:g}; times are in seconds"


def _poor_text(item: Item) -> str:
    if item["loc"][-1] == "source":
        return f"is {_shown(item)}; name the document and the page, table or section in it"
    if item["type"] == "string_pattern_mismatch":
        return f"is {_shown(item)}; it must be made of a to z, 0 to 9 and _"
    return _in_its_own_words(item)


def _long_text(item: Item) -> str:
    return f"is {_shown(item)}; it must have at most {item['ctx']['max_length']} characters"


def _from_validator(item: Item) -> str:
    return str(item["ctx"]["error"])


def _in_its_own_words(item: Item) -> str:
    return f"is {_shown(item)}: {item['msg']}"


_SENTENCES: Mapping[str, Callable[[Item], str]] = {
    "missing": _missing,
    "int_type": _not_a_number,
    "int_from_float": _not_a_number,
    "float_type": _not_a_number,
    "greater_than": _too_small,
    "greater_than_equal": _too_small,
    "less_than_equal": _too_large,
    "finite_number": _not_finite,
    "model_type": _not_a_figure,
    "string_type": _not_text,
    "literal_error": _not_among,
    "bool_type": _not_a_flag,
    "dict_type": _not_a_group,
    "list_type": _not_a_list,
    "less_than": _below,
    "string_too_short": _poor_text,
    "string_too_long": _long_text,
    "string_pattern_mismatch": _poor_text,
    "value_error": _from_validator,
}
