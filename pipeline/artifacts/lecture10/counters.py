"""What every kernel does at the small size: exact counts of one launch."""

import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel
from pipeline.render.column import Column

ARTIFACT = Artifact(
    id="counters",
    lecture=10,
    title="Counters at n = {n}",
    caption=(
        "Exact counts of one launch of each kernel at n = {n}, {fma:,.0f} multiply-adds in all of "
        "them. From {first_name} to {last_name} warp instructions fall {instructions:.1f}-fold and "
        "lines of global loads {lines:,.0f}-fold. The largest error against a float64 product is "
        "{error:.1e}; data hazards reported: {hazards:,d}."
    ),
    needs={"counts": "counts"},
    parameters=("small_n",),
)
COUNTERS = (
    "race_count",
    "warp_instr",
    "gld_instr",
    "gld_lines",
    "gld_sectors",
    "gst_instr",
    "gst_lines",
    "gst_sectors",
    "smem_instr",
    "lds_wavefronts",
    "sts_wavefronts",
    "ideal_smem_wavefronts",
    "barriers",
)
COLUMNS = (
    Column("kernel_name", "kernel"),
    Column("max_abs_error", "largest error", "", ".1e"),
    Column("race_count", "hazards", "", ",d"),
    Column("warp_instr", "warp instructions", "", ",d"),
    Column("gld_instr", "global load instructions", "", ",d"),
    Column("gld_lines", "global load lines", "", ",d"),
    Column("gld_sectors", "global load sectors", "", ",d"),
    Column("gst_instr", "global store instructions", "", ",d"),
    Column("gst_lines", "global store lines", "", ",d"),
    Column("gst_sectors", "global store sectors", "", ",d"),
    Column("smem_instr", "shared instructions", "", ",d"),
    Column("lds_wavefronts", "shared load wavefronts", "", ",d"),
    Column("sts_wavefronts", "shared store wavefronts", "", ",d"),
    Column("ideal_smem_wavefronts", "shared wavefronts without conflicts", "", ",d"),
    Column("barriers", "barriers", "", ",d"),
)


def table(counts: xr.Dataset, small_n: int) -> pd.DataFrame:
    """Tabulate the counters at one size, one row per kernel that takes it.

    Parameters
    ----------
    counts : (kernel, n)
        The store of that name.
    small_n
        Simulated size.
    """
    frame = by_kernel(counts[["simulated", "max_abs_error", "fma", *COUNTERS]].sel(n=small_n))
    return frame[frame["simulated"]].drop(columns="simulated").reset_index(drop=True)


def facts(counts: xr.Dataset, small_n: int) -> dict[str, float | str]:
    """How far counts fall from the first kernel to the last, and whether results are right."""
    frame = table(counts, small_n)
    first, last = frame.iloc[0], frame.iloc[-1]
    return {
        "n": small_n,
        "fma": first["fma"],
        "first_name": first["kernel_name"],
        "last_name": last["kernel_name"],
        "instructions": first["warp_instr"] / last["warp_instr"],
        "lines": first["gld_lines"] / last["gld_lines"],
        "error": frame["max_abs_error"].max(),
        "hazards": int(frame["race_count"].sum()),
    }
