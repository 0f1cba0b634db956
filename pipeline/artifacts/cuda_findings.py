"""What is conspicuous in one compiled kernel of the user's own: waste, idle lanes, hazards."""

import pandas as pd
import xarray as xr

from pipeline.artifacts.cuda_code import Sources
from pipeline.artifacts.own.own_cuda_mix import WARP
from pipeline.counting.source_lines import source_lines
from pipeline.simt.hazards import TEXTS
from pipeline.words import Say, english, message, retold

_WASTE = {
    "sectors": message(
        "{place} takes {taken:,} sectors where {ideal:,} would do: neighbouring threads lie too "
        "far apart, or accesses are not aligned."
    ),
    "wavefronts": message(
        "{place} takes {taken:,} wavefronts where {ideal:,} would do: lanes of a warp meet in the "
        "same banks of shared memory."
    ),
}
# Fewer lanes than these are active on average, as a page shows it.
_ALL_LANES = WARP - 0.05


def wasteful(instructions: xr.Dataset, sources: Sources, say: Say) -> pd.DataFrame:
    """Tabulate source lines that take more sectors or wavefronts than their bytes need.

    Parameters
    ----------
    instructions, sources, say
        As in :func:`findings`.

    Returns
    -------
    The columns of :func:`pipeline.counting.source_lines.source_lines`, with ``text`` and ``place``.
    """
    frame = source_lines(instructions).to_dataframe()
    frame["text"] = [
        _source(sources, *place)
        for place in zip(frame["source_file"], frame["source_line"], strict=True)
    ]
    known = frame["source_line"] > 0
    place = frame["source_file"] + ":" + frame["source_line"].astype(str)
    frame["place"] = place.where(known, say("not known"))
    return frame[frame["excess_sectors"] + frame["excess_wavefronts"] > 0]


def findings(
    counts: xr.Dataset, instructions: xr.Dataset, sources: Sources, say: Say = english
) -> list[str]:
    """Say in sentences what a reader should look at first.

    Parameters
    ----------
    counts
        The store ``own/cuda_counts``, of one kernel and architecture.
    instructions : (instruction,), (hazard,)
        Of the same.
    sources
        Lines of the sources by the name of their file.
    say
        Language of the sentences.
    """
    lines = wasteful(instructions, sources, say)
    told = []
    for what, template in _WASTE.items():
        worst = lines[lines[f"excess_{what}"] > 0].nlargest(1, f"excess_{what}")
        told += [
            say(template).format(place=place, taken=taken, ideal=ideal)
            for place, taken, ideal in zip(
                worst["place"], worst[what], worst[f"ideal_{what}"], strict=True
            )
        ]
    if not told:
        told.append(say("No access takes more sectors or wavefronts than its bytes need."))
    return [*told, *_lanes(counts, say), *_local(counts, say), *_hazards(instructions, say)]


def _source(sources: Sources, file: str, line: int) -> str:
    lines = sources.get(file, ())
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _lanes(counts: xr.Dataset, say: Say) -> list[str]:
    lanes = counts["thread_instr"].item() / max(1, counts["warp_instr"].item())
    if lanes >= _ALL_LANES:
        return []
    told = say(
        "{active:.1f} of {lanes} lanes are active on average; warps part at branches {times:,} "
        "times."
    )
    return [told.format(active=lanes, lanes=WARP, times=counts["divergent_branches"].item())]


def _local(counts: xr.Dataset, say: Say) -> list[str]:
    size = counts["local_bytes"].item()
    if not size:
        return []
    told = say(
        "Each thread has {size:,} B of local memory: arrays that are indexed by variables, or "
        "registers that are spilled."
    )
    return [told.format(size=size)]


def _hazards(instructions: xr.Dataset, say: Say) -> list[str]:
    return [
        say("{text} (in all {times:,} times)").format(text=retold(text, TEXTS, say), times=times)
        for text, times in zip(
            instructions["hazard_text"].values, instructions["hazard_blocks"].values, strict=True
        )
    ]
