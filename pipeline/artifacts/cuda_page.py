"""The page of one compiled kernel of the user's own: what a profiler's report would show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.artifacts.cuda_code import Sources, machine_code, source_code
from pipeline.artifacts.cuda_findings import findings, wasteful
from pipeline.artifacts.cuda_replay import longest_wait, on_one_sm, refusals, waits
from pipeline.artifacts.make import language_of, spoken
from pipeline.artifacts.own import own_cuda, own_cuda_lines, own_cuda_memory
from pipeline.counting.memory_kinds import memory_kinds
from pipeline.counting.own_cuda import CudaArgument, OwnCuda
from pipeline.render.column import Column, Legend
from pipeline.render.profile import Bar, Part, Profile, render_profile
from pipeline.render.table import table_html
from pipeline.words import Say, listed, message, spaced, speaker, together

_NOTES = (
    message(
        "Counts are exact: each instruction of the machine code, lane by lane. Times are those of "
        "the slowest resource, with nothing waiting for anything: latency, L2, the cost of a "
        "launch, and the pipes of FP64, FP16 and integers are left out."
    ),
    message(
        "A replay runs the machine code of the blocks of one SM cycle by cycle, without values, so "
        "that what depends on data is not replayed, and only on GPUs of exactly the architecture "
        "that the code is for. Cycles waited are those of its warps in all: issuing is left out."
    ),
    message(
        "Shared memory is watched for races of warps between barriers, reads of what nobody wrote, "
        "which may be the compiler's where it widens loads, and copies that nobody waited for. "
        "Every barrier, also a named one, is taken to order all threads of the block; lanes of one "
        "warp are taken to run in step. Races of blocks on global memory are not looked for."
    ),
)
_HOW = {
    "run": message("Every block was run with values."),
    "counted": message(
        "Counted exactly, without values: the result was not checked and hazards were not looked "
        "for, because the launch is too large or an array has no contents."
    ),
    "none": message("It was not launched."),
}
_CLASSES = {
    "fma": message("FP32 arithmetic"),
    "half": message("FP16 arithmetic"),
    "double": message("FP64 arithmetic"),
    "tensor": message("tensor cores"),
    "integer": message("integers"),
    "compare": message("comparisons"),
    "convert": message("conversions"),
    "special": message("special functions"),
    "move": message("moves"),
    "uniform": message("uniform datapath"),
    "load_global": message("global loads"),
    "store_global": message("global stores"),
    "load_shared": message("shared loads"),
    "store_shared": message("shared stores"),
    "local": message("local memory"),
    "constant": message("constants"),
    "atomic": message("atomics"),
    "copy": message("copies to shared memory"),
    "warp": message("exchange between lanes"),
    "barrier": message("barriers"),
    "control": message("control flow"),
}
"""Class of opcodes -> what readers call it."""
_FILLS = {
    "random": message("random"),
    "range": message("counting up"),
    "none": message("no contents"),
}
_KERNEL = ("kernel_label", "arch")
_MEMORY = tuple(one for one in own_cuda_memory.COLUMNS if one.field not in _KERNEL)
_LINES = tuple(one for one in own_cuda_lines.COLUMNS if one.field not in _KERNEL)
_GPUS = tuple(one for one in own_cuda.COLUMNS if one.field != "kernel_name")


@dataclass(frozen=True)
class Launched:
    """What a page is made of.

    Attributes
    ----------
    own
        How the kernel was launched.
    counts : (kernel, arch)
        The store ``own/cuda_counts``.
    predictions : (kernel, gpu, method)
        The store ``own/cuda_predictions``.
    gpus : (gpu,)
        The store of that name.
    instructions : (instruction,), (hazard,)
        One dataset per architecture of the kernel.
    sources
        Lines of the sources by the name of their file.
    replays : (kernel, gpu)
        The store ``own/cuda_replays``.
    stalls : (gpu, instruction, stall_reason)
        What its warps waited for, one dataset per architecture of the kernel.
    """

    own: OwnCuda
    counts: xr.Dataset
    predictions: xr.Dataset
    gpus: xr.Dataset
    instructions: Sequence[xr.Dataset]
    sources: Sources
    replays: xr.Dataset
    stalls: Sequence[xr.Dataset]


def make_pages(launched: Launched, outputs: Iterable[str]) -> None:
    """Write the page of a kernel, in the language that the name of each output says."""
    for path in outputs:
        render_profile(cuda_page(launched, language_of(path)), path)


def cuda_page(launched: Launched, language: str) -> Profile:
    """Put the page of a kernel together, in one language."""
    say, own = speaker(language), launched.own
    here = launched.counts.sel(kernel=own.id)
    return Profile(
        language=language,
        title=say(str(here["kernel_label"].item())),
        facts=_facts(own, say),
        tables=[
            _on_gpus(launched, language),
            *on_one_sm(
                launched.replays.sel(kernel=[own.id]),
                launched.predictions.sel(kernel=[own.id]),
                language,
            ),
        ],
        parts=[
            _part(launched, instructions, stalls, language)
            for instructions, stalls in zip(launched.instructions, launched.stalls, strict=True)
        ],
        notes=[say(note) for note in _NOTES],
    )


def _facts(own: OwnCuda, say: Say) -> list[tuple[str, str]]:
    where = say("{entry} in {file}").format(entry=own.entry, file=own.file)
    facts = [
        (say("kernel"), where),
        (say("grid"), _axes(own.grid)),
        (say("block"), _axes(own.block)),
    ]
    if own.dynamic_shared:
        facts.append((say("dynamic shared memory"), f"{own.dynamic_shared:,} B"))
    facts += [(one.name, _argument(one, say)) for one in own.arguments]
    unchecked = say("none: the result was not compared")
    return [*facts, (say("specification"), own.specification or unchecked)]


def _axes(sizes: Sequence[int]) -> str:
    return f"{' x '.join(map(str, sizes))} = {int(np.prod(sizes, dtype=np.int64)):,}"


def _argument(one: CudaArgument, say: Say) -> str:
    if isinstance(one.fill, str):
        fill = say(_FILLS.get(one.fill, one.fill))
    elif one.shape and len(one.fill) > 1:
        first, last = (f"{value:g}" for value in one.fill)
        fill = say("{first} to {last}").format(first=first, last=last)
    else:
        fill = listed([f"{value:g}" for value in one.fill], say)
    if not one.shape:
        return f"{one.type} {fill}"
    parts = [f"{one.type} {' x '.join(map(str, one.shape))}", fill, say("output") * one.output]
    return listed([part for part in parts if part], say)


def _on_gpus(launched: Launched, language: str) -> str:
    say = speaker(language)
    predictions = launched.predictions.sel(kernel=[launched.own.id])
    frame = own_cuda.table(predictions, launched.gpus, say)
    told = [say("Time of the slowest resource; what keeps another block off an SM.")]
    runs = frame.dropna(subset="t")
    if len(runs):
        best, worst = (one.iloc[0] for one in (runs.nsmallest(1, "t"), runs.nlargest(1, "t")))
        extremes = say("Fastest on the {best}, slowest on the {worst}.")
        told.append(extremes.format(best=best["gpu_name"], worst=worst["gpu_name"]))
    caption = spaced(together(told, say), language)
    legend = Legend("gpus", say("On every GPU"), caption, language)
    return table_html(frame, [spoken(column, say) for column in _GPUS], legend)


def _part(launched: Launched, instructions: xr.Dataset, stalls: xr.Dataset, language: str) -> Part:
    """Show the code for one architecture."""
    say, arch, sources = speaker(language), str(instructions["arch"].item()), launched.sources
    counts = launched.counts.sel(kernel=launched.own.id, arch=arch)
    title = say("Code for {arch}").format(arch=arch)
    failure = str(counts["failure"].item())
    if not counts["counted"].item():
        known = instructions.sizes["instruction"]
        return Part(title, _summary(counts, say) if known else "", failure)
    replays = launched.replays.sel(kernel=launched.own.id)
    waited = waits(stalls, replays)
    return Part(
        title=title,
        summary=_summary(counts, say),
        failure=failure,
        findings=[
            *findings(counts, instructions, sources, say),
            *longest_wait(waited, say),
            *refusals(replays, arch, say),
        ],
        mix=_mix(counts, say),
        tables=[
            _memory(instructions, arch, language),
            *_worst(wasteful(instructions, sources, say), arch, language),
        ],
        sources=source_code(instructions, sources, say, waited),
        machine_code=[machine_code(instructions, say, waited)],
    )


def _summary(counts: xr.Dataset, say: Say) -> str:
    needs = say(
        "{registers} registers per thread, {smem:,} B of shared memory per block, {local:,} B of "
        "local memory per thread; {issued:,} warp instructions."
    ).format(
        registers=counts["registers"].item(),
        smem=counts["smem_bytes"].item(),
        local=counts["local_bytes"].item(),
        issued=counts["warp_instr"].item(),
    )
    return together([needs, say(_HOW[str(counts["how"].item())])], say)


def _mix(counts: xr.Dataset, say: Say) -> list[Bar]:
    issued = counts["instructions"].to_series()
    total = max(1, int(issued.sum()))
    return [
        Bar(say(_CLASSES[str(name)]), times / total, f"{times / total:.1%}")
        for name, times in issued.sort_values(ascending=False, kind="stable").items()
        if times
    ]


def _memory(instructions: xr.Dataset, arch: str, language: str) -> str:
    say = speaker(language)
    kinds = memory_kinds(instructions).reset_coords(drop=True)
    frame = own_cuda_memory.per_request(kinds.to_dataframe().reset_index())
    caption = say(
        "Sectors of 32 bytes and lines of 128 bytes of global and local memory, wavefronts of "
        "shared memory, with what the same accesses would take at best."
    )
    legend = Legend(f"memory-{arch}", say("Memory"), caption, language)
    return table_html(frame, [spoken(column, say) for column in _MEMORY], legend)


def _worst(lines: pd.DataFrame, arch: str, language: str) -> list[str]:
    if lines.empty:
        return []
    say = speaker(language)
    legend = Legend(
        f"lines-{arch}",
        say("Source lines that waste most"),
        say("Sectors and wavefronts beyond those that the same bytes need."),
        language,
    )
    # Lines of source are nobody's words to translate.
    columns = [*(spoken(column, say) for column in _LINES), Column("text", say("source"))]
    return [table_html(lines.head(2 * own_cuda_lines.SHOWN), columns, legend)]
