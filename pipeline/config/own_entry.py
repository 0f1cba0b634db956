"""One kernel of the user's own: the keys of its entry in the configuration."""

import math
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from pipeline.config.section import Label, Number, Section, Whole, setting
from pipeline.kernels.own_kernel import SIZE, factors
from pipeline.simt.launch import MAX_THREADS

LARGEST_AXES = (1024, 1024, 64)
"""Threads along x, y and z that CUDA allows (CUDA C++ guide, technical specifications)."""

_EXPONENT = re.compile(r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)[eE][+-]?[0-9]+")
_BLOCKS = (
    f"one to three numbers up to {', '.join(map(str, LARGEST_AXES))}; at most {MAX_THREADS} in all"
)
# Longer numbers stand for no array, and Python refuses to read very long ones.
_MOST_DIGITS = 12
_PRODUCT = (
    "must be a whole number, n, or a product of these such as n*n or 4*n; a number has at most "
    f"{_MOST_DIGITS} digits"
)


def _as_product(value: object) -> str:
    """Accept a length however it was written (128, "n", "n * n")."""
    whole = isinstance(value, int) and not isinstance(value, bool) and value < 10**_MOST_DIGITS
    if not (whole or isinstance(value, str)):
        raise PydanticCustomError("product", _PRODUCT)
    parts = factors(str(value))
    if not all(part == SIZE or _is_length(part) for part in parts):
        raise PydanticCustomError("product", _PRODUCT)
    return "*".join(parts)


def _is_length(part: str) -> bool:
    digits = part.isascii() and part.isdecimal() and len(part) <= _MOST_DIGITS
    return digits and int(part) > 0


def _axes(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not 1 <= len(values) <= 3:
        raise PydanticCustomError("axes", "must have one, two or three entries: x, y, z")
    return values


def _threads(block: tuple[int, ...]) -> tuple[int, ...]:
    for axis, threads, most in zip("xyz", block, LARGEST_AXES, strict=False):
        if threads > most:
            raise PydanticCustomError(
                "axis",
                "{threads} threads along {axis}; CUDA allows at most {most} there",
                {"threads": threads, "axis": axis, "most": most},
            )
    if math.prod(block) > MAX_THREADS:
        raise PydanticCustomError(
            "threads",
            "{threads} threads; a block has at most {most}",
            {"threads": math.prod(block), "most": MAX_THREADS},
        )
    return block


def _as_options(given: dict[str, Any]) -> dict[str, Any]:
    """Take numbers for what they are: YAML reads ``1e-3``, without a point, as text."""
    return {
        name: float(value) if isinstance(value, str) and _EXPONENT.fullmatch(value) else value
        for name, value in given.items()
    }


Length = Annotated[str, BeforeValidator(_as_product)]
Positive = Annotated[Whole, Field(ge=1)]
Threads = Annotated[tuple[Positive, ...], AfterValidator(_axes), AfterValidator(_threads)]


class OwnEntry(Section):
    """One kernel of your own. Keys with a default may be left out."""

    file: Annotated[str, Field(min_length=1)] = setting(
        "Python file that holds the functions. It is loaded from where it lies.",
        "path",
        "relative to the project folder, or absolute",
    )
    kernel: str = setting(
        "Function that every thread runs: kernel(blk, inputs..., output, n, options...).",
        "function name",
        "a function at the top level of the file",
    )
    specification: str = setting(
        "Function of numpy arrays that gives what the kernel must leave in its output. Its "
        "parameters name the inputs.",
        "function name",
        "a function at the top level of the file",
    )
    block: Threads = setting("Threads per block along x, y and z.", "1", _BLOCKS)
    tile: Annotated[tuple[Positive, ...], AfterValidator(_axes)] = setting(
        "Part of the index space that one block covers, along x, y and z. The grid has "
        "space / tile blocks, rounded up.",
        "elements",
        "as many numbers as space has",
    )
    space: Annotated[tuple[Length, ...], AfterValidator(_axes)] = setting(
        "Index space that the blocks cover, along x, y and z.",
        "elements",
        "one to three of: a whole number, n, a product such as n*n",
        default=("n", "n"),
    )
    inputs: dict[str, Annotated[tuple[Length, ...], Field(min_length=1)]] = setting(
        "Shapes of input arrays that are not n by n.",
        "elements",
        "parameter of the specification: list of lengths as in space",
        default_factory=dict,
    )
    multiple: Positive = setting(
        "The kernel takes only sizes n that are multiples of this. With a number that its tile "
        "does not divide, the kernel is also tried at a size where blocks reach beyond the data.",
        "elements",
        "whole number from 1 on",
        default=1,
    )
    options: Annotated[dict[str, Any], AfterValidator(_as_options)] = setting(
        "Further arguments of the kernel; 1e-3 is a number here.",
        "name: value",
        "parameters of the kernel",
        default_factory=dict,
    )
    registers: Annotated[Whole, Field(ge=1, le=255)] = setting(
        "Registers per thread, as an assumption: nothing is compiled.",
        "1",
        "1 to 255",
        default=32,
    )
    tolerance: Annotated[Number, Field(gt=0, lt=1)] = setting(
        "Largest difference between floating-point results and the specification, as a share of "
        "the largest value that the specification gives. Whole numbers must agree.",
        "1",
        "number above 0 and below 1",
        default=1e-4,
    )
    label: Label = setting(
        "Name that readers see.", "text", "one line of at most 200 characters", default=""
    )
