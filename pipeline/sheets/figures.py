"""Figures of data sheets: ``{value, unit, source}``.

Each kind takes one unit only, so that no number is ever read in another scale than it was written
in.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

# Larger than any machine, and still exact as int64 and as float64.
_LARGEST = 10**15
_Whole = Annotated[int, Field(gt=0, le=_LARGEST)]
# A clock below 1 MHz or a bandwidth below 1 MB/s was written in GHz or GB/s.
_Rate = Annotated[float, Field(ge=1e6, le=1e18, allow_inf_nan=False)]


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError(f"is {text!r}; it must be one line of letters, digits and signs")
    return text


Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(_one_line),
]
# A document and a place in it need at least one blank between them; a bare address has none.
_Source = Annotated[str, StringConstraints(min_length=12, pattern=r"\S\s+\S")]


class Record(BaseModel):
    """Nothing is guessed: unknown fields and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Sourced(Record):
    """Something from the world with the place it was read in."""

    unit: str
    source: _Source


class Figure(Sourced):
    """A number."""

    value: int | float


class Count(Figure):
    """A whole number of things."""

    value: _Whole
    unit: Literal["1"]


class Size(Figure):
    """A whole number of bytes."""

    value: _Whole
    unit: Literal["byte"]


class Reserve(Figure):
    """A whole number of bytes that may be none."""

    value: Annotated[int, Field(ge=0, le=_LARGEST)]
    unit: Literal["byte"]


class Frequency(Figure):
    """Clocks per second."""

    value: _Rate
    unit: Literal["Hz"]


class Bandwidth(Figure):
    """Bytes per second."""

    value: _Rate
    unit: Literal["byte/s"]


class Flops(Figure):
    """Floating-point operations per second."""

    value: _Rate
    unit: Literal["FLOP/s"]


class PerClock(Figure):
    """Events per SM and clock, not always whole."""

    value: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
    unit: Literal["1"]


class Duration(Figure):
    """Seconds; less than one, so that nothing in microseconds passes."""

    value: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
    unit: Literal["s"]


class Cycles(Figure):
    """Clocks of an SM."""

    value: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
    unit: Literal["cycle"]


class Share(Figure):
    """A part of a whole."""

    value: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
    unit: Literal["1"]


class Sizes(Sourced):
    """Numbers of bytes to choose from, in rising order."""

    value: Annotated[list[Annotated[int, Field(ge=0, le=_LARGEST)]], Field(min_length=1)]
    unit: Literal["byte"]


class Flag(Sourced):
    """Something that is so, or not."""

    value: bool
    unit: Literal["1"]
