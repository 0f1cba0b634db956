"""Carry counters from the sizes that were simulated to any size.

Two methods, two values of one coordinate. ``per_fma`` keeps each counter per multiply-add as it was
at one size, so what happens once per element of C comes out too large. ``polynomial`` is exact: on
multiples of the tile a counter is a sum of loop nests, each of which runs a product of at most
three numbers of tiles, that is a polynomial of degree three in n.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.counting.samples import NODES as NODES
from pipeline.counting.samples import (
    Samples,
    check_counts,
    check_roles,
    check_steps,
    listed,
    names_of,
    samples_of,
)
from pipeline.errors import ModelError
from pipeline.vocab.extrapolation import EXTRAPOLATION
from pipeline.vocab.variable import annotate


def extrapolate(
    counts: xr.Dataset, sizes: Sequence[int], held_out: int, per_fma_base: int | None = None
) -> xr.Dataset:
    """Give every counter at every size, by both methods, with the error at the held-out size.

    Parameters
    ----------
    counts : (kernel, n)
        Every counter of the vocabulary, and ``simulated``; sizes where that is false are left out.
        ``compulsory_bytes`` is carried along where it is there.
    sizes
        Sizes wanted, each a multiple of the step of the simulated sizes.
    held_out
        Simulated size that the polynomial must predict without having seen it. A kernel that does
        not take it holds out the largest size that it takes.
    per_fma_base
        Simulated size whose counts per multiply-add ``per_fma`` keeps; of a kernel that does not
        take it, those of the smallest size that it takes. None leaves that method out, for kernels
        that multiply nothing.

    Returns
    -------
    (kernel, n, method)
        Every counter as float64: exact below 2**53, above that the nearest float64 (relative error
        at most 2**-53). ``held_out_error`` and ``held_out_counter`` over (kernel, method), and over
        (kernel) the sizes that were used: ``held_out_n`` and, if ``per_fma`` is there,
        ``per_fma_base_n``. The attributes ``held_out`` and ``per_fma_base`` repeat the arguments.

    Raises
    ------
    VocabularyError
        If ``counts`` lacks a counter or a dimension.
    ModelError
        If a size was not simulated that is needed, a wanted size lies between the steps, or a
        counter is not the polynomial that the others make it.
    """
    check_counts(counts)
    wanted = [int(size) for size in sizes]
    check_roles(counts, wanted, held_out, per_fma_base)
    samples = [
        samples_of(counts, str(kernel), held_out, per_fma_base)
        for kernel in counts["kernel"].values
    ]
    check_steps(samples, wanted)
    # The held-out size rides along, so that its error and the result come from the same call.
    used = {"held_out": held_out}
    by_method = {}
    if per_fma_base is not None:
        used["per_fma_base"] = per_fma_base
        by_method["per_fma"] = [per_fma(one, [*wanted, one.held_out]) for one in samples]
    by_method["polynomial"] = [polynomial(one, [*wanted, one.held_out]) for one in samples]
    values = xr.DataArray(
        np.stack([np.stack(of_kernel) for of_kernel in by_method.values()]).astype(np.float64),
        dims=("method", "kernel", "n", "counter"),
        coords={"method": list(by_method), "counter": list(names_of(counts))},
    )
    counted = xr.DataArray(
        np.stack([one.at([one.held_out])[0] for one in samples]).astype(np.float64),
        dims=("kernel", "counter"),
    )
    result = (
        values.isel(n=slice(len(wanted)))
        .to_dataset("counter")
        .assign(_held_out_error(values.isel(n=-1), counted))
        .assign({name: ("kernel", numbers) for name, numbers in _roles(samples, used).items()})
        .assign_coords({"n": wanted, **_kernel_coordinates(counts)})
        .transpose("kernel", "n", "method", missing_dims="ignore")
        .assign_attrs(used)
    )
    return annotate(result, EXTRAPOLATION)


def per_fma(samples: Samples, sizes: Sequence[int]) -> NDArray[np.object_]:
    """Scale the counters at the base by the number of multiply-adds, n cubed.

    Returns
    -------
    (size, counter)
        Fractions; what happens once per element of C is n / base times too large.
    """
    counters = samples.at([samples.base])[0]
    fma = counters[samples.names.index("fma")]
    if fma <= 0:
        raise ModelError(
            f"{samples.kernel}: no multiply-add was counted at size {samples.base}, so nothing can "
            f"be scaled per multiply-add; choose another per_fma_base or leave the kernel out"
        )
    scales = np.array([Fraction(size**3, fma) for size in sizes], dtype=object)
    return np.multiply.outer(scales, counters)


def polynomial(samples: Samples, sizes: Sequence[int]) -> NDArray[np.object_]:
    """Evaluate the cubic through four simulated sizes, after checking it at all the others.

    Returns
    -------
    (size, counter)
        Whole numbers, exact.

    Raises
    ------
    ModelError
        With fewer than four sizes besides the one held out, if any counter misses at a size that
        was not used for the fit, or if a result is no count (not whole, or negative).
    """
    held_out = samples.held_out
    others = [size for size in samples.sizes if size != held_out]
    if len(others) < NODES:
        raise ModelError(
            f"{samples.kernel}: {len(others)} sizes were simulated besides the held-out "
            f"{held_out} ({listed(others)}); a polynomial of degree three needs {NODES}. "
            f"Simulate more sizes that this kernel takes"
        )
    nodes, checks = others[:NODES], [*others[NODES:], held_out]
    _require_hits(samples, nodes, checks)
    values = interpolate(nodes, samples.at(nodes), sizes)
    _require_whole(samples, nodes, sizes, values)
    return values


def interpolate(
    nodes: Sequence[int], values: NDArray[np.object_], at: Sequence[int]
) -> NDArray[np.object_]:
    """Evaluate the polynomial through (``nodes``, ``values``), in exact arithmetic.

    Lagrange's form: each value is weighted with the polynomial that is 1 at its own node and 0 at
    the others.

    Parameters
    ----------
    nodes
        Distinct whole numbers.
    values : (node, ...)
        Whole numbers or fractions, as Python objects.
    at
        Where to evaluate.

    Returns
    -------
    (at, ...)
        Fractions.
    """
    weights = [
        [
            math.prod(
                (Fraction(x - other, node - other) for other in nodes if other != node),
                start=Fraction(1),
            )
            for node in nodes
        ]
        for x in at
    ]
    return np.array(weights, dtype=object) @ values


def _held_out_error(predicted: xr.DataArray, counted: xr.DataArray) -> dict[str, xr.DataArray]:
    """Compare (method, kernel, counter) with (kernel, counter): worst error, and whose it is."""
    # Nothing counted but something predicted is infinitely wrong, not undefined.
    relative = (abs(predicted - counted) / counted.where(counted > 0)).fillna(np.inf)
    relative = relative.where(predicted != counted, 0.0)
    worst = relative.max("counter")
    return {
        "held_out_error": worst,
        "held_out_counter": relative.idxmax("counter").where(worst > 0, "none").astype(str),
    }


def _require_hits(samples: Samples, nodes: Sequence[int], checks: Sequence[int]) -> None:
    predicted = interpolate(nodes, samples.at(nodes), checks)
    counted = samples.at(checks)
    missed = np.argwhere(predicted != counted)
    if not len(missed):
        return
    row, column = missed[0]
    raise ModelError(
        f"{samples.kernel}: {samples.names[column]} at size {checks[row]} was counted as "
        f"{counted[row, column]}, but the polynomial of degree three through sizes "
        f"{listed(nodes)} gives {_shown(predicted[row, column])} "
        f"({len(missed)} of {predicted.size} checked counts miss). The counter is no such "
        f"polynomial on these sizes. Either some sizes are no multiples of the kernel's tile, or "
        f"rows of its arrays do not all start on a 128-byte line: then give multiples of the tile "
        f"and of 32. Or the kernel does what no polynomial in n follows, such as a loop that "
        f"doubles its counter, a division of n that rounds, or a branch on data: then it can be "
        f"counted at single sizes, and not be carried to others"
    )


def _require_whole(
    samples: Samples, nodes: Sequence[int], sizes: Sequence[int], values: NDArray[np.object_]
) -> None:
    bad = [
        (size, name, value)
        for size, row in zip(sizes, values, strict=True)
        for name, value in zip(samples.names, row, strict=True)
        if value < 0 or value.denominator != 1
    ]
    if not bad:
        return
    size, name, value = bad[0]
    raise ModelError(
        f"{samples.kernel}: {name} at size {size} comes out as {_shown(value)} from sizes "
        f"{listed(nodes)}, which is no count: the polynomial does not hold there. Simulate "
        f"evenly spaced multiples of the kernel's tile, or ask for sizes further from zero"
    )


def _roles(samples: Sequence[Samples], used: Mapping[str, int]) -> dict[str, NDArray[np.int64]]:
    """Sizes that each kernel used for what was asked."""
    held_out = np.array([one.held_out for one in samples], np.int64)
    base = np.array([one.base for one in samples], np.int64)
    return {"held_out_n": held_out} | ({"per_fma_base_n": base} if "per_fma_base" in used else {})


def _kernel_coordinates(counts: xr.Dataset) -> dict[str, xr.DataArray]:
    names = [name for name in ("kernel", "kernel_number", "kernel_label") if name in counts.coords]
    return {name: counts[name].reset_coords(drop=True) for name in names}


def _shown(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{value} = {float(value):.6g}"
