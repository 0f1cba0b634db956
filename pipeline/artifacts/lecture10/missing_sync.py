"""The two barriers of the shared-memory kernel, and what goes wrong without each."""

import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.render.column import Column
from pipeline.words import message

ARTIFACT = Artifact(
    id="missing_sync",
    lecture=10,
    title="A barrier left out",
    caption=(
        "Data hazards of the shared-memory kernel at n = {n}, one report per offending instruction "
        "of a block. Without the first barrier warps read tiles that others are still filling: "
        "{first_reads:,d} of {first:,d} reports are reads after a write. Without the second one "
        "they overwrite tiles that others still read: {second_writes:,d} of {second:,d} reports "
        "are writes after a read. With both barriers there are {both:,d} reports."
    ),
    needs={"hazards": "hazards"},
    parameters=("small_n",),
)
COLUMNS = (
    Column("barriers", "barriers"),
    Column("race_count", "reports", "", ",d"),
    Column("raw_races", "read after write", "", ",d"),
    Column("war_races", "write after read", "", ",d"),
    Column("waw_races", "write after write", "", ",d"),
)
WHOLE = "k03_smem"
NO_FIRST = "k03_smem_no_first_sync"
NO_SECOND = "k03_smem_no_second_sync"
NAMES = {
    WHOLE: message("with both"),
    NO_FIRST: message("without the first"),
    NO_SECOND: message("without the second"),
}


def table(hazards: xr.Dataset, small_n: int) -> pd.DataFrame:
    """Tabulate the hazards at one size, one row per variant.

    Parameters
    ----------
    hazards : (variant, n)
        The store of that name.
    small_n
        Simulated size.
    """
    kinds = ["race_count", "raw_races", "war_races", "waw_races"]
    frame = hazards[kinds].sel(n=small_n).to_dataframe().reset_index()
    names = [NAMES.get(variant, variant) for variant in frame["variant"]]
    frame.insert(1, "barriers", names)
    return frame


def facts(hazards: xr.Dataset, small_n: int) -> dict[str, int]:
    """Count the reports of every variant, and those of the kind that explains it."""
    reports = table(hazards, small_n).set_index("variant").to_dict("index")
    return {
        "n": small_n,
        "both": reports[WHOLE]["race_count"],
        "first": reports[NO_FIRST]["race_count"],
        "first_reads": reports[NO_FIRST]["raw_races"],
        "second": reports[NO_SECOND]["race_count"],
        "second_writes": reports[NO_SECOND]["war_races"],
    }
