"""Carry counters from the sizes that were simulated to any size.

Two methods, two values of one coordinate. ``per_fma`` keeps each counter per multiply-add as it was
at one size, so what happens once per element of C comes out too large. ``polynomial`` is exact: on
multiples of the tile a counter is a sum of loop nests, each of which runs a product of at most
three numbers of tiles, that is a polynomial of degree three in n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.errors import ModelError, VocabularyError
from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.extrapolation import EXTRAPOLATION
from pipeline.vocab.traffic import TRAFFIC
from pipeline.vocab.variable import annotate

NODES = 4  # a polynomial of degree three has four coefficients


@dataclass(frozen=True)
class Samples:
    """What was simulated of one kernel.

    Attributes
    ----------
    kernel
        Kernel id.
    sizes
        Simulated sizes, ascending.
    names
        What is carried: every counter, and DRAM traffic where it was counted too.
    values : (size, counter)
        Counters as Python integers, in the order of ``names``.
    """

    kernel: str
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    values: NDArray[np.object_]

    @property
    def step(self) -> int:
        """The spacing on which the polynomial was seen to hold."""
        return math.gcd(*self.sizes)

    def at(self, sizes: Sequence[int]) -> NDArray[np.object_]:
        """Counters (size, counter) at ``sizes``, all of which were simulated."""
        return self.values[[self.sizes.index(size) for size in sizes]]


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
        Simulated size that the polynomial must predict without having seen it.
    per_fma_base
        Simulated size whose counts per multiply-add ``per_fma`` keeps; None leaves that method out,
        for kernels that multiply nothing.

    Returns
    -------
    (kernel, n, method)
        Every counter as float64: exact below 2**53, above that the nearest float64 (relative error
        at most 2**-53). ``held_out_error`` and ``held_out_counter`` over (kernel, method). The
        attributes ``held_out`` and, if given, ``per_fma_base`` repeat the arguments.

    Raises
    ------
    VocabularyError
        If ``counts`` lacks a counter or a dimension.
    ModelError
        If a size was not simulated that is needed, a wanted size lies between the steps, or a
        counter is not the polynomial that the others make it.
    """
    _check_counts(counts)
    wanted = [int(size) for size in sizes]
    samples = [_samples(counts, str(kernel)) for kernel in counts["kernel"].values]
    _check_sizes(samples, wanted, held_out, per_fma_base)
    # The held-out size rides along, so that its error and the result come from the same call.
    every = [*wanted, held_out]
    used = {"held_out": held_out}
    by_method = {}
    if per_fma_base is not None:
        used["per_fma_base"] = per_fma_base
        by_method["per_fma"] = [per_fma(one, every, per_fma_base) for one in samples]
    by_method["polynomial"] = [polynomial(one, every, held_out) for one in samples]
    values = xr.DataArray(
        np.stack([np.stack(of_kernel) for of_kernel in by_method.values()]).astype(np.float64),
        dims=("method", "kernel", "n", "counter"),
        coords={"method": list(by_method), "counter": list(_names(counts))},
    )
    counted = xr.DataArray(
        np.stack([one.at([held_out])[0] for one in samples]).astype(np.float64),
        dims=("kernel", "counter"),
    )
    result = (
        values.isel(n=slice(len(wanted)))
        .to_dataset("counter")
        .assign(_held_out_error(values.isel(n=-1), counted))
        .assign_coords({"n": wanted, **_kernel_coordinates(counts)})
        .transpose("kernel", "n", "method", missing_dims="ignore")
        .assign_attrs(used)
    )
    return annotate(result, EXTRAPOLATION)


def per_fma(samples: Samples, sizes: Sequence[int], base: int) -> NDArray[np.object_]:
    """Scale the counters at ``base`` by the number of multiply-adds, n cubed.

    Returns
    -------
    (size, counter)
        Fractions; what happens once per element of C is n / ``base`` times too large.
    """
    counters = samples.at([base])[0]
    fma = counters[samples.names.index("fma")]
    if fma <= 0:
        raise ModelError(
            f"{samples.kernel}: no multiply-add was counted at size {base}, so nothing can be "
            f"scaled per multiply-add; choose another per_fma_base or leave the kernel out"
        )
    scales = np.array([Fraction(size**3, fma) for size in sizes], dtype=object)
    return np.multiply.outer(scales, counters)


