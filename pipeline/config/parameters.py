"""Settings and data sheets as the plain values that rules hand to their jobs.

Snakemake compares these values to decide what has to be made again, so each function gives exactly
what one rule reads, and nothing that a job could do without.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from pipeline.compiled import toolchain
from pipeline.config.checks import HAZARD_KERNEL
from pipeline.config.own_cuda import function_files, own_cuda
from pipeline.config.own_cuda_entry import CudaEntry
from pipeline.config.own_entry import OwnEntry
from pipeline.config.own_kernels import own_kernel
from pipeline.config.sweeps import Execution, Sweeps, Tiles, Timeline
from pipeline.counting.compiled_counts import twin
from pipeline.hardware.occupancy import OCCUPANCY_FIGURES
from pipeline.hardware.plain_figures import side_by_side
from pipeline.hardware.sheet import Sheet
from pipeline.kernels.launches import launch_facts
from pipeline.kernels.registry import KERNELS
from pipeline.listing_files import ARCHITECTURES
from pipeline.renew_listings import architectures_of
from pipeline.sweep.space import axis_values, scaled
from pipeline.timing.compiled import architecture
from pipeline.vocab.sweeps import TILE_AXES, TIMELINE_AXES

Options = Mapping[str, Any]

TILED = ("k04_blocktile_1d", "k05_blocktile_2d", "k06_vectorized", "k09_autotuned")
"""Kernels whose tiles are swept together, those of one block."""

WARP_TILED = ("k10_warptiled",)
"""Kernels whose tiles have a level of warps."""


def sheet_values(sheets: Mapping[str, Sheet]) -> dict[str, Any]:
    """Take the GPU sheets without what only a replay reads, as :func:`replay_values` does."""
    return replay_values({name: replace(sheet, replay={}) for name, sheet in sheets.items()})


def replay_values(sheets: Mapping[str, Sheet]) -> dict[str, Any]:
    """Take all of the GPU sheets, for ``TypeAdapter(dict[str, Sheet])`` to read back."""
    values: dict[str, Any] = TypeAdapter(dict[str, Sheet]).dump_python(dict(sheets))
    return values


def occupancy_figures(sheets: Mapping[str, Sheet]) -> dict[str, Any]:
    """Pick the figures that occupancy reads, for ``xarray.Dataset.from_dict`` to read back.

    A new clock or bandwidth does not change them.
    """
    return side_by_side(
        {
            gpu: {
                "gpu_name": sheet.name,
                "compute_capability": sheet.compute_capability,
                **{name: sheet.figures[name].value for name in OCCUPANCY_FIGURES},
            }
            for gpu, sheet in sheets.items()
        }
    )


def launch_values(kernels: Mapping[str, Options]) -> dict[str, dict[str, int | str]]:
    """Launch facts of kernels with their options; a kernel's body does not change them."""
    ladder = {name: KERNELS[name] for name in kernels}
    return {
        name: launch_facts(kernel, kernel.options(**kernels[name]))
        for name, kernel in ladder.items()
    }


def twin_values(kernel: str) -> dict[str, Any]:
    """Say how a kernel's CUDA twin is launched; ``Twin(**values)`` reads it back."""
    return asdict(twin(KERNELS[kernel]))


def able(sheets: Mapping[str, Sheet]) -> dict[str, Sheet]:
    """Pick the sheets that hold what a replay needs."""
    return {name: sheet for name, sheet in sheets.items() if sheet.replay}


def only(gpu: str, sheets: Mapping[str, Sheet]) -> dict[str, Sheet]:
    """Pick the sheet of one GPU; nothing if none is named."""
    return {name: sheet for name, sheet in sheets.items() if name == gpu}


def architectures(sheets: Mapping[str, Sheet]) -> list[str]:
    """List the architectures of the GPUs that can be replayed, each once."""
    found = (architecture(sheet.compute_capability) for sheet in able(sheets).values())
    return list(dict.fromkeys(found))


def of_architectures(wanted: Collection[str], sheets: Mapping[str, Sheet]) -> dict[str, Sheet]:
    """Pick the sheets of some architectures that hold what a replay needs."""
    return {
        name: sheet
        for name, sheet in able(sheets).items()
        if architecture(sheet.compute_capability) in wanted
    }


def gpu_with(arch: str, sheets: Mapping[str, Sheet]) -> str:
    """Return the first GPU of an architecture; nothing if there is none."""
    return next(iter(of_architectures([arch], sheets)), "")


def with_code(arch: str, kernels: Iterable[str]) -> list[str]:
    """List the kernels of which there is machine code for an architecture."""
    return [kernel for kernel in kernels if arch in architectures_of(kernel)]


def replayed_architectures(
    kernel: str, sheets: Mapping[str, Sheet], gpu: str | None = None
) -> list[str]:
    """List the architectures for which there is machine code of a kernel.

    Parameters
    ----------
    kernel
        Kernel of the ladder.
    sheets
        GPUs whose architectures are wanted.
    gpu
        The only one wanted; all if it is None.
    """
    wanted = architectures({name: sheet for name, sheet in sheets.items() if gpu in (None, name)})
    return [name for name in architectures_of(kernel) if name in wanted]


def replayed_gpu(gpu: str, sheets: Mapping[str, Sheet]) -> str:
    """Return this GPU, or the first for which there is machine code; nothing if there is none."""
    known = able(sheets)
    archs = {name: architecture(one.compute_capability) for name, one in known.items()}
    return next((name for name in [gpu, *known] if archs.get(name) in ARCHITECTURES), "")


