"""Counters of a kernel at sizes that can be run in full."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.kernels.kernel import Kernel
from pipeline.kernels.matmul import misfit, multiply
from pipeline.vocab.counters import COUNTERS, COUNTS
from pipeline.vocab.variable import annotate


def factors(n: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Draw A and B, (n, n) each, from the standard normal distribution.

    The same seed and size give the same matrices, whatever else is simulated.
    """
    rng = np.random.default_rng([seed, n])
    a, b = rng.standard_normal((2, n, n), dtype=np.float32)
    return a, b


def simulate(
    kernel: Kernel, options: Any, sizes: Sequence[int], seed: int, rule: str = "lecture"
) -> xr.Dataset:
    """Run a kernel on square products and count what it does.

    Parameters
    ----------
    kernel, options
        What to run.
    sizes
        Values of n; a size that the kernel does not take is marked as not simulated, with counts 0.
    seed
        Seed of the matrices' values, which no counter depends on.
    rule
        How shared-memory wavefronts are counted: ``lecture`` or ``hardware``.

    Returns
    -------
    xr.Dataset
        Over (kernel, n), a single kernel: every counter (int64), ``simulated``, and
        ``max_abs_error`` of C against a float64 product (NaN where not simulated). The attribute
        ``wavefronts`` repeats ``rule``.
    """
    counters = np.zeros((len(COUNTERS), 1, len(sizes)), np.int64)
    error = np.full((1, len(sizes)), np.nan)
    simulated = np.array([[misfit(kernel, options, n, n, n) is None for n in sizes]])
    for position in np.flatnonzero(simulated[0]).tolist():
        # Elements are rounded before, so that the error is that of the sums.
        a, b = (it.astype(kernel.element) for it in factors(sizes[position], seed))
        c, launched = multiply(kernel, a, b, options, rule)
        counters[:, 0, position] = [launched.counters[name] for name in COUNTERS]
        largest = np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max()
        # To float32 accuracy: the last bits of the product differ between BLAS libraries and thread
        # counts, and results must not.
        error[0, position] = np.float32(largest)
    over = ("kernel", "n")
    dataset = xr.Dataset(
        {name: (over, values) for name, values in zip(COUNTERS, counters, strict=True)}
        | {"simulated": (over, simulated), "max_abs_error": (over, error)},
        {
            "kernel": [kernel.id],
            "kernel_number": ("kernel", [kernel.number]),
            "kernel_label": ("kernel", [kernel.label]),
            "n": np.array(sizes, np.int64),
        },
        {"wavefronts": rule},
    )
    return annotate(dataset, COUNTS)
