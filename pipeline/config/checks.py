"""What settings must agree with each other, once each is right by itself."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pipeline.config import decode_checks, megakernel_checks, own_sizes
from pipeline.config.block_programs import BlockPrograms
from pipeline.config.compiled import Compiled
from pipeline.config.kernels import Chosen
from pipeline.config.models import LINE_ELEMENTS, Counting, Extrapolation, Hazards, Lecture10
from pipeline.config.own_cuda_entry import CudaEntry
from pipeline.config.own_entry import OwnEntry
from pipeline.config.problem import Problem, require_one_of, require_sheet
from pipeline.config.replay import Replay
from pipeline.config.sweeps import Sweeps
from pipeline.counting.extrapolate import NODES
from pipeline.sweep.space import axis_values

# Four sizes make the polynomial, and one more checks it.
SIZES_NEEDED = NODES + 1

HAZARD_KERNEL = "k03_smem"


def listed(sizes: Sequence[int]) -> str:
    """Write sizes as they stand in a message."""
    return ", ".join(str(size) for size in sizes) or "none"


def taken(chosen: Chosen, sizes: Sequence[int]) -> list[int]:
    """Keep the sizes at which square matrices fit the kernel's tile."""
    return [n for n in sizes if all(n % step == 0 for step in chosen.launch.multiple)]


def gpus(chosen: Sequence[str], sheets: Sequence[str]) -> Iterator[Problem]:
    """Require a sheet for every GPU."""
    for position, name in enumerate(chosen):
        yield from require_sheet(f"gpus[{position}]", name, "data/gpus", sheets)


def counting(settings: Counting) -> Iterator[Problem]:
    """Require that the two special sizes are simulated, and are two."""
    for name in ("held_out", "per_fma_base"):
        size = getattr(settings, name)
        if size not in settings.sizes:
            yield Problem(
                f"counting.{name}",
                f"given {size}; must be one of counting.sizes: {listed(settings.sizes)}",
            )
    if settings.held_out == settings.per_fma_base:
        yield Problem(
            "counting.held_out",
            f"given {settings.held_out}; must differ from counting.per_fma_base: a size that a "
            f"method starts from cannot check it",
        )


def kernel_sizes(kernels: Mapping[str, Chosen], settings: Counting) -> Iterator[Problem]:
    """Require that every kernel takes enough of the sizes."""
    if len(settings.sizes) < SIZES_NEEDED:
        yield Problem(
            "counting.sizes",
            f"given {listed(settings.sizes)}; at least {SIZES_NEEDED} sizes are needed, for the "
            f"polynomial and its check; {_to_add(settings.sizes, LINE_ELEMENTS)}",
        )
        return
    for step, names in _by_step({id_: math.lcm(*k.launch.multiple) for id_, k in kernels.items()}):
        fit = [n for n in settings.sizes if n % step == 0]
        if len(fit) < SIZES_NEEDED:
            yield Problem(
                "counting.sizes",
                f"given {listed(settings.sizes)}; {_only(names, 'take')} multiples of {step}, "
                f"which are {listed(fit)}, and {SIZES_NEEDED} are needed for the polynomial and "
                f"its check: {_to_add(fit, math.lcm(step, LINE_ELEMENTS))}, or leave out with "
                f"kernels.{names[0]}: false",
            )


def whole_tiles(kernels: Mapping[str, Chosen], settings: Counting) -> Iterator[Problem]:
    """Require sizes without cut tiles: with them the counts are no polynomial in n."""
    for name, chosen in kernels.items():
        cut = [
            n for n in taken(chosen, settings.sizes) if any(n % edge for edge in chosen.launch.tile)
        ]
        if cut:
            rows, columns = chosen.launch.tile
            yield Problem(
                f"kernels.{name}",
                f"its tile of {rows} x {columns} does not divide counting.sizes {listed(cut)}, and "
                f"counts with cut tiles cannot be carried to other sizes; choose a tile that "
                f"divides them, or sizes that are multiples of {math.lcm(rows, columns)}",
            )


