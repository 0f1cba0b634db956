"""Which tiles a kernel takes, on which GPU, at which size; and which rule excludes the others."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.counting.whole_tiles import period
from pipeline.errors import OptionsError
from pipeline.hardware.occupancy import ladder_occupancy
from pipeline.kernels.kernel import Kernel, Launch
from pipeline.kernels.launches import launch_facts, launches
from pipeline.kernels.registry import KERNELS
from pipeline.kernels.warptile import WARP
from pipeline.vocab.sweeps import NO_RULE, RULES

CUT = {"bm": 1, "bn": 1}
"""A region is one shape of C per block: all of its points share their DRAM traffic."""

_BY_LIMIT = {"shared": "shared_memory", "registers": "registers", "warps": "threads"}


@dataclass(frozen=True)
class TileSpace:
    """What is swept.

    Attributes
    ----------
    name
        As shown to readers.
    kernels
        Kernel ids.
    axes
        Values by the name of the option.
    sizes
        Matrix sizes.
    n
        The size, one of ``sizes``, of the variables that have no size.
    wavefronts
        Rule for wavefronts of shared memory.
    """

    name: str
    kernels: tuple[str, ...]
    axes: Mapping[str, tuple[int, ...]]
    sizes: tuple[int, ...]
    n: int
    wavefronts: str


@dataclass(frozen=True)
class Candidate:
    """A kernel with a tile, launchable or not.

    Attributes
    ----------
    kernel
        Position among the kernels.
    tile
        Position in the grid of tiles of the region.
    options
        Options of the kernel; None where they are refused.
    launch
        Launch configuration; None where options are refused.
    reason
        Why the tile is refused: rule and condition. Empty if it is not.
    """

    kernel: int
    tile: int
    options: Any
    launch: Launch | None
    reason: str = ""

    @property
    def name(self) -> str:
        """What tells the candidate from others of its region."""
        return f"{self.kernel} {self.tile}"


@dataclass(frozen=True)
class Screened:
    """The tiles of one region after all rules.

    Attributes
    ----------
    candidates
        Every kernel with every tile.
    launched
        Those that can be launched, in the order of ``resident``.
    resident : (kernel, gpu)
        Their occupancy, by :attr:`Candidate.name`; None if there are none.
    rule : (kernel, n, tile, gpu)
        The rule that excludes a point, or ``none``.
    """

    candidates: Sequence[Candidate]
    launched: Sequence[Candidate]
    resident: xr.Dataset | None
    rule: NDArray[np.str_]


def coordinates(space: TileSpace) -> xr.Dataset:
    """Label kernels, sizes and tiles of a space."""
    axes = {axis: np.array(values, np.int64) for axis, values in space.axes.items()}
    sizes = np.array(space.sizes, np.int64)
    return xr.Dataset(coords={"kernel": list(space.kernels), "n": sizes, **axes})


def tiles_of(part: xr.Dataset, space: TileSpace) -> list[dict[str, int]]:
    """List the tiles of a region, the last axis fastest."""
    values = [part[name].to_numpy().tolist() for name in space.axes]
    return [dict(zip(space.axes, tile, strict=True)) for tile in itertools.product(*values)]


def screen(part: xr.Dataset, gpus: xr.Dataset, space: TileSpace) -> Screened:
    """Apply every rule to the tiles of a region.

    Parameters
    ----------
    part
        Coordinates of the region.
    gpus : (gpu)
        Figures of the GPUs, of which those are read that decide on occupancy.
    space
        What is swept.
    """
    tiles = tiles_of(part, space)
    candidates = [
        _candidate(position, KERNELS[kernel], number, tile)
        for position, kernel in enumerate(space.kernels)
        for number, tile in enumerate(tiles)
    ]
    shape = (len(space.kernels), len(space.sizes), len(tiles), gpus.sizes["gpu"])
    rule = np.full(shape, NO_RULE, f"<U{max(map(len, RULES))}")
    for one in candidates:
        if one.launch is None:
            rule[one.kernel, :, one.tile] = rule_of(one.reason)
        else:
            misfits = [bool(misfit(one.launch, n)) for n in space.sizes]
            rule[one.kernel, misfits, one.tile] = "size"
    launched = [one for one in candidates if one.launch is not None]
    resident = _resident(launched, space, gpus)
    if resident is not None:
        limits = resident["limited_by"].where(resident["blocks_per_sm"] == 0, "").to_numpy()
        for one, row in zip(launched, limits, strict=True):
            here = rule[one.kernel, :, one.tile]
            names = np.array([_rule_of_limits(limit) for limit in row])
            rule[one.kernel, :, one.tile] = np.where(here == NO_RULE, names, here)
    return Screened(candidates, launched, resident, rule)


def misfit(launch: Launch, n: int) -> str:
    """Say why a launch cannot be counted at a size; nothing if it can."""
    step = math.lcm(*launch.multiple, *period(launch))
    return f"size: n = {n} must be a multiple of {step}" if n % step else ""


def explain(one: Candidate, rule: str, n: int, gpu: xr.Dataset) -> str:
    """Put into words why a candidate is excluded at a size, on one GPU."""
    if one.launch is None:
        return one.reason
    facts = one.launch
    words = {
        "size": misfit(facts, n),
        "shared_memory": f"shared_memory: a block takes {facts.smem_bytes} bytes, at most "
        f"{int(gpu['smem_per_block_max'])} are allowed",
        "registers": f"registers: {facts.threads} threads with {facts.registers} registers each do "
        f"not fit",
        "threads": f"threads: {facts.threads} threads per block are too many",
    }
    return words.get(rule, f"{rule}: {RULES[rule]}")


def rule_of(reason: str) -> str:
    """Name the rule at the head of a reason."""
    return reason.partition(":")[0]


def _candidate(position: int, kernel: Kernel, number: int, tile: Mapping[str, int]) -> Candidate:
    """Try to launch a kernel with a tile."""
    given = {name: size for name, size in tile.items() if name in kernel.option_names}
    if "tn" in tile and "tn" not in given and tile["tn"] != 1:
        reason = "thread_tile: a thread computes one column, so tn must be 1"
        return Candidate(position, number, None, None, reason)
    if "threads" in kernel.option_names:
        # A warp per warp tile; the kernel refuses the tile where that does not come out.
        given["threads"] = WARP * tile["bm"] * tile["bn"] // (tile["wm"] * tile["wn"])
    options = kernel.options(**given)
    try:
        return Candidate(position, number, options, kernel.launch(options))
    except OptionsError as error:
        order = list(RULES)
        first = min(error.broken, key=lambda words: order.index(rule_of(words)))
        return Candidate(position, number, None, None, first)


def _resident(
    launched: Sequence[Candidate], space: TileSpace, gpus: xr.Dataset
) -> xr.Dataset | None:
    if not launched:
        return None
    facts = {
        one.name: launch_facts(KERNELS[space.kernels[one.kernel]], one.options) for one in launched
    }
    return ladder_occupancy(launches(facts), gpus)


def _rule_of_limits(limits: str) -> str:
    """Translate what occupancy names where no block fits."""
    if not limits:
        return NO_RULE
    return _BY_LIMIT.get(limits.split()[0], "occupancy")
