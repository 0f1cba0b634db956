"""Run a kernel over its whole grid, batch by batch."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LaunchError
from pipeline.simt.accounting import Accounting
from pipeline.simt.block import Block
from pipeline.simt.blocks import Triple
from pipeline.simt.counting_block import BlocksDifferError, CountingBlock, UniformBlock
from pipeline.simt.hazards import Hazard
from pipeline.simt.lanes import branch_refused
from pipeline.simt.memory import GlobalArray, check_elements
from pipeline.simt.source import innermost
from pipeline.simt.traffic import StartAgainError, Traffic
from pipeline.simt.whole import whole
from pipeline.vocab.counters import COUNTERS

MAX_THREADS = 1024
"""Threads per block that CUDA allows on every compute capability (CUDA C++ guide, technical
specifications)."""

MAX_BLOCK = (1024, 1024, 64)
"""Threads per block along x, y and z that CUDA allows (same source)."""

MAX_GRID = (2**31 - 1, 65_535, 65_535)
"""Blocks per grid along x, y and z that CUDA allows (same source)."""

BATCH_LANES = 131_072
"""Threads that run together: enough that what Python does for an instruction counts for little, few
enough that what they hold takes tens of megabytes."""

COUNTING_LANES = 1 << 24
"""Threads that are counted together; indices that do not split into parts take 128 MiB then."""


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
    smem_bytes
        Shared memory that a block declared.
    loaded, stored
        Names of the arrays among the arguments that were read and written.
    """

    counters: Mapping[str, int]
    hazard_counts: Mapping[str, int]
    hazards: tuple[Hazard, ...]
    smem_bytes: int
    loaded: frozenset[str]
    stored: frozenset[str]


def launch(
    kernel: Callable[..., None],
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    *args: Any,
    rule: str = "lecture",
    batch_lanes: int = BATCH_LANES,
    front: Callable[..., Block] = Block,
) -> Launched:
    """Run ``kernel(blk, *args)`` on every block of the grid.

    A kernel that reads and writes one array runs a second time from the start, with its reads
    watched, and one whose blocks race on global memory once more, to say where; the arrays are put
    back in between. So a kernel should have no effect besides its stores.

    Parameters
    ----------
    kernel
        What every thread does, written against :class:`pipeline.simt.block.Block`.
    grid, block
        Blocks per grid and threads per block, along x, y and z.
    *args
        Arguments after ``blk``. Numpy arrays become arrays in global memory and are changed by
        stores; everything else is passed as it is. One array passed twice is one array.
    rule
        How shared-memory wavefronts are counted: ``lecture`` or ``hardware``.
    batch_lanes
        How many threads run together, at least one block; changes speed, and of what CUDA leaves
        open the order in which atomics of different blocks happen.
    front
        Makes the batches of blocks that the kernel sees.

    Raises
    ------
    LaunchError
        If a size is not positive or larger than CUDA allows, the arguments are not those of the
        kernel, an array is not contiguous or of a type that memory does not move, the kernel gives
        something back, or it stores to an array that is read-only or, in a grid of several blocks,
        shares a part of its memory with another (one block sees the memory as it is).
    """
    grid3, block3 = _sizes(grid, block)
    numbers = [np.arange(int(np.prod(grid3)), dtype=np.int64)]
    arguments = _arguments(kernel, args)
    if len(numbers[0]) > 1:
        arguments = _watched(arguments)
    traffic = {id(arg.traffic): arg.traffic for arg in arguments if isinstance(arg, GlobalArray)}
    watches = [watch for watch in traffic.values() if watch]

    def run() -> Launched:
        return _run(front, kernel, grid3, block3, numbers, arguments, rule, batch_lanes)

    launched = _from_the_start(run, watches)
    if any(watch.has_race() for watch in watches):
        for watch in watches:
            watch.review()
        launched = run()
    return launched


def count(
    kernel: Callable[..., None],
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    *args: Any,
    rule: str = "lecture",
    batch_lanes: int = COUNTING_LANES,
) -> Launched:
    """Count what :func:`launch` would count, exactly and without values.

    Races of blocks on global memory are not looked for; all other hazards are found as by
    :func:`launch`.

    Arrays are only checked for bounds, and their contents stay as they are. To count at a size
    whose arrays would not fit into memory, pass :class:`GlobalArray` objects made by
    :meth:`GlobalArray.without_values`.

    Raises
    ------
    ModelError
        If an index or a branch depends on data.
    """
    grid3, block3 = _sizes(grid, block)
    whole = [np.arange(int(np.prod(grid3)), dtype=np.int64)]
    arguments = _arguments(kernel, args)
    try:
        return _run(UniformBlock, kernel, grid3, block3, whole, arguments, rule, batch_lanes)
    except BlocksDifferError:
        regions = _regions(grid3)
        return _run(CountingBlock, kernel, grid3, block3, regions, arguments, rule, batch_lanes)


