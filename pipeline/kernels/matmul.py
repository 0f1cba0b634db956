"""Run a kernel of the ladder on a matrix product."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError
from pipeline.kernels.kernel import Kernel
from pipeline.simt.launch import Launched, launch


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
    reason = misfit(kernel, options, m, n, k)
    if reason:
        raise LaunchError(reason)
    configuration = kernel.launch(options)
    rows, cols = configuration.tile
    c = np.zeros((m, n), np.float32)
    launched = launch(
        kernel.body,
        (-(-m // rows), -(-n // cols)),
        configuration.block,
        np.ascontiguousarray(a, np.float32),
        np.ascontiguousarray(b, np.float32),
        c,
        m,
        n,
        k,
        options,
        rule=rule,
    )
    return c, launched
