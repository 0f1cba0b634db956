"""Is a kernel of the user's own right? Its result against the specification, and its hazards.

What is wrong is said in one message: which kernel, at which size, on which line, in which block and
thread.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import KernelError, PaperGpuError
from pipeline.kernels.own_kernel import OwnKernel
from pipeline.simt.last_store import last_store
from pipeline.simt.launch import Launched, launch

Blame = Callable[[BaseException], str]


@dataclass(frozen=True)
class Functions:
    """What a user's file defines.

    Attributes
    ----------
    kernel
        ``kernel(blk, *inputs, output, n, **options)``.
    specification
        ``specification(*inputs)`` gives what the kernel must leave in its output.
    blame
        Says where in the file an error comes from.
    """

    kernel: Callable[..., None]
    specification: Callable[..., Any]
    blame: Blame


@dataclass(frozen=True)
class Checked:
    """A launch that did what it should.

    Attributes
    ----------
    launched
        Counters and hazards.
    max_abs_error
        Largest difference from the specification.
    compulsory_bytes
        Bytes of all arrays that were read, plus bytes of all that were written.
    """

    launched: Launched
    max_abs_error: float
    compulsory_bytes: int


def draw_inputs(kernel: OwnKernel, n: int, seed: int) -> list[NDArray[np.float32]]:
    """Draw the input arrays from the standard normal distribution.

    The same seed, size and place among the inputs give the same values.
    """
    return [
        np.random.default_rng([seed, n, place]).standard_normal(
            kernel.shape(name, n), dtype=np.float32
        )
        for place, name in enumerate(kernel.inputs)
    ]


def check(
    kernel: OwnKernel, functions: Functions, n: int, seed: int, rule: str = "lecture"
) -> Checked:
    """Run a kernel at one size, and refuse it if anything is wrong.

    Parameters
    ----------
    kernel, functions
        What to run.
    n
        Problem size.
    seed
        Seed of the inputs.
    rule
        How shared-memory wavefronts are counted.

    Raises
    ------
    KernelError
        If the kernel or its specification raises an error, the kernel accesses what it may not, has
        a hazard, or leaves another result than the specification.
    """
    inputs = draw_inputs(kernel, n, seed)
    where = f"{kernel.id} ({kernel.file}) at n = {n}"
    try:
        expected = _expected(kernel, functions, inputs)
        run = _Run(kernel, functions.kernel, n, inputs, expected)
        output, launched = run.launch(rule)
    except PaperGpuError as error:
        raise KernelError(f"{where}: {error}") from error
    # A kernel that ends the run would pass for one that is right.
    except (Exception, SystemExit) as error:
        raise KernelError(f"{where}: {functions.blame(error)}") from error
    difference, wrong = compare(output, expected, kernel.tolerance)
    complaints = [*_hazards(launched), *([run.wrong_result(output, wrong)] if wrong.any() else [])]
    if complaints:
        raise KernelError(f"{where}: {'; '.join(complaints)}")
    return Checked(launched, difference, run.compulsory_bytes(launched))


def compare(
    output: NDArray[Any], expected: NDArray[Any], tolerance: float
) -> tuple[float, NDArray[np.bool_]]:
    """Compare a result with what it should be.

    Parameters
    ----------
    output, expected
        Arrays of one shape and type.
    tolerance
        Largest difference of floating-point numbers, as a share of the largest finite magnitude in
        ``expected``; whole numbers must be equal.

    Returns
    -------
    largest difference, and where the result is wrong
        NaN is right where NaN is expected, and infinity where that is.
    """
    same = output == expected
    if expected.dtype.kind != "f":
        apart = np.where(same, 0.0, np.abs(output.astype(np.float64) - expected.astype(np.float64)))
        return float(apart.max(initial=0.0)), ~same
    same |= np.isnan(output) & np.isnan(expected)
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(output.astype(np.float64) - expected))
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    return float(apart.max(initial=0.0)), ~(apart <= tolerance * float(scale))


@dataclass(frozen=True)
class _Run:
    """One launch of a kernel on its inputs."""

    kernel: OwnKernel
    body: Callable[..., None]
    n: int
    inputs: Sequence[NDArray[np.float32]]
    expected: NDArray[Any]

    def launch(self, rule: str) -> tuple[NDArray[Any], Launched]:
        """Give the output, which held zeros before, and what the launch did."""
        arguments = self._arguments()
        return arguments[len(self.inputs)], launch(*self._what(), *arguments, rule=rule)

    def compulsory_bytes(self, launched: Launched) -> int:
        """Bytes that must pass DRAM if every array that is read or written passes once."""
        arrays = dict(zip(self._names(), [*self.inputs, self.expected], strict=True))
        return sum(
            arrays[name].nbytes for names in (launched.loaded, launched.stored) for name in names
        )

    def wrong_result(self, output: NDArray[Any], wrong: NDArray[np.bool_]) -> str:
        """Say which element is wrong first, and which thread wrote it."""
        first = int(np.flatnonzero(wrong)[0])
        name = self._names()[-1]
        store = last_store(*self._what(), *self._arguments(), array=name, element=first)
        index = ", ".join(map(str, np.unravel_index(first, output.shape)))
        who = f"stored last at {store}" if store else "which no thread has stored"
        return (
            f"wrong result: {name}[{index}] is {output.flat[first]:.7g}, {who}; "
            f"{self.kernel.specification} gives {self.expected.flat[first]:.7g} there "
            f"({np.count_nonzero(wrong)} of {wrong.size} elements differ)"
        )

    def _what(self) -> tuple[Callable[..., None], tuple[int, ...], tuple[int, ...]]:
        body = partial(self.body, **self.kernel.options)
        return body, self.kernel.grid(self.n), self.kernel.block

    def _arguments(self) -> list[Any]:
        """Fresh arguments: a kernel may change its inputs."""
        output = np.zeros(self.expected.shape, self.expected.dtype)
        return [*(array.copy() for array in self.inputs), output, self.n]

    def _names(self) -> list[str]:
        """Names that the kernel gives its arrays."""
        return list(inspect.signature(self.body).parameters)[1 : len(self.inputs) + 2]


def _expected(
    kernel: OwnKernel, functions: Functions, inputs: Sequence[NDArray[np.float32]]
) -> NDArray[Any]:
    """Evaluate the specification."""
    given = functions.specification(*(array.copy() for array in inputs))
    expected = np.asarray(given)
    if expected.dtype.kind not in "biuf":
        raise KernelError(
            f"{kernel.specification} gives {type(given).__name__} of {expected.dtype}; it must "
            f"give an array of numbers"
        )
    if not expected.size:
        raise KernelError(
            f"{kernel.specification} gives an empty array, of shape {expected.shape}; there is "
            f"nothing to compare, so it must give at least one element"
        )
    return np.ascontiguousarray(expected).reshape(expected.shape)


def _hazards(launched: Launched) -> list[str]:
    """Say what the first hazard is, and how many there are."""
    if not launched.hazard_counts:
        return []
    kinds = ", ".join(f"{count} {kind}" for kind, count in launched.hazard_counts.items())
    return [f"{launched.hazards[0]} (in all: {kinds})"]
