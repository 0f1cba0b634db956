"""The page of one compiled kernel of the user's own: what a profiler's report would show."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.artifacts.own import own_cuda, own_cuda_lines, own_cuda_memory
from pipeline.counting.memory_kinds import memory_kinds
from pipeline.counting.own_cuda import CudaArgument, OwnCuda
from pipeline.counting.source_lines import source_lines
from pipeline.render.column import Column, Legend
from pipeline.render.profile import Bar, Code, CodeLine, Part, Profile
from pipeline.render.table import table_html

Sources = Mapping[str, Sequence[str]]

_NOTES = (
    "Counts are exact: each instruction of the machine code, lane by lane. Times are those of the "
    "slowest resource, with nothing waiting for anything: latency, L2, the cost of a launch, and "
    "the pipes of FP64, FP16 and integers are left out.",
    "Shared memory is watched for races of warps between barriers, reads of what nobody wrote, "
    "which may be the compiler's where it widens loads, and copies that nobody waited for. Every "
    "barrier, also a named one, is taken to order all threads "
    "of the block; lanes of one warp are taken to run in step. Races of blocks on global memory "
    "are not looked for.",
)
_HOW = {
    "run": "every block was run with values",
    "counted": "exact counts without values: the result was not checked and hazards were not "
    "looked for, because the launch is too large or an array has no contents",
    "none": "was not launched",
}
_MEMORY = tuple(one for one in own_cuda_memory.COLUMNS if one.field not in ("kernel_label", "arch"))
_LINES = (
    *(one for one in own_cuda_lines.COLUMNS if one.field not in ("kernel_label", "arch")),
    Column("text", "source"),
)
_GPUS = tuple(one for one in own_cuda.COLUMNS if one.field != "kernel_name")


def cuda_page(
    own: OwnCuda,
    counts: xr.Dataset,
    predictions: xr.Dataset,
    gpus: xr.Dataset,
    instructions: Sequence[xr.Dataset],
    sources: Sources,
) -> Profile:
    """Put the page of a kernel together.

    Parameters
    ----------
    own
        How it was launched.
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
    """
    here = counts.sel(kernel=own.id)
    return Profile(
        title=str(here["kernel_label"].item()),
        facts=_facts(own),
        tables=[_on_gpus(own, predictions, gpus)],
        parts=[_part(here.sel(arch=one["arch"].item()), one, sources) for one in instructions],
        notes=_NOTES,
    )


def _facts(own: OwnCuda) -> list[tuple[str, str]]:
    facts = [
        ("kernel", f"{own.entry} in {own.file}"),
        ("grid", _axes(own.grid)),
        ("block", _axes(own.block)),
    ]
    if own.dynamic_shared:
        facts.append(("dynamic shared memory", f"{own.dynamic_shared:,} B"))
    facts += [(one.name, _argument(one)) for one in own.arguments]
    return [*facts, ("specification", own.specification or "none: the result was not compared")]


def _axes(sizes: Sequence[int]) -> str:
    return f"{' x '.join(map(str, sizes))} = {int(np.prod(sizes, dtype=np.int64)):,}"


def _argument(one: CudaArgument) -> str:
    fill = one.fill if isinstance(one.fill, str) else " to ".join(f"{v:g}" for v in one.fill)
    if not one.shape:
        return f"{one.type} {fill}"
    return f"{one.type} {' x '.join(map(str, one.shape))}, {fill}{', output' * one.output}"


def _on_gpus(own: OwnCuda, predictions: xr.Dataset, gpus: xr.Dataset) -> str:
    frame = own_cuda.table(predictions.sel(kernel=[own.id]), gpus)
    runs = frame.dropna(subset="t")
    caption = "Time of the slowest resource; what keeps another block off an SM."
    if len(runs):
        best, worst = (one.iloc[0] for one in (runs.nsmallest(1, "t"), runs.nlargest(1, "t")))
        caption += f" Fastest on the {best['gpu_name']}, slowest on the {worst['gpu_name']}."
    return table_html(frame, _GPUS, Legend("gpus", "On every GPU", caption))


def _part(counts: xr.Dataset, instructions: xr.Dataset, sources: Sources) -> Part:
    """Show the code for one architecture."""
    arch, how = str(counts["arch"].item()), str(counts["how"].item())
    summary = (
        f"{counts['registers'].item()} registers per thread, "
        f"{counts['smem_bytes'].item():,} B of shared memory per block, "
        f"{counts['local_bytes'].item():,} B of local memory per thread; "
        f"{counts['warp_instr'].item():,} warp instructions. How it was counted: {_HOW[how]}."
    )
    failure = str(counts["failure"].item())
    if not counts["counted"].item():
        return Part(
            f"Code for {arch}", summary if instructions.sizes["instruction"] else "", failure
        )
    lines = _wasteful(instructions, sources)
    return Part(
        title=f"Code for {arch}",
        summary=summary,
        failure=failure,
        findings=findings(counts, instructions, sources),
        mix=_mix(counts),
        tables=[_memory(instructions, arch), *_worst(lines, arch)],
        sources=_sources(instructions, sources),
        machine_code=[_machine_code(instructions)],
    )


def _wasteful(instructions: xr.Dataset, sources: Sources) -> pd.DataFrame:
    frame = source_lines(instructions).to_dataframe()
    frame["text"] = [
        _source(sources, *place)
        for place in zip(frame["source_file"], frame["source_line"], strict=True)
    ]
    known = frame["source_line"] > 0
    place = frame["source_file"] + ":" + frame["source_line"].astype(str)
    frame["place"] = place.where(known, "not known")
    return frame[frame["excess_sectors"] + frame["excess_wavefronts"] > 0]


def _source(sources: Sources, file: str, line: int) -> str:
    lines = sources.get(file, ())
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def findings(counts: xr.Dataset, instructions: xr.Dataset, sources: Sources) -> list[str]:
    """Say in sentences what a reader should look at first.

    Parameters
    ----------
    counts
        Of one kernel and architecture.
    instructions, sources
        As in :func:`cuda_page`.
    """
    lines = _wasteful(instructions, sources)
    told = []
    for what, why in (
        ("sectors", "neighbouring threads lie too far apart, or accesses are not aligned"),
        ("wavefronts", "lanes of a warp meet in the same banks of shared memory"),
    ):
        worst = lines[lines[f"excess_{what}"] > 0].nlargest(1, f"excess_{what}")
        told += [
            f"{place} takes {taken:,} {what} where {ideal:,} would do: {why}."
            for place, taken, ideal in zip(
                worst["place"], worst[what], worst[f"ideal_{what}"], strict=True
            )
        ]
    if not told:
        told.append("No access takes more sectors or wavefronts than its bytes need.")
    lanes = counts["thread_instr"].item() / max(1, counts["warp_instr"].item())
    if lanes < 31.95:
        told.append(
            f"{lanes:.1f} of 32 lanes are active on average; warps part at branches "
            f"{counts['divergent_branches'].item():,} times."
        )
    if counts["local_bytes"].item():
        told.append(
            f"Each thread has {counts['local_bytes'].item():,} B of local memory: arrays that are "
            f"indexed by variables, or registers that are spilled."
        )
    return [*told, *_hazards(instructions)]


def _hazards(instructions: xr.Dataset) -> list[str]:
    return [
        f"{text} (in all {times:,} times)"
        for text, times in zip(
            instructions["hazard_text"].values, instructions["hazard_blocks"].values, strict=True
        )
    ]


def _mix(counts: xr.Dataset) -> list[Bar]:
    issued = counts["instructions"].to_series()
    total = max(1, int(issued.sum()))
    return [
        Bar(str(name).replace("_", " "), times / total, f"{times / total:.1%}")
        for name, times in issued.sort_values(ascending=False, kind="stable").items()
        if times
    ]


def _memory(instructions: xr.Dataset, arch: str) -> str:
    kinds = memory_kinds(instructions).reset_coords(drop=True)
    frame = own_cuda_memory.per_request(kinds.to_dataframe().reset_index())
    caption = (
        "Sectors of 32 bytes and lines of 128 bytes of global and local memory, wavefronts of "
        "shared memory, with what the same accesses would take at best."
    )
    return table_html(frame, _MEMORY, Legend(f"memory-{arch}", "Memory", caption))


def _worst(lines: pd.DataFrame, arch: str) -> list[str]:
    if lines.empty:
        return []
    legend = Legend(
        f"lines-{arch}",
        "Source lines that waste most",
        "Sectors and wavefronts beyond those that the same bytes need.",
    )
    return [table_html(lines.head(2 * own_cuda_lines.SHOWN), _LINES, legend)]


_HEADINGS = ("instructions", "sectors", "excess", "wavefronts", "excess")


def _sources(instructions: xr.Dataset, sources: Sources) -> list[Code]:
    """Show every source of which lines were run, with what each line did."""
    frame = source_lines(instructions).to_dataframe()
    total = max(1, int(frame["executed"].sum()))
    shown = []
    for file, rows in frame[frame["source_line"] > 0].groupby("source_file", sort=True):
        by_line = {int(row["source_line"]): row for _, row in rows.iterrows()}
        lines = [
            _code_line(str(number), text, by_line.get(number), total)
            for number, text in enumerate(sources.get(str(file), ()), start=1)
        ]
        if lines:
            shown.append(Code(f"Source {file}, line by line", ("line", *_HEADINGS), lines))
    return shown


def _machine_code(instructions: xr.Dataset) -> Code:
    columns = ["address", "text", "executed", "sectors", "ideal_sectors", "wavefronts",
               "ideal_wavefronts"]  # fmt: skip
    frame = instructions[columns].reset_coords(drop=True).to_dataframe()
    for what in ("sectors", "wavefronts"):
        frame[f"excess_{what}"] = (frame[what] - frame[f"ideal_{what}"]).clip(lower=0)
    total = max(1, int(frame["executed"].sum()))
    lines = [
        _code_line(f"{row['address']:04x}", str(row["text"]), row, total)
        for _, row in frame.iterrows()
    ]
    return Code("Instruction by instruction", ("address", *_HEADINGS), lines)


def _code_line(number: str, text: str, row: pd.Series | None, total: int) -> CodeLine:
    if row is None or not row["executed"]:
        return CodeLine(number, text, ("",) * len(_HEADINGS), 0.0, wasteful=False)
    names = ("executed", "sectors", "excess_sectors", "wavefronts", "excess_wavefronts")
    cells = tuple(f"{row[name]:,}" if row[name] else "" for name in names)
    wasted = row["excess_sectors"] + row["excess_wavefronts"] > 0
    return CodeLine(number, text, cells, float(row["executed"] / total), bool(wasted))