def shared_memory(kernels: Mapping[str, Chosen], most: int | None) -> Iterator[Problem]:
    """Refuse blocks that no GPU has the shared memory for."""
    for name, chosen in kernels.items():
        if most is not None and chosen.launch.smem_bytes > most:
            yield Problem(
                f"kernels.{name}",
                f"with these options a block takes {chosen.launch.smem_bytes} bytes of shared "
                f"memory; at most {most} are allowed on any GPU (smem_per_block_max in "
                f"data/compute_capabilities.yaml); choose smaller tiles or less padding",
            )


def cuda_shared_memory(cuda: Mapping[str, CudaEntry], most: int | None) -> Iterator[Problem]:
    """Refuse launches that ask for more shared memory than any GPU has for a block."""
    for name, entry in cuda.items():
        if most is not None and entry.dynamic_shared > most:
            yield Problem(
                f"own_cuda.{name}.dynamic_shared",
                f"given {entry.dynamic_shared}; at most {most} bytes are allowed on any GPU "
                f"(smem_per_block_max in data/compute_capabilities.yaml)",
            )


def extrapolated_sizes(
    kernels: Mapping[str, Chosen],
    own: Mapping[str, OwnEntry],
    counted: Counting,
    settings: Extrapolation,
) -> Iterator[Problem]:
    """Require sizes on the grid that the simulated ones span: counts are known only there."""
    steps = {id_: math.gcd(*taken(kernel, counted.sizes)) for id_, kernel in kernels.items()}
    for step, names in _by_step(steps | own_sizes.steps(own, counted)):
        wrong = [n for n in settings.sizes if step and n % step]
        if wrong:
            near = [max(1, round(n / step)) * step for n in wrong]
            yield Problem(
                "extrapolation.sizes",
                f"given {listed(wrong)}; must be multiples of {step}, the step between the sizes "
                f"at which {', '.join(names)} are simulated: in between, tiles are cut and the "
                f"counts are not known; the nearest allowed: {listed(near)}",
            )


def hazard_sizes(kernels: Mapping[str, Chosen], settings: Hazards) -> Iterator[Problem]:
    """Require sizes that the kernel whose barriers are dropped takes."""
    if HAZARD_KERNEL not in kernels:
        return
    fit = taken(kernels[HAZARD_KERNEL], settings.sizes)
    wrong = [n for n in settings.sizes if n not in fit]
    if wrong:
        step = math.lcm(*kernels[HAZARD_KERNEL].launch.multiple)
        yield Problem(
            "hazards.sizes",
            f"given {listed(wrong)}; must be multiples of {step}, which {HAZARD_KERNEL} needs",
        )


def lecture_gpu(
    lecture: Lecture10, chosen: Sequence[str], sheets: Sequence[str]
) -> Iterator[Problem]:
    """Require that the GPUs of the figures are among those that are predicted.

    Not while one of those has no sheet: it may be the one that is meant here, misspelt there.
    """
    if not set(chosen) <= set(sheets):
        return
    places = {"gpu": lecture.gpu} | {
        f"shown_gpus[{position}]": gpu for position, gpu in enumerate(lecture.shown_gpus)
    }
    for place, gpu in places.items():
        yield from require_one_of(f"lecture10.{place}", gpu, "gpus", chosen)


def lecture_counts(lecture: Lecture10, settings: Counting) -> Iterator[Problem]:
    """Require that the sizes at which counts are shown are simulated, and are two."""
    for name in ("small_n", "second_n"):
        yield from _one_of(f"lecture10.{name}", getattr(lecture, name), "counting", settings.sizes)
    if lecture.small_n == lecture.second_n:
        yield Problem(
            "lecture10.second_n",
            f"given {lecture.second_n}; must differ from lecture10.small_n: two sizes are compared",
        )


def lecture_block_programs(lecture: Lecture10, settings: BlockPrograms) -> Iterator[Problem]:
    """Require that block programs run at the size at which they stand beside the ladder."""
    yield from _one_of("lecture10.second_n", lecture.second_n, "block_programs", settings.sizes)


def lecture_hazards(lecture: Lecture10, settings: Hazards) -> Iterator[Problem]:
    """Require that hazards are counted at the size at which they are shown."""
    yield from _one_of("lecture10.small_n", lecture.small_n, "hazards", settings.sizes)


