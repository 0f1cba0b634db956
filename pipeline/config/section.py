"""What the models of the configuration are made of: sections, settings, kinds of values."""

import math
from collections import Counter
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

LARGEST_SEED = 2**32 - 1

LARGEST_NUMBER = 2**63 - 1
"""Beyond this a number fits none of the types in which results are stored."""


def as_number(value: object) -> int | float:
    """Accept a number however it was written: YAML reads ``1e-3`` as text. Refuse booleans.

    Raises
    ------
    PydanticCustomError
        If ``value`` is no finite number.
    """
    number = _from_text(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise PydanticCustomError("number", "must be a number")
    if isinstance(number, float) and not math.isfinite(number):
        raise PydanticCustomError("number", "must be a finite number")
    if abs(number) > LARGEST_NUMBER:
        raise PydanticCustomError("large", "is far beyond any number that is used here")
    return number


def as_whole(value: object) -> int:
    """Accept a whole number however it was written (128, 128.0, "128", "1e3").

    Raises
    ------
    PydanticCustomError
        If ``value`` is no whole number; true and false are none.
    """
    try:
        number = as_number(value)
    except PydanticCustomError as error:
        if error.type == "large":
            raise
        raise PydanticCustomError("whole", "must be a whole number") from None
    if number != int(number):
        raise PydanticCustomError("whole", "must be a whole number")
    return int(number)


def _from_text(text: str) -> object:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Refuse an entry that stands in a list more than once."""
    twice = sorted(str(value) for value, count in Counter(values).items() if count > 1)
    if twice:
        raise PydanticCustomError(
            "duplicate",
            "must hold each entry once, but {twice} stands there more often",
            {"twice": ", ".join(twice)},
        )
    return values


T = TypeVar("T")

Whole = Annotated[int, BeforeValidator(as_whole)]
Number = Annotated[float, BeforeValidator(as_number)]


def _one_line(text: str) -> str:
    """Refuse what a terminal, a table or a figure would not show as it is written."""
    if not text.isprintable():
        raise PydanticCustomError("label", "must be one line of letters, digits and signs")
    return text


Label = Annotated[str, Field(max_length=200), AfterValidator(_one_line)]
Ids = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(each_once)]
# Sizes mean the same in any order; one order keeps results from being made again.
Sizes = Annotated[
    tuple[T, ...],
    Field(min_length=1),
    AfterValidator(each_once),
    AfterValidator(lambda sizes: tuple(sorted(sizes))),
]


def setting(meaning: str, unit: str, allowed: str, **default: Any) -> Any:
    """Describe a field of the configuration: what it means, in which unit, what is allowed."""
    extra: dict[str, Any] = {"unit": unit, "allowed": allowed}
    return Field(description=meaning, json_schema_extra=extra, **default)


class Section(BaseModel):
    """A group of settings. Keys that it does not know are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)
