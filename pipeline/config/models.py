"""What ``config/config.yaml`` may hold, key by key.

No field has a default: the file itself is the one place where values are written down.
"""

import math
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

# Rows of float32 matrices start on a 128-byte line when n is a multiple of 32. Only then do all
# rows cost the same lines and sectors, and only then are the counts a polynomial in n.
LINE_ELEMENTS = 32

# Simulating n executes n**3 multiply-adds: eight times the work for twice the size.
LARGEST_SIMULATED = 1024

# The largest counter, 8 n**3 bytes of global accesses in the naive kernel, stays below 2**53: above
# that float64 no longer holds every whole number.
LARGEST_EXTRAPOLATED = 65536

LARGEST_SEED = 2**32 - 1


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
    if not math.isfinite(number):
        raise PydanticCustomError("number", "must be a finite number")
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
    except PydanticCustomError:
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


def _each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    twice = sorted({str(value) for value in values if values.count(value) > 1})
    if twice:
        raise PydanticCustomError(
            "duplicate",
            "must hold each entry once, but {twice} stands there more often",
            {"twice": ", ".join(twice)},
        )
    return values


def _ascending(values: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes mean the same in any order; one order keeps results from being made again."""
    return tuple(sorted(values))


Whole = Annotated[int, BeforeValidator(as_whole)]
Number = Annotated[float, BeforeValidator(as_number)]
SimulatedSize = Annotated[
    Whole, Field(ge=LINE_ELEMENTS, le=LARGEST_SIMULATED, multiple_of=LINE_ELEMENTS)
]
ExtrapolatedSize = Annotated[Whole, Field(ge=1, le=LARGEST_EXTRAPOLATED)]
SimulatedSizes = Annotated[
    tuple[SimulatedSize, ...],
    Field(min_length=1),
    AfterValidator(_each_once),
    AfterValidator(_ascending),
]
ExtrapolatedSizes = Annotated[
    tuple[ExtrapolatedSize, ...],
    Field(min_length=1),
    AfterValidator(_each_once),
    AfterValidator(_ascending),
]


def setting(meaning: str, unit: str) -> Any:
    """Describe a field of the configuration: what it means, and in which unit."""
    return Field(description=meaning, json_schema_extra={"unit": unit})


class Section(BaseModel):
    """A group of settings. Keys that it does not know are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Counting(Section):
    """What is simulated: every kernel at every size that it takes."""

    sizes: SimulatedSizes = setting(
        "Sizes n of the square matrices that every kernel is simulated at. A kernel skips the "
        "sizes that its tile does not divide, and needs at least five that it takes.",
        "elements",
    )
    held_out: SimulatedSize = setting(
        "The one of these sizes that the exact extrapolation does not see and must predict.",
        "elements",
    )
    per_fma_base: SimulatedSize = setting(
        "The one of these sizes whose counts per multiply-add the simple extrapolation keeps.",
        "elements",
    )
    seed: Annotated[Whole, Field(ge=0, le=LARGEST_SEED)] = setting(
        "Seed of the random matrices A and B. Counts do not depend on it, rounding errors do.", "1"
    )


class Hazards(Section):
    """The kernel with shared-memory tiles, with each of its barriers left out in turn."""

    sizes: SimulatedSizes = setting("Sizes n at which hazards are counted.", "elements")


class Extrapolation(Section):
    """Where counts are carried to, and times predicted."""

    sizes: ExtrapolatedSizes = setting(
        "Sizes n that counts are extrapolated to; each a multiple of the step between the "
        "simulated sizes.",
        "elements",
    )


class Lecture10(Section):
    """What the tables and figures of lecture 10 single out."""

    gpu: str = setting("GPU of the figures that show one GPU; one of gpus.", "GPU id")
    small_n: SimulatedSize = setting(
        "Size at which exact counts are shown; one of counting.sizes and of hazards.sizes.",
        "elements",
    )
    second_n: SimulatedSize = setting(
        "Second size for counts per multiply-add; another of counting.sizes.", "elements"
    )
    large_n: ExtrapolatedSize = setting(
        "Size at which times are shown; one of extrapolation.sizes.", "elements"
    )


class Config(Section):
    """All settings."""

    gpus: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_each_once)] = setting(
        "GPUs to predict, in the order in which they are shown. Each is a file in data/gpus.",
        "GPU ids",
    )
    kernels: Annotated[dict[Any, Any], Field(min_length=1)] = setting(
        "Kernels to count and their compile-time options. An empty entry takes the defaults, "
        "false leaves the kernel out.",
        "kernel id: options",
    )
    counting: Counting
    hazards: Hazards
    extrapolation: Extrapolation
    lecture10: Lecture10
