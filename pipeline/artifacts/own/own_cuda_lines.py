"""Source lines of the user's own compiled kernels that waste most memory transactions."""

import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.render.column import Column
from pipeline.words import Say, listed, message

SHOWN = 5
"""Lines that are shown of every kernel and architecture."""

ARTIFACT = Artifact(
    id="own_cuda_lines",
    lecture=10,
    title="Source lines of compiled kernels of your own that waste most",
    caption=(
        "Excess sectors are those beyond what the same bytes would fill: neighbouring threads lie "
        "too far apart. Excess wavefronts are bank conflicts. Up to {most} lines of every kernel "
        "that waste anything; {clean}"
    ),
    needs={"lines": "own/cuda_lines"},
)
COLUMNS = (
    Column("kernel_label", "kernel"),
    Column("arch", "code for"),
    Column("place", "line"),
    Column("executed", "instructions", "", ",.0f"),
    Column("requests", "requests", "", ",.0f"),
    Column("excess_sectors", "excess sectors", "", ",.0f"),
    Column("sectors", "of all", "", ",.0f"),
    Column("excess_wavefronts", "excess wavefronts", "", ",.0f"),
    Column("wavefronts", "of all", "", ",.0f"),
)


def table(lines: xr.Dataset) -> pd.DataFrame:
    """Tabulate the most wasteful lines of every kernel and architecture.

    Parameters
    ----------
    lines : (row,)
        The store ``own/cuda_lines``.
    """
    frame = lines.to_dataframe()
    wasted = frame["excess_sectors"] + frame["excess_wavefronts"] > 0
    frame = frame[wasted & (frame["line"] < SHOWN)].reset_index(drop=True)
    known = frame["source_line"] > 0
    frame["place"] = (frame["source_file"] + ":" + frame["source_line"].astype(str)).where(
        known, message("not known")
    )
    return frame[["kernel", *(column.field for column in COLUMNS)]]


def facts(lines: xr.Dataset, say: Say) -> dict[str, str | int]:
    """Name kernels without waste; ``lines`` as in :func:`table`."""
    shown = set(table(lines)["kernel"])
    labels = lines[["kernel", "kernel_label"]].to_dataframe().drop_duplicates()
    clean = labels.loc[~labels["kernel"].isin(shown), "kernel_label"].tolist()
    told = (
        say("without any: {kernels}.").format(kernels=listed([say(one) for one in clean], say))
        if clean
        else say("every kernel wastes something.")
    )
    return {"most": SHOWN, "clean": told}
