"""Where in the source a compiled kernel wastes memory transactions: instructions summed by line."""

import xarray as xr

from pipeline.vocab.compiled import SOURCE_LINES
from pipeline.vocab.variable import annotate

_SUMMED = ("executed", "requests", "sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts")


def source_lines(instructions: xr.Dataset) -> xr.Dataset:
    """Sum what instructions did by the source line that they come from, the worst lines first.

    Parameters
    ----------
    instructions : (instruction,)
        As :func:`pipeline.counting.compiled_counts.instructions` arranges them.

    Returns
    -------
    (line,)
        ``source_file`` and ``source_line``; how many warp instructions, requests, sectors and
        wavefronts came of it; ``excess_sectors`` and ``excess_wavefronts``, which perfect accesses
        of the same bytes would not have taken. Sorted by both together, then by place.
    """
    columns = [*_SUMMED, "source_file", "source_line"]
    frame = instructions[columns].reset_coords(drop=True).to_dataframe()
    summed = frame.groupby(["source_file", "source_line"], sort=True)[list(_SUMMED)].sum()
    for what in ("sectors", "wavefronts"):
        # Lanes that share a sector take fewer than their bytes would fill.
        excess = summed[what] - summed[f"ideal_{what}"]
        summed[f"excess_{what}"] = excess.clip(lower=0)
    order = (summed["excess_sectors"] + summed["excess_wavefronts"]).sort_values(
        ascending=False, kind="stable"
    )
    ranked = summed.loc[order.index].reset_index()
    return annotate(ranked.rename_axis("line").to_xarray(), SOURCE_LINES)
