"""What kinds of instructions the user's own compiled kernels issue, and what they need."""

import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.render.column import Column
from pipeline.words import Say, listed, together

ARTIFACT = Artifact(
    id="own_cuda_mix",
    lecture=10,
    title="Instructions of compiled kernels of your own",
    caption=(
        "Registers and shared memory as the compiler allots them, and shares of all warp "
        "instructions. {story}"
    ),
    needs={"counts": "own/cuda_counts"},
)
WARP = 32
PARTS = {
    "fp32": ("fma",),
    "other_math": ("half", "double", "tensor", "special", "convert"),
    "integer": ("integer", "compare"),
    "moves": ("move", "uniform", "constant"),
    "global": ("load_global", "store_global", "copy"),
    "shared": ("load_shared", "store_shared"),
    "local": ("local",),
    "atomic": ("atomic",),
    "control": ("control", "barrier", "warp"),
}
COLUMNS = (
    Column("kernel_label", "kernel"),
    Column("arch", "code for"),
    Column("registers", "registers per thread", "", ".0f"),
    Column("smem_bytes", "shared memory", "B", ",.0f"),
    Column("local_bytes", "local memory per thread", "B", ",.0f"),
    Column("warp_instr", "warp instructions", "", ",.0f"),
    Column("lanes", "active lanes per instruction", "", ".1f"),
    Column("fp32", "FP32", "", ".1%"),
    Column("other_math", "other arithmetic", "", ".1%"),
    Column("integer", "integers and comparisons", "", ".1%"),
    Column("moves", "moves and constants", "", ".1%"),
    Column("global", "global memory", "", ".1%"),
    Column("shared", "shared memory", "", ".1%"),
    Column("local", "local memory", "", ".1%"),
    Column("atomic", "atomics", "", ".1%"),
    Column("control", "control and barriers", "", ".1%"),
)


def table(counts: xr.Dataset) -> pd.DataFrame:
    """Tabulate needs and the mix of instructions, one row per kernel and architecture.

    Parameters
    ----------
    counts : (kernel, arch)
        The store ``own/cuda_counts``.
    """
    issued = counts["warp_instr"]
    shares = {
        part: counts["instructions"].sel(opcode_class=list(classes)).sum("opcode_class") / issued
        for part, classes in PARTS.items()
    }
    shown = counts[["registers", "smem_bytes", "local_bytes", "warp_instr"]].assign(
        shares | {"lanes": counts["thread_instr"] / issued}
    )
    frame = shown.where(counts["counted"]).to_dataframe().reset_index()
    frame = frame.dropna(subset="warp_instr").sort_values("kernel_number", kind="stable")
    return frame[["kernel", *(column.field for column in COLUMNS)]].reset_index(drop=True)


def facts(counts: xr.Dataset, say: Say) -> dict[str, str]:
    """Say what is conspicuous; ``counts`` as in :func:`table`."""
    frame = table(counts)
    spilled = frame.loc[frame["local"] > 0, "kernel_label"].unique()
    idle = frame.nsmallest(1, "lanes").iloc[0]
    told = [
        say("In {kernel} for {arch} {active:.1f} of {lanes} lanes are active on average.").format(
            kernel=say(idle["kernel_label"]), arch=idle["arch"], active=idle["lanes"], lanes=WARP
        )
        if idle["lanes"] < WARP
        else say("All lanes of all warps are active throughout.")
    ]
    if len(spilled):
        names = listed([say(one) for one in spilled], say)
        local = say("Local memory, of arrays or spilled registers: {kernels}.")
        told.append(local.format(kernels=names))
    return {"story": together(told, say)}