def lecture_times(lecture: Lecture10, settings: Extrapolation) -> Iterator[Problem]:
    """Require that times are predicted at the size at which they are shown."""
    yield from _one_of("lecture10.large_n", lecture.large_n, "extrapolation", settings.sizes)


def lecture_replays(lecture: Lecture10, settings: Replay) -> Iterator[Problem]:
    """Require that machine code is replayed at the size at which times are shown."""
    yield from _one_of("lecture10.large_n", lecture.large_n, "replay", settings.sizes)


def swept_sizes(settings: Sweeps) -> Iterator[Problem]:
    """Require that the size that stands for all is swept."""
    for name in ("tiles", "warp_tiles"):
        space = getattr(settings, name)
        sizes = [int(n) for n in axis_values(space.sizes)]
        yield from _one_of(f"sweeps.{name}.n", space.n, f"sweeps.{name}", sizes)


def compiled_kernels(settings: Compiled, chosen: Mapping[str, Chosen]) -> Iterator[Problem]:
    """Require that every architecture has the instructions of every kernel."""
    for position, name in enumerate(settings.architectures):
        capability = int(name.removeprefix("sm_"))
        for id_, one in chosen.items():
            if capability < one.launch.capability:
                yield Problem(
                    f"compiled.architectures[{position}]",
                    f"given {name}, which lacks instructions of {id_}; must be at least "
                    f"sm_{one.launch.capability}; leave {name} out, or the kernel: "
                    f"kernels.{id_}: false",
                )


# Which settings each check compares. A check runs when all of them are right by themselves.
CHECKS: tuple[tuple[tuple[str, ...], Callable[..., Iterator[Problem]]], ...] = (
    (("gpus", "sheets"), gpus),
    (("counting",), counting),
    (("chosen", "counting"), kernel_sizes),
    (("chosen", "counting"), whole_tiles),
    (("chosen", "most_shared"), shared_memory),
    (("cuda", "most_shared"), cuda_shared_memory),
    (("chosen", "own", "counting", "extrapolation"), extrapolated_sizes),
    (("chosen", "hazards"), hazard_sizes),
    (("own", "counting"), own_sizes.counted_sizes),
    (("own", "counting"), own_sizes.arrays),
    (("compiled", "chosen"), compiled_kernels),
    (("sweeps",), swept_sizes),
    (("lecture10", "gpus", "sheets"), lecture_gpu),
    (("lecture10", "counting"), lecture_counts),
    (("lecture10", "block_programs"), lecture_block_programs),
    (("lecture10", "hazards"), lecture_hazards),
    (("lecture10", "extrapolation"), lecture_times),
    (("lecture10", "replay"), lecture_replays),
    (("decode", "model_sheets"), decode_checks.models),
    (("decode", "plan_sheets"), decode_checks.plans),
    (("decode", "sheets"), decode_checks.launch_gpu),
    (("decode",), decode_checks.sensitivity),
    (("decode", "lecture11", "gpus", "sheets"), decode_checks.predicted_gpus),
    (("lecture11", "decode"), decode_checks.lecture_choice),
    (("megakernel", "decode"), megakernel_checks.executions),
    (("decode",), megakernel_checks.names),
)


def run(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Run every check whose settings are all in ``values``."""
    for needs, check in CHECKS:
        if all(name in values for name in needs):
            yield from check(*(values[name] for name in needs))


def _one_of(path: str, size: int, section: str, sizes: Sequence[int]) -> Iterator[Problem]:
    if size not in sizes:
        yield Problem(path, f"given {size}; must be one of {section}.sizes: {listed(sizes)}")


def _to_add(fit: Sequence[int], step: int) -> str:
    lacking = SIZES_NEEDED - len(fit)
    return f"add {lacking} more multiple{'s' if lacking > 1 else ''} of {step}"


def _by_step(steps: Mapping[str, int]) -> list[tuple[int, list[str]]]:
    """Kernels that need the same step, so that one mistake is reported once."""
    groups: dict[int, list[str]] = {}
    for name, step in steps.items():
        groups.setdefault(step, []).append(name)
    return sorted(groups.items())


def _only(names: Sequence[str], verb: str) -> str:
    return f"{', '.join(names)} {verb}{'s' if len(names) == 1 else ''} only"
