"""Triton-style programs: what they move, beside CUDA-style kernels of the same product."""

import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel
from pipeline.render.column import Column
from pipeline.words import message

ARTIFACT = Artifact(
    id="block_programs",
    lecture=10,
    title="Block programs at n = {n}",
    caption=(
        "What Triton-style programs ask of memory at n = {n}, and below them CUDA-style kernels of "
        "the ladder. Both products are in FP32: {program} moves {bytes:.2f} times the bytes of "
        "{kernel} and touches {sectors:.2f} times its sectors, but says so in {said:,d} loads and "
        "stores of blocks where {kernel} issues {issued:,d} warp instructions. Bytes of all "
        "{programs} programs are {agree} counted by hand. Largest error against float64: "
        "{error:.1e}; stores of different values to one element: {hazards:,d}."
    ),
    needs={"programs": "block_programs", "counts": "counts"},
    parameters=("second_n",),
)
COLUMNS = (
    Column("name", "program or kernel"),
    Column("instances", "programs or blocks", "", ",d"),
    Column("accesses", "loads, stores and atomics", "", ",d"),
    Column("moved_bytes", "bytes asked for", "KiB", ",.4g", units.to_kibibytes),
    Column("load_sectors", "sectors loaded", "", ",d"),
    Column("other_sectors", "sectors stored and atomic", "", ",d"),
    Column("matrix_flops", "work of products", "GFLOP", ",.3g", units.to_giga),
)
PRODUCT = "matmul"
# Where the ladder stands for two ways to share work: among threads, and among warps.
LADDER = ("k06_vectorized", "k10_warptiled")
# Products have no atomics.
ACCESSES = ("gld_instr", "ldgsts_instr", "gst_instr")
MOVED = ("load_bytes", "store_bytes", "atomic_bytes")


def table(programs: xr.Dataset, counts: xr.Dataset, second_n: int) -> pd.DataFrame:
    """Tabulate block programs, then kernels of the ladder, at one size.

    Parameters
    ----------
    programs : (program, n)
        The store ``block_programs``.
    counts : (kernel, n)
        The store of that name.
    second_n
        Size at which both were counted.
    """
    return pd.concat([_programs(programs, second_n), _kernels(counts, second_n)], ignore_index=True)


def _programs(programs: xr.Dataset, n: int) -> pd.DataFrame:
    frame = programs.sel(n=n).to_dataframe().reset_index()
    return pd.DataFrame(
        {
            "id": frame["program"],
            "name": frame["program_label"],
            "instances": frame["programs"],
            "accesses": frame[["loads", "stores", "atomics"]].sum(axis=1),
            "moved_bytes": frame[list(MOVED)].sum(axis=1),
            "load_sectors": frame["load_sectors"],
            "other_sectors": frame["store_sectors"] + frame["atomic_sectors"],
            "matrix_flops": frame["dot_flops"],
        }
    )


def _kernels(counts: xr.Dataset, n: int) -> pd.DataFrame:
    """Kernels that were simulated at the size: those of :data:`LADDER`, or the last one."""
    there = counts["kernel"].to_numpy()[counts["simulated"].sel(n=n).to_numpy()]
    shown = [kernel for kernel in LADDER if kernel in there] or list(there[-1:])
    frame = by_kernel(counts.sel(n=n, kernel=shown))
    return pd.DataFrame(
        {
            "id": frame["kernel"],
            "name": frame["kernel_name"],
            "instances": frame["blocks"],
            "accesses": frame[list(ACCESSES)].sum(axis=1),
            "moved_bytes": frame["g_bytes_requested"],
            "load_sectors": frame["gld_sectors"],
            "other_sectors": frame["gst_sectors"],
            "matrix_flops": 2 * frame["fma"],
        }
    )


def facts(programs: xr.Dataset, counts: xr.Dataset, second_n: int) -> dict[str, float | str]:
    """Compare the two products, and say whether programs do what was counted by hand."""
    frame = table(programs, counts, second_n)
    ours = frame[frame["id"] == PRODUCT].iloc[0]
    theirs = frame.iloc[-1]
    touched = [one["load_sectors"] + one["other_sectors"] for one in (ours, theirs)]
    shown = programs.sel(n=second_n)
    agree = all(
        (shown[name] == shown[f"expected_{name}"]).all() for name in ("load_bytes", "store_bytes")
    )
    return {
        "n": second_n,
        "program": ours["name"],
        "kernel": theirs["name"],
        "bytes": ours["moved_bytes"] / theirs["moved_bytes"],
        "sectors": touched[0] / touched[1],
        "said": int(ours["accesses"]),
        "issued": int(theirs["accesses"]),
        "programs": programs.sizes["program"],
        "agree": message("those") if agree else message("not those"),
        "error": float(shown["max_abs_error"].max()),
        "hazards": int(shown["hazards"].sum()),
    }
