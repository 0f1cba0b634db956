"""Run a kernel of the ladder on a matrix product."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError
from pipeline.kernels.kernel import Kernel
from pipeline.simt.launch import Launched, count, launch
from pipeline.simt.memory import GlobalArray


def misfit(kernel: Kernel, options: Any, m: int, n: int, k: int) -> str | None:
    """Say why the kernel cannot compute an (m, k) by (k, n) product; None if it can."""
    multiple = kernel.launch(options).multiple
    wrong = [
        f"{name} = {size} must be a positive multiple of {step}"
        for name, size, step in zip("MNK", (m, n, k), multiple, strict=True)
        if size < 1 or size % step
    ]
    return f"{kernel.id}: {'; '.join(wrong)}" if wrong else None


def multiply(
    kernel: Kernel,
    a: NDArray[np.float32],
    b: NDArray[np.float32],
    options: Any,
    rule: str = "lecture",
) -> tuple[NDArray[np.float32], Launched]:
    """Compute ``a @ b`` with a kernel on the simulator.

    Parameters
    ----------
    kernel, options
        What to launch.
    a : (m, k), b : (k, n)
        Factors.
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
        If the inner sizes differ, or the kernel does not take the shape; the message names the
        multiple.
    """
    (m, k), (inner, n) = a.shape, b.shape
    if k != inner:
        raise LaunchError(f"A is {m} x {k} and B is {inner} x {n}; the inner sizes must agree")
    grid, block = _configuration(kernel, options, m, n, k)
    c = np.zeros((m, n), np.float32)
    factors = (np.ascontiguousarray(factor, np.float32) for factor in (a, b))
    launched = launch(kernel.body, grid, block, *factors, c, m, n, k, options, rule=rule)
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
        If the kernel does not take the shape; the message names the multiple.

    Examples
    --------
    >>> from pipeline.kernels.registry import KERNELS
    >>> counts(KERNELS["k01_naive"], 4096, 4096, 4096).counters["gld_sectors"] == 33 * 4096**3 // 32
    True
    """
    chosen = kernel.options() if options is None else options
    grid, block = _configuration(kernel, chosen, m, n, k)
    sizes = {"a": m * k, "b": k * n, "c": m * n}
    arrays = [GlobalArray.without_values(name, size, "f4") for name, size in sizes.items()]
    return count(kernel.body, grid, block, *arrays, m, n, k, chosen, rule=rule)


def _configuration(
    kernel: Kernel, options: Any, m: int, n: int, k: int
) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Return grid and block for a shape, or refuse it."""
    reason = misfit(kernel, options, m, n, k)
    if reason:
        raise LaunchError(reason)
    configuration = kernel.launch(options)
    rows, cols = configuration.tile
    return (-(-m // rows), -(-n // cols)), configuration.block
