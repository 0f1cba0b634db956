"""Run a kernel of the ladder on a matrix product."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError
from pipeline.kernels.kernel import Kernel
from pipeline.simt.launch import Launched, count, launch
from pipeline.simt.memory import GlobalArray
from pipeline.simt.whole import whole

_LINE_BYTES = 128
_BUFFERS = 2
"""Most tiles of an operand that a kernel holds at a time, in turns."""


def misfit(kernel: Kernel, options: Any, m: int, n: int, k: int) -> str | None:
    """Say why the kernel cannot compute an (m, k) by (k, n) product; None if it can."""
    _refuse_options(kernel, options)
    multiple = kernel.launch(options).multiple
    wrong = [
        f"{name} = {size} must be a positive multiple of {step}"
        for name, size, step in zip("MNK", (m, n, k), multiple, strict=True)
        if size < 1 or size % step
    ]
    return f"{kernel.id}: {'; '.join(wrong)}" if wrong else None


def multiply(
    kernel: Kernel,
    a: NDArray[Any],
    b: NDArray[Any],
    options: Any,
    rule: str = "lecture",
) -> tuple[NDArray[np.float32], Launched]:
    """Compute ``a @ b`` with a kernel on the simulator.

    Parameters
    ----------
    kernel, options
        What to launch.
    a : (m, k), b : (k, n)
        Factors, which are rounded to the kernel's type of elements.
    rule
        How shared-memory wavefronts are counted.

    Returns
    -------
    c : (m, n)
        What the kernel stored, zero elsewhere.
    launched
        Counters and hazards.

    Raises
    ------
    LaunchError
        If a factor is no matrix of real numbers, the inner sizes differ, the options are not those
        of the kernel, or the kernel does not take the shape; the message names the multiple.
    """
    left, right = (_factor(name, it, kernel.element) for name, it in (("A", a), ("B", b)))
    (m, k), (inner, n) = left.shape, right.shape
    if k != inner:
        raise LaunchError(f"A is {m} x {k} and B is {inner} x {n}; the inner sizes must agree")
    _require_fit(kernel, options, m, n, k)
    grid, block = _configuration(kernel, options, m, n)
    c = np.zeros((m, n), np.float32)
    launched = launch(kernel.body, grid, block, left, right, c, m, n, k, options, rule=rule)
    return c, launched


def counts(
    kernel: Kernel, m: int, n: int, k: int, options: Any = None, rule: str = "lecture"
) -> Launched:
    """Count exactly what a kernel does on an (m, k) by (k, n) product, at any size.

    Every warp's every access is counted, and no value is computed: counters do not depend on
    values. Blocks and steps that do the same are recognised, so that 4096 x 4096 x 4096 takes less
    than a second.

    Parameters
    ----------
    kernel, options
        What to count; the kernel's default options if None.
    m, n, k
        Any shape that the kernel takes; rows need not fill whole lines.
    rule
        How shared-memory wavefronts are counted.

    Returns
    -------
    Launched
        Counters and hazards, equal to those of :func:`multiply`.

    Raises
    ------
    LaunchError
        If a size is no whole number, the options are not those of the kernel, or the kernel does
        not take the shape; the message names the multiple.

    Examples
    --------
    >>> from pipeline.kernels.registry import KERNELS
    >>> counts(KERNELS["k01_naive"], 4096, 4096, 4096).counters["gld_sectors"] == 33 * 4096**3 // 32
    True
    """
    chosen = kernel.options() if options is None else options
    m, n, k = (_size(name, size) for name, size in zip("MNK", (m, n, k), strict=True))
    _require_fit(kernel, chosen, m, n, k)
    return _counted(kernel, m, n, k, chosen, rule)


def counts_of_square(
    kernel: Kernel, n: int, options: Any, rule: str = "lecture"
) -> Mapping[str, int]:
    """Count exactly what a kernel does on an (n, n) by (n, n) product, from three short ones.

    Steps along k repeat as soon as they stand within a line as before, and two buffers have taken
    turns. So from a few such periods on counters grow by the same with every period. Three short
    products must show that they do; where they do not, or n is small, the whole is counted.

    Parameters
    ----------
    kernel, options, rule
        As in :func:`counts`; a kernel whose steps do not depend on how many there are, as those of
        the ladder.
    n
        A size that the kernel takes.

    Returns
    -------
    Mapping
        The counters of :func:`counts`.

    Raises
    ------
    LaunchError
        As :func:`counts`.
    """
    line = _LINE_BYTES // np.dtype(kernel.element).itemsize
    period = _BUFFERS * math.lcm(kernel.launch(options).multiple[2], line)
    depths = [periods * period for periods in (2, 3, 4)]
    if n % period or n <= sum(depths):
        return counts(kernel, n, n, n, options, rule).counters
    first, second, third = (counts(kernel, n, n, k, options, rule).counters for k in depths)
    if any(third[name] - second[name] != second[name] - first[name] for name in third):
        return counts(kernel, n, n, n, options, rule).counters
    more = (n - depths[-1]) // period
    return {name: last + (last - second[name]) * more for name, last in third.items()}


def counts_without_steps(
    kernel: Kernel, m: int, n: int, options: Any, rule: str = "lecture"
) -> Launched:
    """Count what a kernel does outside of its steps along k: all that it does if there is no step.

    Parameters
    ----------
    kernel, options
        What to count; a kernel that reads nothing ahead of its steps.
    m, n
        Rows and columns of C, a shape that the kernel takes.
    rule
        How shared-memory wavefronts are counted.

    Raises
    ------
    LaunchError
        As :func:`counts`.
    OutOfRangeError
        If the kernel reads ahead.
    """
    _require_fit(kernel, options, m, n, kernel.launch(options).multiple[2])
    return _counted(kernel, m, n, 0, options, rule)


def _counted(kernel: Kernel, m: int, n: int, k: int, options: Any, rule: str) -> Launched:
    """Count a product whose shape the kernel takes."""
    grid, block = _configuration(kernel, options, m, n)
    arrays = [
        GlobalArray.without_values("a", m * k, kernel.element),
        GlobalArray.without_values("b", k * n, kernel.element),
        GlobalArray.without_values("c", m * n, np.float32),
    ]
    return count(kernel.body, grid, block, *arrays, m, n, k, options, rule=rule)


def _refuse_options(kernel: Kernel, options: Any) -> None:
    """Refuse options of another kernel, or what is none."""
    if not isinstance(options, kernel.options):
        wanted = kernel.options
        raise LaunchError(
            f"{kernel.id}: the options are {options!r}, allowed is a {wanted.__module__}."
            f"{wanted.__qualname__}, such as KERNELS[{kernel.id!r}].options()"
        )


def _size(name: str, size: Any) -> int:
    """Return a size as Python's integer, whose products do not wrap around."""
    try:
        return whole(size)
    except TypeError:
        raise LaunchError(f"{name} = {size!r} is no size; allowed are whole numbers") from None


def _factor(name: str, factor: Any, element: str) -> NDArray[Any]:
    """Bring a factor to a type of elements."""
    try:
        given = np.asarray(factor)
    except ValueError:
        raise LaunchError(f"{name} has rows of different lengths; pass a matrix") from None
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise LaunchError(
            f"{name} has shape {given.shape} and type {given.dtype}; allowed are matrices of real "
            f"numbers"
        )
    return np.ascontiguousarray(given, element)


def _require_fit(kernel: Kernel, options: Any, m: int, n: int, k: int) -> None:
    """Refuse a shape that the kernel does not take."""
    reason = misfit(kernel, options, m, n, k)
    if reason:
        raise LaunchError(reason)


def _configuration(
    kernel: Kernel, options: Any, m: int, n: int
) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Return grid and block for a shape of C."""
    configuration = kernel.launch(options)
    rows, cols = configuration.tile
    return (-(-m // rows), -(-n // cols)), configuration.block
