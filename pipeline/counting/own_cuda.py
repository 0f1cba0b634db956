"""A compiled kernel of the user's own: how it is launched, and what it is given."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from pipeline.compiled.decode import Program
from pipeline.compiled.launch import Argument, Launch, Space, misfits, prepare
from pipeline.errors import KernelError

NONE, RANDOM, RANGE = "none", "random", "range"
FILLS = (RANDOM, RANGE, NONE)
"""Fills that have a name: random numbers, 0 1 2 and so on, and no contents at all."""

MOST_RANDOM = 99
"""Random whole numbers are 0 to this, which every type holds."""


@dataclass(frozen=True)
class UserFunction:
    """A function in a file of the user's own.

    Attributes
    ----------
    label
        ``file.py:function``.
    names
        Its parameters.
    body
        The function itself.
    blame
        Says where in the file an error comes from.
    """

    label: str
    names: tuple[str, ...]
    body: Callable[..., Any]
    blame: Callable[[BaseException], str]

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it.

        Raises
        ------
        KernelError
            With the place in the user's file, if it raises an error.
        """
        try:
            return self.body(*arguments, **named)
        # A function that ends the run would pass for one that is right.
        except (Exception, SystemExit) as error:
            raise KernelError(f"{self.label}: {self.blame(error)}") from error


Load = Callable[[str], UserFunction]
"""Gives the function that ``file.py:function`` names."""


@dataclass(frozen=True)
class CudaArgument:
    """One argument of a kernel.

    Attributes
    ----------
    name
        What messages and the specification call it.
    type
        Type of the elements, or of the number.
    shape
        Of an array; empty for numbers.
    fill
        Contents of an array before the launch: a number, two for the ends of random numbers, or
        text: ``random``, ``range``, ``none``, or ``file.py:function``. Of what is no array, the
        value: one number, or several for a structure.
    output
        Whether the kernel may change the array.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    fill: tuple[float, ...] | str
    output: bool = False

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""
        return dtype(self.type)

    @property
    def nbytes(self) -> int:
        """Size of the array, or of the number (B)."""
        count = len(self.fill) if not self.shape else 1
        return int(np.prod([count, *self.shape], dtype=np.int64)) * self.dtype.itemsize

    @property
    def empty(self) -> bool:
        """Whether it is an array without contents."""
        return bool(self.shape) and self.fill == NONE


@dataclass(frozen=True)
class OwnCuda:
    """How a compiled kernel of the user's own is launched and checked.

    Attributes
    ----------
    id
        Its name in the configuration.
    file, entry
        Where its code is, and the name of the kernel in it.
    grid, block
        Blocks and threads along x, y and z.
    dynamic_shared
        Shared memory that the launch asks for beyond what the kernel declares (B).
    arguments
        In the order of the kernel's parameters.
    specification
        ``file.py:function`` that gives what the outputs must hold; empty if there is none.
    tolerance
        Largest difference from it, as a share of the largest value that it gives.
    hazards
        Whether a hazard is a failure (``refuse``) or is only reported.
    """

    id: str
    file: str
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    dynamic_shared: int
    arguments: tuple[CudaArgument, ...]
    specification: str = ""
    tolerance: float = 1e-4
    hazards: str = "refuse"

    @property
    def outputs(self) -> list[CudaArgument]:
        """Arrays that the kernel may change."""
        return [one for one in self.arguments if one.output]

    @property
    def array_bytes(self) -> int:
        """All arrays together (B)."""
        return sum(one.nbytes for one in self.arguments if one.shape)


def read_own(values: Mapping[str, Any]) -> OwnCuda:
    """Read back what ``dataclasses.asdict`` gave."""
    return TypeAdapter(OwnCuda).validate_python(values)


def dtype(name: str) -> np.dtype:
    """Return the numpy type of a name; ``bfloat16`` is one as well."""
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def drawn(arguments: Sequence[CudaArgument], seed: int, load: Load) -> list[Argument]:
    """Make the arguments of a launch.

    Parameters
    ----------
    arguments
        What they are.
    seed
        Of random numbers; the same seed and place among the arguments give the same values.
    load
        Gives the functions that fill arrays: ``function(shape, generator)``.

    Raises
    ------
    KernelError
        If a function does not fill its array.
    """
    return [
        _drawn(one, np.random.default_rng([seed, place]), load)
        for place, one in enumerate(arguments)
    ]


def launch_without_contents(own: OwnCuda, program: Program) -> Launch:
    """Launch the code of a kernel to be counted, or replayed.

    Raises
    ------
    KernelError
        If the launch does not fit the code.
    """
    plain: list[Argument] = [
        Space(one.nbytes) if one.shape else _value(one) for one in own.arguments
    ]
    names = [one.name for one in own.arguments]
    wrong = misfits(program, own.grid, own.block, plain, names)
    if wrong:
        raise KernelError(f"{own.file}, {own.entry}: {'; '.join(wrong)}")
    return prepare(program, own.grid, own.block, plain, own.dynamic_shared)


def _value(one: CudaArgument) -> Argument:
    values = np.array(one.fill, np.float64 if one.dtype.kind in "fV" else object)
    return values.astype(one.dtype).tobytes()


def _drawn(one: CudaArgument, generator: np.random.Generator, load: Load) -> Argument:
    if not one.shape:
        return _value(one)
    if isinstance(one.fill, str):
        if one.fill not in FILLS:
            return _made(one, generator, load)
        return _NAMED[one.fill](one, generator)
    low, high = one.fill[0], one.fill[-1]
    if len(one.fill) == 1:
        return np.full(one.shape, low, one.dtype)
    if one.dtype.kind in "iu":
        return generator.integers(int(low), int(high), one.shape, endpoint=True).astype(one.dtype)
    return generator.uniform(low, high, one.shape).astype(one.dtype)


def _random(one: CudaArgument, generator: np.random.Generator) -> Argument:
    if one.dtype.kind in "iu":
        whole = generator.integers(0, MOST_RANDOM, one.shape, endpoint=True)
        return whole.astype(one.dtype)
    return generator.standard_normal(one.shape).astype(one.dtype)


def _range(one: CudaArgument, _generator: np.random.Generator) -> Argument:
    return np.arange(int(np.prod(one.shape))).astype(one.dtype).reshape(one.shape)


_NAMED: dict[str, Callable[[CudaArgument, np.random.Generator], Argument]] = {
    RANDOM: _random,
    RANGE: _range,
    NONE: lambda one, _generator: Space(one.nbytes),
}


def _made(one: CudaArgument, generator: np.random.Generator, load: Load) -> NDArray[Any]:
    made = np.asarray(load(str(one.fill))(one.shape, generator))
    if made.shape != one.shape:
        raise KernelError(
            f"{one.fill} gives an array of shape {made.shape} for {one.name}, whose shape is "
            f"{one.shape}"
        )
    return np.ascontiguousarray(made.astype(one.dtype))