def polynomial(samples: Samples, sizes: Sequence[int], held_out: int) -> NDArray[np.object_]:
    """Evaluate the cubic through four simulated sizes, after checking it at all the others.

    Returns
    -------
    (size, counter)
        Whole numbers, exact.

    Raises
    ------
    ModelError
        With fewer than four sizes besides ``held_out``, if any counter misses at a size that was
        not used for the fit, or if a result is no count (not whole, or negative).
    """
    others = [size for size in samples.sizes if size != held_out]
    if len(others) < NODES:
        raise ModelError(
            f"{samples.kernel}: {len(others)} sizes were simulated besides the held-out "
            f"{held_out} ({_listed(others)}); a polynomial of degree three needs {NODES}. "
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
        f"{_listed(nodes)} gives {_shown(predicted[row, column])} "
        f"({len(missed)} of {predicted.size} checked counts miss). The counter is no such "
        f"polynomial on these sizes: some are not multiples of the kernel's tile, or rows of the "
        f"matrices do not all start on a 128-byte line. Simulate multiples of the tile and of 32"
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
        f"{_listed(nodes)}, which is no count: the polynomial does not hold there. Simulate "
        f"evenly spaced multiples of the kernel's tile, or ask for sizes further from zero"
    )


def _check_counts(counts: xr.Dataset) -> None:
    needed = [*COUNTERS, "simulated"]
    missing = [name for name in needed if name not in counts]
    if missing:
        raise VocabularyError(
            f"the counts to extrapolate lack {', '.join(missing)}; "
            f"every counter of pipeline/vocab/counters.py and 'simulated' must be there"
        )
    wrong = [name for name in needed if set(counts[name].dims) != {"kernel", "n"}]
    if wrong:
        raise VocabularyError(
            f"the counts to extrapolate hold {wrong[0]} over {counts[wrong[0]].dims}; "
            f"every counter and 'simulated' must be over ('kernel', 'n')"
        )


def _check_sizes(
    samples: Sequence[Samples], sizes: Sequence[int], held_out: int, base: int | None
) -> None:
    if len(set(sizes)) != len(sizes) or not sizes:
        raise ModelError(f"sizes to extrapolate to: {_listed(sizes)}; give at least one, each once")
    if held_out == base:
        raise ModelError(
            f"held_out and per_fma_base are both {base}; a size that a method starts from cannot "
            f"check it, so choose two different simulated sizes"
        )
    roles = {"held_out": held_out} | ({} if base is None else {"per_fma_base": base})
    for one in samples:
        for role, size in roles.items():
            if size not in one.sizes:
                raise ModelError(
                    f"{one.kernel}: {role} is {size}, but the kernel was simulated at "
                    f"{_listed(one.sizes)}; choose one of these or simulate {size}"
                )
    common = math.lcm(*(one.step for one in samples))
    for one in samples:
        _require_on_step(one, sizes, common)


def _require_on_step(samples: Samples, sizes: Sequence[int], common: int) -> None:
    for size in sizes:
        if size <= 0 or size % samples.step:
            raise ModelError(
                f"{samples.kernel}: cannot extrapolate to size {size}. The kernel was simulated at "
                f"{_listed(samples.sizes)}, so its counters are known on multiples of "
                f"{samples.step}; between them tiles are cut and the polynomial does not hold. The "
                f"nearest size for all kernels is {max(1, round(size / common)) * common}"
            )


def _samples(counts: xr.Dataset, kernel: str) -> Samples:
    one = counts.sel(kernel=kernel)
    one = one.isel(n=one["simulated"].values.astype(bool)).sortby("n")
    names = _names(counts)
    table = one[list(names)].to_dataarray("counter").transpose("n", "counter")
    sizes = tuple(int(n) for n in one["n"].values)
    return Samples(kernel, sizes, names, table.values.astype(object))


def _names(counts: xr.Dataset) -> tuple[str, ...]:
    return (*COUNTERS, *(name for name in TRAFFIC if name in counts))


def _kernel_coordinates(counts: xr.Dataset) -> dict[str, xr.DataArray]:
    names = [name for name in ("kernel", "kernel_number", "kernel_label") if name in counts.coords]
    return {name: counts[name].reset_coords(drop=True) for name in names}


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(str(size) for size in sizes) or "none"


def _shown(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{value} = {float(value):.6g}"
