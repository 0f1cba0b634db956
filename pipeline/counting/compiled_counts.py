"""Counts of compiled code: of whole launches at many sizes, and of every instruction at one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.compiled.columns import instruction_columns
from pipeline.compiled.count import count
from pipeline.compiled.decode import Program
from pipeline.compiled.opcodes import CLASSES
from pipeline.compiled.totals import Totals
from pipeline.compiled.twin import Twin, square_product
from pipeline.kernels.kernel import Kernel
from pipeline.kernels.launches import twin_values
from pipeline.vocab.compiled import COMPILED_COUNTS, INSTRUCTIONS
from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.variable import annotate

# Counters that follow from values or from the order of threads, which machine code is not watched
# for.
LEFT_OUT = ("gatom_conflicts", "race_count")
COUNTED = tuple(name for name in COUNTERS if name not in LEFT_OUT)


def twin(kernel: Kernel, options: Any = None) -> Twin:
    """Return how the twin of a kernel is launched, with its own options if none are given."""
    return Twin(**twin_values(kernel, kernel.options() if options is None else options))


@dataclass(frozen=True)
class Counted:
    """What a compiled kernel of the ladder does, for one architecture.

    Attributes
    ----------
    program
        The kernel, with its default options.
    totals
        Counts on n by n matrices, by n.
    """

    program: Program
    totals: Mapping[int, Totals]


def counted_at(programs: Sequence[Program], launched: Twin, sizes: Sequence[int]) -> list[Counted]:
    """Count a compiled kernel of the ladder on square products, each size once.

    Parameters
    ----------
    programs
        The kernel for each architecture.
    launched
        How it is launched, and which sizes it takes.
    sizes
        Values of n; those that the kernel does not take are left out.
    """
    taken = [n for n in dict.fromkeys(sizes) if launched.takes(n)]
    return [
        Counted(one, {n: count(square_product(one, launched, n)) for n in taken})
        for one in programs
    ]


def compiled_counts(counted: Sequence[Counted], launched: Twin, sizes: Sequence[int]) -> xr.Dataset:
    """Arrange what a compiled kernel of the ladder does on square products.

    Parameters
    ----------
    counted
        The kernel for each architecture, counted at the sizes that it takes.
    launched
        How it is launched.
    sizes
        Values of n; a size that the kernel does not take is marked, with counts 0.

    Returns
    -------
    (kernel, arch, n)
        Every counter that machine code gives (int64), ``instructions`` over ``opcode_class`` as
        well, ``registers`` and ``smem_bytes`` over (kernel, arch), launch facts over (kernel).
    """
    parts = [_one_architecture(one, launched, sizes) for one in counted]
    counts = xr.concat(parts, "arch", data_vars="minimal", coords="minimal", compat="equals")
    return annotate(counts, COMPILED_COUNTS)


def _one_architecture(one_of: Counted, launched: Twin, sizes: Sequence[int]) -> xr.Dataset:
    over = ("kernel", "arch", "n")
    program, counted = one_of.program, [one_of.totals.get(n) for n in sizes]
    counters = [dict.fromkeys(COUNTED, 0) if one is None else one.counters() for one in counted]
    classes = [dict.fromkeys(CLASSES, 0) if one is None else one.by_class() for one in counted]
    return xr.Dataset(
        {name: (over, np.array([[[one[name] for one in counters]]], np.int64)) for name in COUNTED}
        | {
            "simulated": (over, np.array([[[one is not None for one in counted]]])),
            "instructions": (
                (*over, "opcode_class"),
                np.array([[[list(one.values()) for one in classes]]], np.int64),
            ),
            "lds_words": (over, _widths(counted, "LDS")),
            "gld_words": (over, _widths(counted, "LDG")),
            "registers_assumed": ("kernel", [launched.registers]),
            "threads_per_block": ("kernel", [math.prod(launched.block)]),
            "tile_m": ("kernel", [launched.tile[0]]),
            "tile_n": ("kernel", [launched.tile[1]]),
            "element_bytes": ("kernel", [launched.element_bytes]),
            "registers": (over[:2], np.array([[program.facts.registers]], np.int64)),
            "smem_bytes": (over[:2], np.array([[program.facts.shared_bytes]], np.int64)),
        },
        {
            "kernel": [launched.kernel],
            "kernel_number": ("kernel", [launched.number]),
            "kernel_label": ("kernel", [launched.label]),
            "arch": [program.architecture],
            "n": np.array(sizes, np.int64),
            "opcode_class": list(CLASSES),
            "opcodes": ("opcode_class", list(CLASSES.values())),
        },
        {"wavefronts": "hardware"},
    )


def _widths(counted: Sequence[Totals | None], opcode: str) -> NDArray[np.float64]:
    words = [0.0 if one is None else one.words_per_load(opcode) for one in counted]
    return np.array([[words]], np.float64)


def instructions_of(counted: Sequence[Counted], n: int) -> list[xr.Dataset]:
    """Arrange what every instruction of a compiled kernel of the ladder does on n by n matrices."""
    return [instructions(one.totals[n], n) for one in counted]


def instructions(totals: Totals, n: int | None = None) -> xr.Dataset:
    """Arrange what every instruction of a launch did.

    Parameters
    ----------
    totals
        Counts of a launch.
    n
        Size of the matrices, where that is what describes the launch.

    Returns
    -------
    (instruction,)
        Text, address and source line, how often it ran, and what it asked of memory.
    """
    program = totals.program
    columns: dict[str, Any] = {
        **instruction_columns(program),
        "stall": [one.control.stall for one in program.instructions],
        "executed": totals.executed,
        "threads": totals.threads,
        "threads_on": totals.on,
    }
    columns |= {
        name: totals.column(name)
        for name in ("requests", "sectors", "ideal_sectors", "lines", "wavefronts",
                     "ideal_wavefronts")
    }  # fmt: skip
    coordinates: dict[str, Any] = {
        "instruction": np.arange(len(program.instructions)),
        "kernel": program.kernel,
        "arch": program.architecture,
    }
    if n is not None:
        coordinates["n"] = n
    dataset = xr.Dataset(
        {name: ("instruction", np.array(values)) for name, values in columns.items()}, coordinates
    )
    return annotate(dataset, INSTRUCTIONS)