def _run(
    front: Callable[..., Block],
    kernel: Callable[..., None],
    grid: Triple,
    block: Triple,
    regions: Sequence[NDArray[np.int64]],
    arguments: list[Any],
    rule: str,
    batch_lanes: int,
) -> Launched:
    """Run the blocks of each region in batches of at most ``batch_lanes`` threads."""
    accounting = Accounting(rule)
    threads = int(np.prod(block))
    batch = max(1, batch_lanes // threads)
    for numbers in regions:
        for first in range(0, len(numbers), batch):
            blk = front(accounting, grid, block, numbers[first : first + batch])
            _run_batch(kernel, blk, arguments)
    blocks = sum(map(len, regions))
    names = {arg.name for arg in arguments if isinstance(arg, GlobalArray)}
    accounting.counters["blocks"] += blocks
    accounting.counters["threads"] += blocks * threads
    return Launched(
        {name: int(accounting.counters[name]) for name in COUNTERS},
        dict(accounting.hazard_counts),
        tuple(accounting.reports),
        accounting.smem_bytes,
        accounting.reached("gld", "gatom") & names,
        accounting.reached("gst", "gatom") & names,
    )


def _run_batch(kernel: Callable[..., object], blk: Block, arguments: list[Any]) -> None:
    """Run the blocks of one batch."""
    try:
        result = kernel(blk, *arguments)
    except ValueError as error:
        if "truth value of an array" in str(error):
            raise branch_refused(innermost(error)) from None
        raise
    if result is not None:
        raise LaunchError(
            f"{_name(kernel)}: a kernel gives {type(result).__name__}, allowed is nothing (a "
            f"kernel with yield would not even start); store results in arrays"
        )
    blk.finish()


def _name(kernel: Callable[..., object]) -> str:
    """Name a kernel by its file, its first line and its own name."""
    code = getattr(kernel, "__code__", None)
    name = str(getattr(kernel, "__name__", kernel))
    return f"{PurePath(code.co_filename).name}:{code.co_firstlineno}: {name}" if code else name


def _from_the_start(run: Callable[[], Launched], watches: list[Traffic]) -> Launched:
    """Run, and start again as often as an array turns out to be both read and written."""
    while True:
        try:
            return run()
        except StartAgainError:
            for watch in watches:
                watch.restart()


def _regions(grid: Triple) -> list[NDArray[np.int64]]:
    """Cut a grid into its inside and its far edges.

    A kernel that guards its bounds does so with the last blocks along an axis. Within a region all
    blocks then take the same branches, and one mask stands for all of them.
    """
    number = np.arange(int(np.prod(grid)), dtype=np.int64).reshape(grid[::-1])
    cuts = [(slice(0, size - 1), slice(size - 1, size)) for size in grid[::-1]]
    regions = [number[where].ravel() for where in product(*cuts)]
    return [region for region in regions if region.size]


def _sizes(grid: int | tuple[int, ...], block: int | tuple[int, ...]) -> tuple[Triple, Triple]:
    """Complete and check the sizes of a launch."""
    grid3, block3 = _three("grid", grid), _three("block", block)
    threads = math.prod(block3)
    if threads > MAX_THREADS:
        raise LaunchError(
            f"block {block3} has {threads} threads, allowed are at most {MAX_THREADS}; use smaller "
            f"blocks or more work per thread"
        )
    for name, size, most in (("grid", grid3, MAX_GRID), ("block", block3, MAX_BLOCK)):
        if any(axis > limit for axis, limit in zip(size, most, strict=True)):
            raise LaunchError(
                f"{name} {size} is larger than CUDA allows along x, y and z: at most {most}"
            )
    return grid3, block3


def _three(name: str, size: int | tuple[int, ...]) -> Triple:
    """Complete a size to three axes."""
    try:
        given = tuple(size) if isinstance(size, (tuple, list, np.ndarray)) else (size,)
        axes = tuple(whole(axis) for axis in given)
    except TypeError:
        axes = ()
    if not 1 <= len(axes) <= 3 or any(axis < 1 for axis in axes):
        raise LaunchError(f"{name} {size!r} must be one to three positive integers")
    x, y, z = (*axes, 1, 1)[:3]
    return x, y, z


def _arguments(kernel: Callable[..., None], args: tuple[Any, ...]) -> list[Any]:
    """Put numpy arrays into global memory, under the names that the kernel gives them."""
    signature = inspect.signature(kernel)
    try:
        signature.bind(None, *args)
    except TypeError as error:
        raise LaunchError(
            f"{_name(kernel)}{signature}: launched with {len(args)} arguments after the block: "
            f"{error}"
        ) from None
    names = list(signature.parameters)[1:]
    names += [f"argument {i + 1}" for i in range(len(names), len(args))]
    return [
        GlobalArray(name, _flat(name, arg)) if isinstance(arg, np.ndarray) else arg
        for name, arg in zip(names, args, strict=False)
    ]


def _watched(arguments: list[Any]) -> list[Any]:
    """Look for races of blocks on the arrays among the arguments."""
    arrays = [arg for arg in arguments if isinstance(arg, GlobalArray)]
    known: dict[tuple[int, int, str], Traffic] = {}
    watched = []
    for arg in arguments:
        if isinstance(arg, GlobalArray):
            memory = _memory(arg)
            if memory not in known:
                others = (it.name for it in arrays if _memory(it) != memory and _overlap(it, arg))
                known[memory] = Traffic(arg.flat, tuple(others))
            watched.append(replace(arg, traffic=known[memory]))
        else:
            watched.append(arg)
    return watched


def _memory(array: GlobalArray) -> tuple[int, int, str]:
    """Identify an array by what it occupies and holds."""
    flat = array.flat
    return flat.__array_interface__["data"][0], flat.nbytes, flat.dtype.str


def _overlap(one: GlobalArray, other: GlobalArray) -> bool:
    return bool(np.may_share_memory(one.flat, other.flat))


def _flat(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """View an array as one row, so that stores reach the caller's array."""
    check_elements(f"array {name}", array.dtype)
    if not array.flags.c_contiguous:
        raise LaunchError(f"array {name} must be C-contiguous: pass numpy.ascontiguousarray of it")
    return array.reshape(-1)