def own_kernel_values(own: Mapping[str, OwnEntry]) -> dict[str, dict[str, Any]]:
    """Take what a run of each own kernel depends on.

    ``TypeAdapter(OwnKernel)`` reads each of them back.
    """
    return {name: asdict(own_kernel(name, entry)) for name, entry in own.items()}


def own_files(own: Mapping[str, OwnEntry], cuda: Mapping[str, CudaEntry]) -> list[Path]:
    """List the files of Python that own kernels, and specifications of compiled ones, are in."""
    named = [entry.file for entry in own.values()]
    named += [file for entry in cuda.values() for file in function_files(entry)]
    return [Path(file) for file in dict.fromkeys(named)]


def own_launch_values(own: Mapping[str, OwnEntry]) -> dict[str, dict[str, int | str]]:
    """Launch facts of own kernels, but for shared memory, which is known when they have run."""
    return {
        name: {
            "kernel_number": number,
            "kernel_label": entry.label,
            "threads_per_block": math.prod(entry.block),
            "registers_per_thread": entry.registers,
            # x runs along columns.
            "tile_m": math.prod(entry.tile[1:]),
            "tile_n": entry.tile[0],
            # Traffic and instructions are known when a kernel has run.
            "element_bytes": 4,
            "capability_min": 0,
            **dict.fromkeys(("multiple_m", "multiple_n", "multiple_k"), entry.multiple),
        }
        for number, (name, entry) in enumerate(own.items(), start=1)
    }


def own_labels(own: Mapping[str, OwnEntry]) -> dict[str, str]:
    """Names of own kernels as readers see them, in the order of the configuration."""
    return {name: entry.label for name, entry in own.items()}


def own_cuda_values(cuda: Mapping[str, CudaEntry]) -> dict[str, dict[str, Any]]:
    """Take what a run of each compiled kernel of the user's own depends on.

    :func:`pipeline.counting.own_cuda.read_own` reads each of them back.
    """
    return {name: asdict(own_cuda(name, entry)) for name, entry in cuda.items()}


def own_cuda_launches(cuda: Mapping[str, CudaEntry]) -> dict[str, dict[str, Any]]:
    """Take the same without what only the check of the result reads."""
    checked = ("specification", "tolerance", "hazards")
    return {
        name: {key: value for key, value in values.items() if key not in checked}
        for name, values in own_cuda_values(cuda).items()
    }


def own_cuda_labels(cuda: Mapping[str, CudaEntry]) -> dict[str, str]:
    """Names of these kernels as readers see them, in the order of the configuration."""
    return {name: entry.label for name, entry in cuda.items()}


def tool_versions(entry: CudaEntry) -> dict[str, str]:
    """Say which tools a kernel's file needs, and their versions; empty where one is missing."""
    suffix = entry.file.rpartition(".")[2]
    tools = {"cu": ("nvcc", "nvdisasm"), "sass": ()}.get(suffix, ("nvdisasm",))
    return {tool: toolchain.version(tool) if toolchain.find(tool) else "" for tool in tools}


def tile_space(
    name: str, kernels: Sequence[str], settings: Tiles, wavefronts: str
) -> dict[str, Any]:
    """Spell out a space of tiles, for ``TypeAdapter(TileSpace)`` to read back."""
    axes = {
        name: [int(value) for value in axis_values(getattr(settings, name))]
        for name in TILE_AXES
        if name in type(settings).model_fields
    }
    sizes = [int(n) for n in axis_values(settings.sizes)]
    return {
        "name": name,
        "kernels": list(kernels),
        "axes": axes,
        "sizes": sizes,
        "n": settings.n,
        "wavefronts": wavefronts,
    }


def timeline_space(settings: Timeline) -> dict[str, Any]:
    """Spell out a space of timelines, for ``TypeAdapter(TimelineSpace)`` to read back."""
    given = {name: getattr(settings, name) for name in TIMELINE_AXES}
    axes = scaled(given, settings.scale)
    return {"axes": {name: list(axis_values(axis)) for name, axis in axes.items()}}


def tile_threads(settings: Execution) -> int:
    """Say how many threads a sweep of tiles takes: what it does in Python is done one at a time."""
    return 1 if settings.scheduler == "threads" else settings.threads


def sweep_resources(sweeps: Sweeps, environment: Mapping[str, str]) -> dict[str, str | int]:
    """Say where a sweep runs and what it may take; none of it changes a result.

    The scheduler's address in the environment, under the name that dask gives it, goes before that
    of the configuration.
    """
    return {
        "scheduler": environment.get("DASK_SCHEDULER_ADDRESS") or sweeps.execution.scheduler,
        "budget_points": sweeps.budget.points,
        "budget_bytes": sweeps.budget.bytes,
        "budget_seconds": math.ceil(sweeps.budget.seconds),
    }


def kernel_module(kernel: str) -> str:
    """Name the module that holds a kernel of the ladder."""
    return KERNELS[kernel].body.__module__


def hazard_variants(kernels: Mapping[str, Options]) -> dict[str, dict[str, Any]]:
    """Options of the shared-memory kernel as it should be, and with each barrier left out."""
    base = kernels.get(HAZARD_KERNEL, {})
    return {
        HAZARD_KERNEL + suffix: {**base, "drop_sync": dropped}
        for suffix, dropped in (
            ("", "none"),
            ("_no_first_sync", "first"),
            ("_no_second_sync", "second"),
        )
    }
