"""What the compiler makes of the ladder: registers, widths of loads, instructions per FFMA."""

import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import name, tag
from pipeline.artifacts.machine_code import counted, shown_architecture
from pipeline.render.column import Column
from pipeline.words import Say, listed, message

ARTIFACT = Artifact(
    id="compiled",
    lecture=10,
    title="The ladder as compiled",
    caption=(
        "Machine code of every kernel for {arch} at n = {n}, counted without a GPU. The compiler "
        "needs {fewest} to {most} registers per thread; the lecture's assumption is within {off} "
        "of it, worst for {worst}. Where it can prove alignment, it widens the single loads of "
        "shared memory that the source has: {widened} read more than one word per load. For one "
        "multiply-add of every lane of a warp {first} issues {first_all:.1f} instructions and "
        "{last} {last_all:.2f}; what is no multiply-add is memory, addresses and loop control."
    ),
    needs={"counts": "compiled_counts", "gpus": "gpus"},
    parameters=("gpu", "large_n"),
)
WARP = 32
PER_FMA = {
    "all": None,
    "shared": ("load_shared", "store_shared"),
    "global": ("load_global", "store_global", "copy"),
    "address": ("integer", "uniform", "move", "constant", "compare"),
    "control": ("control", "barrier", "warp"),
}
COLUMNS = (
    Column("kernel_name", "kernel"),
    Column("assumed", "registers assumed", "", ".0f"),
    Column("registers", "registers compiled", "", ".0f"),
    Column("lds_words", "words per shared load", "", ".2f"),
    Column("gld_words", "words per global load", "", ".2f"),
    Column("all", "instructions per multiply-add", "", ".3f"),
    Column("shared", "of them shared memory", "", ".3f"),
    Column("global", "global memory", "", ".4f"),
    Column("address", "integers and moves", "", ".3f"),
    Column("control", "branches and barriers", "", ".4f"),
)
# The source of these asks for 32-bit loads of shared memory only.
NARROW = ("k03", "k04", "k05", "k08")


def table(counts: xr.Dataset, gpus: xr.Dataset, gpu: str, large_n: int) -> pd.DataFrame:
    """Tabulate registers, widths and instructions per warp multiply-add, a row per kernel.

    Parameters
    ----------
    counts : (kernel, arch, n)
        The store ``compiled_counts``.
    gpus : (gpu)
        The store of that name.
    gpu
        GPU whose architecture is shown.
    large_n
        Size of the matrices.
    """
    here = counted(counts, gpus, gpu, large_n)
    mix = here["instructions"] / (here["fma"] / WARP)
    columns = {
        part: mix.sum("opcode_class") if classes is None else
        mix.sel(opcode_class=list(classes)).sum("opcode_class")
        for part, classes in PER_FMA.items()
    }  # fmt: skip
    kernels = here["kernel"].to_numpy().tolist()
    labels = here["kernel_label"].to_numpy().tolist()
    frame = pd.DataFrame({"kernel": kernels})
    frame["kernel_name"] = [name(*one) for one in zip(kernels, labels, strict=True)]
    frame["assumed"] = here["registers_assumed"].to_numpy()
    for column in ("registers", "lds_words", "gld_words"):
        frame[column] = here[column].to_numpy()
    for column, values in columns.items():
        frame[column] = values.to_numpy()
    return frame


def facts(
    counts: xr.Dataset, gpus: xr.Dataset, gpu: str, large_n: int, say: Say
) -> dict[str, float | str]:
    """Say how far the assumed registers are off, and whose loads are wider than written."""
    frame = table(counts, gpus, gpu, large_n)
    off = (frame["registers"] - frame["assumed"]).abs()
    tags = frame["kernel"].map(tag)
    wide = tags[(frame["lds_words"] > 1) & tags.isin(NARROW)]
    return {
        "arch": shown_architecture(counts, gpus, gpu),
        "n": large_n,
        "fewest": int(frame["registers"].min()),
        "most": int(frame["registers"].max()),
        "off": int(off.max()),
        "worst": str(tags.iloc[int(off.to_numpy().argmax())]),
        "widened": listed(wide.to_list(), say) or message("none"),
        "first": tags.iloc[0],
        "first_all": frame["all"].iloc[0],
        "last": tags.iloc[-1],
        "last_all": frame["all"].iloc[-1],
    }
