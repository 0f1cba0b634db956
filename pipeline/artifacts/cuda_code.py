"""Code of one compiled kernel, line by line, with what each line did."""

from collections.abc import Mapping, Sequence

import pandas as pd
import xarray as xr

from pipeline.artifacts.cuda_replay import Waits
from pipeline.counting.source_lines import source_lines
from pipeline.render.profile import Code, CodeLine
from pipeline.words import Say, message

Sources = Mapping[str, Sequence[str]]
"""Lines of sources by the name of their file."""

_DONE = ("executed", "sectors", "excess_sectors", "wavefronts", "excess_wavefronts")
_HEADINGS = (
    message("instructions"),
    message("sectors"),
    message("excess"),
    message("wavefronts"),
    message("excess"),
)


def source_code(
    instructions: xr.Dataset, sources: Sources, say: Say, found: Waits | None = None
) -> list[Code]:
    """Show every source of which lines were run, with what each line did.

    Parameters
    ----------
    instructions : (instruction,)
        What every instruction did, for one architecture.
    sources
        What is not among them is not shown.
    say
        Language of the headings.
    found
        How long warps waited, for another column.
    """
    waited, nothing = _by_line(found), None if found is None else 0.0
    frame = source_lines(instructions).to_dataframe()
    total = max(1, int(frame["executed"].sum()))
    shown = []
    for file, rows in frame[frame["source_line"] > 0].groupby("source_file", sort=True):
        by_line = {int(row["source_line"]): row for _, row in rows.iterrows()}
        lines = [
            _code_line(
                str(number),
                text,
                by_line.get(number),
                total,
                waited.get((str(file), number), nothing),
            )
            for number, text in enumerate(sources.get(str(file), ()), start=1)
        ]
        if lines:
            title = say("Source {file}, line by line").format(file=file)
            shown.append(Code(title, _headings(say("line"), say, found), lines))
    return shown


def machine_code(instructions: xr.Dataset, say: Say, found: Waits | None = None) -> Code:
    """Show every instruction with what it did; arguments as in :func:`source_code`."""
    columns = ["address", "text", "executed", "sectors", "ideal_sectors", "wavefronts",
               "ideal_wavefronts"]  # fmt: skip
    frame = instructions[columns].reset_coords(drop=True).to_dataframe()
    for what in ("sectors", "wavefronts"):
        frame[f"excess_{what}"] = (frame[what] - frame[f"ideal_{what}"]).clip(lower=0)
    total = max(1, int(frame["executed"].sum()))
    waited = [None] * len(frame) if found is None else found.rows["waited"].tolist()
    lines = [
        _code_line(f"{row['address']:04x}", str(row["text"]), row, total, cycles)
        for (_, row), cycles in zip(frame.iterrows(), waited, strict=True)
    ]
    return Code(say("Instruction by instruction"), _headings(say("address"), say, found), lines)


def _by_line(found: Waits | None) -> dict[tuple[str, int], float]:
    if found is None:
        return {}
    cycles = found.rows.groupby(["source_file", "source_line"])["waited"].sum()
    return dict(zip(cycles.index.tolist(), cycles.tolist(), strict=True))


def _headings(first: str, say: Say, found: Waits | None) -> tuple[str, ...]:
    waited = say("cycles waited, {gpu}")
    return (first, *map(say, _HEADINGS), *([waited.format(gpu=found.gpu_name)] if found else []))


def _code_line(
    number: str, text: str, row: pd.Series | None, total: int, cycles: float | None
) -> CodeLine:
    """Show a line; ``cycles`` that warps waited are None where nothing was replayed."""
    waited = () if cycles is None else (f"{cycles:,.0f}" if cycles >= 0.5 else "",)
    if row is None or not row["executed"]:
        return CodeLine(number, text, ("",) * len(_HEADINGS) + waited, 0.0, wasteful=False)
    cells = tuple(f"{row[name]:,}" if row[name] else "" for name in _DONE) + waited
    wasted = row["excess_sectors"] + row["excess_wavefronts"] > 0
    return CodeLine(number, text, cells, float(row["executed"] / total), bool(wasted))
