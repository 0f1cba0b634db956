"""One compiled kernel of the user's own: the keys of its entry in the configuration."""

import math
import re
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from pipeline.compiled.launch import MAX_GRID
from pipeline.compiled.space import LARGEST_ARRAY
from pipeline.config.own_entry import Positive, Threads
from pipeline.config.section import Label, Number, Section, Whole, as_number, each_once, setting
from pipeline.counting.own_cuda import FILLS, dtype

CudaArchitecture = Literal["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]
ARCHITECTURES: tuple[str, ...] = get_args(CudaArchitecture)
"""Architectures whose code can be run."""

Type = Literal[
    "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64",
]  # fmt: skip


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")


def _blocks(grid: tuple[int, ...]) -> tuple[int, ...]:
    if not 1 <= len(grid) <= 3:
        raise PydanticCustomError("axes", "must have one, two or three entries: x, y, z")
    for axis, blocks, most in zip("xyz", grid, MAX_GRID, strict=False):
        if blocks > most:
            raise PydanticCustomError(
                "axis",
                "{blocks} blocks along {axis}; CUDA allows at most {most} there",
                {"blocks": blocks, "axis": axis, "most": most},
            )
    return grid


def _as_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise PydanticCustomError(
            "name", "a name is made of letters a to z, digits and _, at most 60, no digit first"
        )
    return name


def _as_numbers(value: object) -> tuple[int | float, ...]:
    """Accept a number, or a list of them."""
    numbers = value if isinstance(value, list | tuple) else [value]
    if not numbers:
        raise PydanticCustomError("numbers", "must be a number, or a list of numbers")
    return tuple(as_number(one) for one in numbers)


def _as_fill(value: object) -> tuple[int | float, ...] | str:
    """Accept a number, the ends of random ones, or how else an array is filled."""
    if isinstance(value, str) and (value in FILLS or ":" in value):
        return value
    try:
        numbers = _as_numbers(value)
    except PydanticCustomError:
        numbers = ()
    if not 1 <= len(numbers) <= 2 or numbers[0] > numbers[-1]:
        raise PydanticCustomError("fill", f"must be {_FILL}")
    return numbers


_FILL = (
    "a number; [lowest, highest] of random numbers; random, range (0, 1, 2, ...), none (no "
    "contents: the launch is only counted); or file.py:function, called with shape and generator"
)


class CudaArgumentEntry(Section):
    """One argument: an array has a shape, a number a value. Its name is yours to choose."""

    type: Type = setting(
        "Type of the elements, or of the number.",
        "1",
        "float32, float64, float16, bfloat16, int8 to int64, uint8 to uint64",
    )
    shape: Annotated[tuple[Positive, ...], Field(min_length=1)] | None = setting(
        "Shape of an array.", "elements", "list of whole numbers from 1 on", default=None
    )
    fill: Annotated[Any, BeforeValidator(_as_fill)] = setting(
        "Contents of an array before the launch; 0 for outputs and random for others, if left out. "
        "Random real numbers are normal, whole ones 0 to 99.",
        "1",
        _FILL,
        default=None,
    )
    output: bool = setting(
        "Whether the kernel may change the array; a specification gives these.",
        "1",
        "true or false",
        default=False,
    )
    value: Annotated[Any, BeforeValidator(_as_numbers)] = setting(
        "Value of what is no array; several for a structure of numbers of this type.",
        "1",
        "a number, or a list of numbers",
        default=None,
    )

    @model_validator(mode="after")
    def _whole(self) -> "CudaArgumentEntry":
        if (self.shape is None) == (self.value is None):
            raise PydanticCustomError(
                "argument", "must have a shape (an array) or a value, not both"
            )
        if self.value is not None and (self.fill is not None or self.output):
            raise PydanticCustomError(
                "argument", "fill and output are for arrays, which have a shape"
            )
        numbers = self.value if self.value is not None else self.fill
        if isinstance(numbers, tuple):
            self._fitting(numbers)
        if self.shape is not None:
            self._not_too_large(self.shape)
        return self

    def _fitting(self, numbers: tuple[int | float, ...]) -> None:
        kind = dtype(self.type)
        if kind.kind not in "iu":
            return
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        for one in numbers:
            if one != int(one) or not low <= one <= high:
                raise PydanticCustomError(
                    "range",
                    "{one} is no {type}: whole numbers from {low} to {high}",
                    {"one": one, "type": self.type, "low": int(low), "high": int(high)},
                )

    def _not_too_large(self, shape: tuple[int, ...]) -> None:
        size = math.prod(shape) * dtype(self.type).itemsize
        if size > LARGEST_ARRAY:
            raise PydanticCustomError(
                "size",
                "an array of {size} bytes; at most {most} are possible",
                {"size": size, "most": LARGEST_ARRAY},
            )


class CudaEntry(Section):
    """One compiled kernel of your own. Keys with a default may be left out."""

    file: Annotated[str, Field(min_length=1)] = setting(
        "Where the code is: a CUDA source (.cu), a cubin, an executable that holds cubins, or a "
        "listing (.sass). Sources need nvcc and nvdisasm, cubins and executables nvdisasm.",
        "path",
        "relative to the project folder, or absolute",
    )
    entry: Annotated[str, Field(min_length=1)] = setting(
        "Name of the kernel: as written, if one kernel of the file has it, or mangled.",
        "1",
        "a kernel of the file",
    )
    architectures: Annotated[tuple[CudaArchitecture, ...], AfterValidator(each_once)] = setting(
        "Architectures to compile for; of a file that is compiled, those to take.",
        "1",
        f"list of {', '.join(ARCHITECTURES)}",
        default=(),
    )
    grid: Annotated[tuple[Positive, ...], AfterValidator(_blocks)] = setting(
        "Blocks along x, y and z.",
        "1",
        f"one to three numbers up to {', '.join(map(str, MAX_GRID))}",
    )
    block: Threads = setting(
        "Threads per block along x, y and z.",
        "1",
        "one to three numbers up to 1024, 1024, 64; at most 1024 in all",
    )
    dynamic_shared: Annotated[Whole, Field(ge=0)] = setting(
        "Shared memory per block that the launch asks for beyond what the kernel declares.",
        "B",
        "whole number from 0 on; with what the kernel declares, as much as a block may have",
        default=0,
    )
    arguments: dict[Annotated[str, AfterValidator(_as_name)], CudaArgumentEntry] = setting(
        "Arguments in the order of the kernel's parameters. A name is one that a function's "
        "parameter may have.",
        "name: keys",
        "the keys below",
        default_factory=dict,
    )
    specification: str = setting(
        "Function of numpy arrays that gives what the outputs must hold, one array or a tuple. Its "
        "parameters are names of arguments, as they are before the launch.",
        "file.py:function",
        "a function at the top level of a Python file",
        default="",
    )
    tolerance: Annotated[Number, Field(gt=0, lt=1)] = setting(
        "Largest difference between floating-point results and the specification, as a share of "
        "the largest value that the specification gives. Whole numbers must agree.",
        "1",
        "number above 0 and below 1",
        default=1e-4,
    )
    hazards: Literal["refuse", "report"] = setting(
        "Whether a hazard fails the kernel, or is only shown, as reads of what nobody wrote are.",
        "1",
        "refuse or report",
        default="refuse",
    )
    label: Label = setting(
        "Name that readers see.", "text", "one line of at most 200 characters", default=""
    )
