"""Run a kernel over its whole grid, batch by batch."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError
from pipeline.simt.accounting import Accounting
from pipeline.simt.block import Block, Triple
from pipeline.simt.hazards import Hazard
from pipeline.simt.memory import GlobalArray
from pipeline.vocab.counters import COUNTERS

MAX_THREADS = 1024
"""Threads per block that CUDA allows on every compute capability (CUDA C++ guide, technical
specifications)."""

BATCH_LANES = 32_768
"""Threads that run together: their registers and indices stay in a core's cache."""


@dataclass(frozen=True)
class Launched:
    """What one launch did.

    Attributes
    ----------
    counters
        Every counter of ``pipeline.vocab.counters``.
    hazard_counts
        Offending instructions per kind of hazard, one per block and instruction.
    hazards
        The first few hazards with their details.
    """

    counters: Mapping[str, int]
    hazard_counts: Mapping[str, int]
    hazards: tuple[Hazard, ...]


def launch(
    kernel: Callable[..., None],
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    *args: Any,
    rule: str = "lecture",
    batch_lanes: int = BATCH_LANES,
) -> Launched:
    """Run ``kernel(blk, *args)`` on every block of the grid.

    Parameters
    ----------
    kernel
        What every thread does, written against :class:`pipeline.simt.block.Block`.
    grid, block
        Blocks per grid and threads per block, along x, y and z.
    *args
        Arguments after ``blk``. Numpy arrays become arrays in global memory and are changed by
        stores; everything else is passed as it is.
    rule
        How shared-memory wavefronts are counted: ``lecture`` or ``hardware``.
    batch_lanes
        How many threads run together, at least one block; changes speed only.

    Raises
    ------
    LaunchError
        If a size is not positive, or a block has more than 1024 threads.
    """
    grid3, block3 = _three("grid", grid), _three("block", block)
    threads, blocks = int(np.prod(block3)), int(np.prod(grid3))
    if threads > MAX_THREADS:
        raise LaunchError(
            f"block {block3} has {threads} threads, allowed are at most {MAX_THREADS}; use smaller "
            f"blocks or more work per thread"
        )
    accounting = Accounting(rule)
    arguments = _arguments(kernel, args)
    batch = max(1, batch_lanes // threads)
    for first in range(0, blocks, batch):
        count = min(batch, blocks - first)
        kernel(Block(accounting, grid3, block3, first, count), *arguments)
    accounting.counters["blocks"] += blocks
    accounting.counters["threads"] += blocks * threads
    return Launched(
        {name: int(accounting.counters[name]) for name in COUNTERS},
        dict(accounting.hazard_counts),
        tuple(accounting.reports),
    )


def _three(name: str, size: int | tuple[int, ...]) -> Triple:
    """Complete a size to three axes."""
    given = (size,) if isinstance(size, int) else tuple(size)
    if not 1 <= len(given) <= 3 or any(int(axis) != axis or axis < 1 for axis in given):
        raise LaunchError(f"{name} {size} must be one to three positive integers")
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


def _arguments(kernel: Callable[..., None], args: tuple[Any, ...]) -> list[Any]:
    """Put numpy arrays into global memory, under the names that the kernel gives them."""
    names = list(inspect.signature(kernel).parameters)[1:]
    names += [f"argument {i + 1}" for i in range(len(names), len(args))]
    return [
        GlobalArray(name, _flat(name, arg)) if isinstance(arg, np.ndarray) else arg
        for name, arg in zip(names, args, strict=False)
    ]


def _flat(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """View an array as one row, so that stores reach the caller's array."""
    if not array.flags.c_contiguous:
        raise LaunchError(f"array {name} must be C-contiguous: pass numpy.ascontiguousarray of it")
    return array.reshape(-1)
