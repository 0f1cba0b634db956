"""What was simulated of each kernel, and which sizes a method may use of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.errors import ModelError, VocabularyError
from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.traffic import TRAFFIC

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
    held_out
        The size that must be predicted unseen.
    base
        The size whose counts per multiply-add are kept.
    """

    kernel: str
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    values: NDArray[np.object_]
    held_out: int
    base: int

    @property
    def step(self) -> int:
        """The spacing on which the polynomial was seen to hold."""
        return math.gcd(*self.sizes)

    def at(self, sizes: Sequence[int]) -> NDArray[np.object_]:
        """Counters (size, counter) at ``sizes``, all of which were simulated."""
        return self.values[[self.sizes.index(size) for size in sizes]]


def check_counts(counts: xr.Dataset) -> None:
    """Refuse counts that lack something, or hold it over other dimensions."""
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


def check_roles(counts: xr.Dataset, sizes: Sequence[int], held_out: int, base: int | None) -> None:
    """Refuse sizes that stand twice, and special sizes that nobody asked kernels to take."""
    if len(set(sizes)) != len(sizes) or not sizes:
        raise ModelError(f"sizes to extrapolate to: {listed(sizes)}; give at least one, each once")
    if held_out == base:
        raise ModelError(
            f"held_out and per_fma_base are both {base}; a size that a method starts from cannot "
            f"check it, so choose two different simulated sizes"
        )
    roles = {"held_out": held_out} | ({} if base is None else {"per_fma_base": base})
    simulated = counts["n"].values.tolist()
    for role, size in roles.items():
        if size not in simulated:
            raise ModelError(
                f"{role} is {size}, but kernels were simulated at {listed(simulated)}; choose one "
                f"of these or simulate {size}"
            )


def check_steps(samples: Sequence[Samples], sizes: Sequence[int]) -> None:
    """Refuse sizes between the steps on which counters are known."""
    common = math.lcm(*(one.step for one in samples))
    for one in samples:
        _require_on_step(one, sizes, common)


def _require_on_step(samples: Samples, sizes: Sequence[int], common: int) -> None:
    for size in sizes:
        if size <= 0 or size % samples.step:
            raise ModelError(
                f"{samples.kernel}: cannot extrapolate to size {size}. The kernel was simulated at "
                f"{listed(samples.sizes)}, so its counters are known on multiples of "
                f"{samples.step}; between them tiles are cut and the polynomial does not hold. The "
                f"nearest size for all kernels is {max(1, round(size / common)) * common}"
            )


def samples_of(counts: xr.Dataset, kernel: str, held_out: int, base: int | None) -> Samples:
    """Take one kernel's counters where it was simulated, and choose its special sizes.

    A kernel that does not take ``held_out`` holds out the largest size that it takes, one that does
    not take ``base`` starts from the smallest.
    """
    one = counts.sel(kernel=kernel)
    one = one.isel(n=one["simulated"].values.astype(bool)).sortby("n")
    names = names_of(counts)
    table = one[list(names)].to_dataarray("counter").transpose("n", "counter")
    sizes = tuple(int(n) for n in one["n"].values)
    if len(sizes) < NODES:
        raise ModelError(
            f"{kernel}: was simulated at {len(sizes)} sizes ({listed(sizes)}); a polynomial of "
            f"degree three and its check need {NODES + 1}. Simulate more sizes that it takes"
        )
    first = base if base in sizes else min(size for size in sizes if size != held_out)
    last = held_out if held_out in sizes else max(size for size in sizes if size != first)
    return Samples(kernel, sizes, names, table.values.astype(object), last, first)


def names_of(counts: xr.Dataset) -> tuple[str, ...]:
    """Name what is carried to other sizes."""
    return (*COUNTERS, *(name for name in TRAFFIC if name in counts))


def listed(sizes: Sequence[int]) -> str:
    """Write sizes as they stand in a message."""
    return ", ".join(str(size) for size in sizes) or "none"
