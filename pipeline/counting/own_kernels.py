"""Counters of the user's own kernels, one kernel at a time, and gathered."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from pipeline.counting.extrapolate import extrapolate
from pipeline.counting.own_check import Checked, Functions, check
from pipeline.errors import KernelError, ModelError
from pipeline.kernels.launches import launches
from pipeline.kernels.own_kernel import OwnKernel
from pipeline.simt.matrix_instructions import CAPABILITY, needed_capability
from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.own_kernels import OWN_COUNTS
from pipeline.vocab.variable import annotate


def simulate_own(
    kernel: OwnKernel,
    functions: Callable[[], Functions],
    sizes: Sequence[int],
    held_out: int,
    seed: int,
    rule: str = "lecture",
) -> xr.Dataset:
    """Check a kernel, count it, and see whether its counters can be carried to other sizes.

    A kernel that fails is a result too, so that the other kernels can go on; :func:`verdict` turns
    it into an error.

    Parameters
    ----------
    kernel
        How it is launched.
    functions
        Loads the kernel and its specification.
    sizes
        Values of n; those that the kernel does not take are marked as not simulated.
    held_out
        Size that the polynomial through the others must predict; if the kernel does not take it,
        the largest that it takes.
    seed
        Seed of the inputs.
    rule
        How shared-memory wavefronts are counted.

    Returns
    -------
    (kernel, n)
        A single kernel: every counter, ``simulated``, ``max_abs_error`` against the specification,
        ``compulsory_bytes``; over (kernel) ``smem_bytes`` and ``failure``, which is empty if all
        went well. If not, nothing is marked as simulated. The attribute ``wavefronts`` repeats
        ``rule``.
    """
    taken = [n for n in sizes if kernel.takes(n)]
    try:
        loaded = functions()
        checked = {n: check(kernel, loaded, n, seed, rule) for n in taken}
        _check_odd_size(kernel, loaded, taken, seed)
        _check_shared_memory(kernel, checked)
        counts = _dataset(kernel, sizes, checked, "")
        extrapolate(counts, [max(taken)], held_out)
    except (KernelError, ModelError) as error:
        counts = _dataset(kernel, sizes, {}, str(error))
    return counts.assign_attrs(wavefronts=rule)


def verdict(counts: xr.Dataset) -> str:
    """Say in one line that a kernel passed.

    Parameters
    ----------
    counts : (kernel, n)
        What :func:`simulate_own` gives for one kernel.

    Raises
    ------
    KernelError
        If the kernel failed; says why.
    """
    kernel, failure = counts["kernel"].item(), counts["failure"].item()
    if failure:
        raise KernelError(
            f"{failure}. Nothing is predicted for it, all other kernels go on; mend it, or leave "
            f"it out with own_kernels.{kernel}: false"
        )
    sizes = counts["n"].values[counts["simulated"].values[0]]
    return (
        f"{kernel}: equal to its specification at n = {', '.join(map(str, sizes))}, largest "
        f"difference {counts['max_abs_error'].max().item():.3g}; no hazards"
    )


def gather(counts: Sequence[xr.Dataset], labels: Mapping[str, str]) -> xr.Dataset:
    """Put the kernels that passed into one dataset.

    Parameters
    ----------
    counts : (kernel, n)
        One dataset per kernel, from :func:`simulate_own`.
    labels
        Kernel id to the name that readers see, in the order in which kernels are shown.

    Returns
    -------
    (kernel, n)
        With the coordinates ``kernel_number``, from 1 on, and ``kernel_label``. The attribute
        ``failed`` lists the kernels that did not pass.

    Raises
    ------
    KernelError
        If none passed.
    """
    failed = [one["kernel"].item() for one in counts if one["failure"].item()]
    passed = [one.drop_vars("failure") for one in counts if not one["failure"].item()]
    if not passed:
        raise KernelError(
            f"no kernel of your own passed its check ({', '.join(failed)}), so there is nothing to "
            f"predict; the message of each says why"
        )
    together = xr.concat(passed, "kernel")
    ids = together["kernel"].values.tolist()
    numbers = [list(labels).index(kernel) + 1 for kernel in ids]
    together = together.assign_coords(
        kernel_number=("kernel", numbers),
        kernel_label=("kernel", [labels[kernel] for kernel in ids]),
    )
    return annotate(together.assign_attrs(failed=failed), OWN_COUNTS)


def own_launches(counts: xr.Dataset, declared: Mapping[str, Mapping[str, Any]]) -> xr.Dataset:
    """Launch facts of the kernels that were counted.

    Parameters
    ----------
    counts : (kernel, n)
        From :func:`gather`; ``smem_bytes`` is what the kernels declared when they ran, and the
        counters say which compute capability they need.
    declared
        Kernel id to the other facts, those of :func:`pipeline.kernels.launches.launch_facts`.
    """
    smem = counts["smem_bytes"].to_series()
    used = counts[list(CAPABILITY)].max("n")
    return launches(
        {
            str(kernel): {
                **declared[kernel],
                "smem_bytes": int(smem[kernel]),
                "capability_min": needed_capability(
                    {name: int(used[name].sel(kernel=kernel)) for name in CAPABILITY}
                ),
            }
            for kernel in smem.index
        }
    )


def _check_odd_size(
    kernel: OwnKernel, functions: Functions, sizes: Sequence[int], seed: int
) -> None:
    """Try a size at which blocks reach beyond the data, if the kernel says that it takes any."""
    n = min(sizes) + kernel.multiple
    if not kernel.cuts(n):
        return
    sizes_taken = "every n" if kernel.multiple == 1 else f"multiples of {kernel.multiple}"
    try:
        check(kernel, functions, n, seed)
    except KernelError as error:
        raise KernelError(
            f"{error}. It says that it takes {sizes_taken}, so it was tried where blocks reach "
            f"beyond the data; if it does not take such sizes, say so with "
            f"own_kernels.{kernel.id}.multiple"
        ) from error


def _check_shared_memory(kernel: OwnKernel, checked: Mapping[int, Checked]) -> None:
    declared = {n: one.launched.smem_bytes for n, one in checked.items()}
    if len(set(declared.values())) > 1:
        raise KernelError(
            f"{kernel.id} ({kernel.file}): a block declares shared arrays of "
            f"{', '.join(f'{size} bytes at n = {n}' for n, size in declared.items())}; occupancy "
            f"is predicted once for all sizes, so their size must not depend on n"
        )


def _dataset(
    kernel: OwnKernel, sizes: Sequence[int], checked: Mapping[int, Checked], failure: str
) -> xr.Dataset:
    """Arrange what was counted at some of the sizes; zeros at the others."""
    counters = np.zeros((len(COUNTERS) + 1, 1, len(sizes)), np.int64)
    error = np.full((1, len(sizes)), np.nan)
    for n, one in checked.items():
        values = [one.launched.counters[name] for name in COUNTERS]
        counters[:, 0, sizes.index(n)] = [*values, one.compulsory_bytes]
        error[0, sizes.index(n)] = one.max_abs_error
    over = ("kernel", "n")
    names = (*COUNTERS, "compulsory_bytes")
    smem = max((one.launched.smem_bytes for one in checked.values()), default=0)
    dataset = xr.Dataset(
        {name: (over, values) for name, values in zip(names, counters, strict=True)}
        | {
            "simulated": (over, [[n in checked for n in sizes]]),
            "max_abs_error": (over, error),
            "smem_bytes": ("kernel", [smem]),
            "failure": ("kernel", [failure]),
        },
        {"kernel": [kernel.id], "n": np.array(sizes, np.int64)},
    )
    return annotate(dataset, OWN_COUNTS)
