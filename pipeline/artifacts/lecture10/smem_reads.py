"""How often a thread reads shared memory per multiply-add, counted and as published."""

import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel, taken, with_exceptions
from pipeline.render.column import Column
from pipeline.words import Say, message

ARTIFACT = Artifact(
    id="smem_reads",
    lecture=10,
    title="Reads of shared memory per multiply-add",
    caption=(
        "Load instructions from shared memory per multiply-add of a thread, counted at n = "
        "{sizes}: the more results a thread computes, the more often it uses what it has read. "
        "{trend} {met} of {claimed} published values are met exactly. Where one instruction brings "
        "several values there are fewer instructions for the same values; wavefronts say what "
        "shared memory has to deliver."
    ),
    needs={"counts": "counts", "claims": "claimed_reads"},
    parameters=("small_n",),
)
COLUMNS = (
    Column("kernel_name", "kernel"),
    Column("n", "n", "", "d"),
    Column("loads_per_fma", "loads per multiply-add", "", ".5g"),
    Column("reads_per_fma", "published", "", ".5g"),
    Column("ratio", "counted / published", "", ".3g"),
    Column("wavefronts_per_fma", "wavefronts per multiply-add of a warp", "", ".5g"),
    Column("claim", "as published"),
    Column("source", "source"),
)
WARP = 32
NO_TREND = message("No kernel reads shared memory.")


def table(counts: xr.Dataset, claims: xr.Dataset, small_n: int) -> pd.DataFrame:
    """Compare counted and published reads, one row per kernel that reads shared memory.

    Parameters
    ----------
    counts : (kernel, n)
        The store of that name.
    claims : (kernel,)
        The store ``claimed_reads``.
    small_n
        Simulated size. A kernel that does not take it is shown at the next one that it takes.
    """
    sizes = taken(counts["simulated"], small_n)
    counters = ["lds_instr", "ldmatrix_instr", "lds_wavefronts", "fma"]
    frame = by_kernel(counts[counters].sel(kernel=sizes["kernel"], n=sizes))
    loads = frame["lds_instr"] + frame["ldmatrix_instr"]
    # Whole warps load and multiply, so the ratio of their instructions is that of a thread. A mma
    # stands for as many multiply-adds as 64 FFMA.
    of_warps = frame["fma"] / WARP
    frame["loads_per_fma"] = loads / of_warps
    frame["wavefronts_per_fma"] = frame["lds_wavefronts"] / of_warps
    frame = frame[loads > 0]
    frame = frame.merge(claims.to_dataframe().reset_index(), how="left", on="kernel")
    frame["ratio"] = frame["loads_per_fma"] / frame["reads_per_fma"]
    return frame


def facts(counts: xr.Dataset, claims: xr.Dataset, small_n: int, say: Say) -> dict[str, float | str]:
    """How far loads fall along the ladder, and how many published values are met."""
    frame = table(counts, claims, small_n)
    trend = NO_TREND
    if len(frame):
        most = frame.iloc[frame["loads_per_fma"].argmax()]
        least = frame.iloc[frame["loads_per_fma"].argmin()]
        fold = most["loads_per_fma"] / least["loads_per_fma"]
        trend = say(
            "They go from {most:.4g} ({most_name}) down to {least:.4g} ({least_name}), "
            "{fold:.1f}-fold."
        ).format(
            most=most["loads_per_fma"],
            most_name=say(most["kernel_name"]),
            least=least["loads_per_fma"],
            least_name=say(least["kernel_name"]),
            fold=fold,
        )
    return {
        "sizes": with_exceptions(small_n, taken(counts["simulated"], small_n), say),
        "trend": trend,
        "met": int((frame["ratio"] == 1).sum()),
        "claimed": int(frame["ratio"].notna().sum()),
    }
