"""What every kernel does at the small size: exact counts of one launch."""

import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel, taken, with_exceptions
from pipeline.render.column import Column
from pipeline.words import Say

ARTIFACT = Artifact(
    id="counters",
    lecture=10,
    title="Counters at n = {n}",
    caption=(
        "Exact counts of one launch of each kernel at n = {sizes}. From {first_name} to "
        "{last_name} warp instructions per multiply-add fall {instructions:.1f}-fold and lines of "
        "global loads {lines:,.0f}-fold. The largest error against a float64 product of the same "
        "elements is {error:.1e}; data hazards reported: {hazards:,d}."
    ),
    needs={"counts": "counts"},
    parameters=("small_n",),
)
COUNTERS = (
    "race_count",
    "warp_instr",
    "gld_instr",
    "ldgsts_instr",
    "gld_lines",
    "gld_sectors",
    "gst_instr",
    "gst_lines",
    "gst_sectors",
    "smem_instr",
    "lds_wavefronts",
    "sts_wavefronts",
    "ideal_smem_wavefronts",
    "ldmatrix_instr",
    "ldmatrix_wavefronts",
    "mma_instr",
    "barriers",
)
COLUMNS = (
    Column("kernel_name", "kernel"),
    Column("n", "n", "", "d"),
    Column("max_abs_error", "largest error", "", ".1e"),
    Column("race_count", "hazards", "", ",d"),
    Column("warp_instr", "warp instructions", "", ",d"),
    Column("gld_instr", "global load instructions", "", ",d"),
    Column("ldgsts_instr", "asynchronous copies", "", ",d"),
    Column("gld_lines", "global load lines", "", ",d"),
    Column("gld_sectors", "global load sectors", "", ",d"),
    Column("gst_instr", "global store instructions", "", ",d"),
    Column("gst_lines", "global store lines", "", ",d"),
    Column("gst_sectors", "global store sectors", "", ",d"),
    Column("smem_instr", "shared instructions", "", ",d"),
    Column("lds_wavefronts", "shared load wavefronts", "", ",d"),
    Column("sts_wavefronts", "shared store wavefronts", "", ",d"),
    Column("ideal_smem_wavefronts", "shared wavefronts without conflicts", "", ",d"),
    Column("ldmatrix_instr", "matrix loads", "", ",d"),
    Column("ldmatrix_wavefronts", "of the load wavefronts, those of matrix loads", "", ",d"),
    Column("mma_instr", "tensor-core instructions", "", ",d"),
    Column("barriers", "barriers", "", ",d"),
)


def table(counts: xr.Dataset, small_n: int) -> pd.DataFrame:
    """Tabulate the counters at one size, one row per kernel.

    Parameters
    ----------
    counts : (kernel, n)
        The store of that name.
    small_n
        Simulated size. A kernel that does not take it is shown at the next one that it takes.
    """
    sizes = taken(counts["simulated"], small_n)
    return by_kernel(
        counts[["max_abs_error", "fma", *COUNTERS]].sel(kernel=sizes["kernel"], n=sizes)
    )


def facts(counts: xr.Dataset, small_n: int, say: Say) -> dict[str, float | str]:
    """How far counts fall from the first kernel to the last, and whether results are right."""
    frame = table(counts, small_n)
    first, last = frame.iloc[0], frame.iloc[-1]
    per_fma = frame[["warp_instr", "gld_lines"]].div(frame["fma"], axis=0)
    falls = per_fma.iloc[0] / per_fma.iloc[-1]
    return {
        "n": small_n,
        "sizes": with_exceptions(small_n, taken(counts["simulated"], small_n), say),
        "first_name": first["kernel_name"],
        "last_name": last["kernel_name"],
        "instructions": falls["warp_instr"],
        "lines": falls["gld_lines"],
        "error": frame["max_abs_error"].max(),
        "hazards": int(frame["race_count"].sum()),
    }
