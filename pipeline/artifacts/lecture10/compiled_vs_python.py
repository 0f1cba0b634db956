"""Counters of machine code beside those of the Python kernels: what the compiler changes."""

import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import name, tag
from pipeline.artifacts.machine_code import counted, shown_architecture
from pipeline.render.column import Column
from pipeline.vocab.counters import COUNTERS
from pipeline.words import Say, english, message, retold

ARTIFACT = Artifact(
    id="compiled_vs_python",
    lecture=10,
    title="What the compiler changes",
    caption=(
        "Counters of the Python kernels and of their CUDA twins compiled for {arch}, n = {n}. Of "
        "{compared} counters {differing} differ; each is listed with the reason, the others are "
        "equal. Instructions grow most for {grown}, {growth:.2f} times; shared loads fall most for "
        "{fallen}, to {fall:.2f} of what the source asks for."
    ),
    needs={"counts": "compiled_counts", "extrapolation": "extrapolation", "gpus": "gpus"},
    parameters=("gpu", "large_n"),
)
COLUMNS = (
    Column("kernel_name", "kernel"),
    Column("meaning", "counter"),
    Column("python", "Python kernel", "", ",.0f"),
    Column("compiled", "compiled", "", ",.0f"),
    Column("ratio", "compiled / Python", "", ".3f"),
    Column("why", "why"),
)
COMPARED = (
    "warp_instr", "ffma_instr", "gld_instr", "gld_sectors", "gld_lines", "gst_instr", "gst_sectors",
    "lds_instr", "lds_wavefronts", "sts_instr", "sts_wavefronts", "ldgsts_instr", "barriers",
)  # fmt: skip
EXACT = 1e-9
_MORE = message("address arithmetic, loop control and moves are instructions too")
_LESS = message("wider loads save more instructions than addresses, loops and moves add")
_WIDE = message("the compiler proves alignment and reads several words by one load")
_AGAIN = message("the compiler reads some words again instead of keeping them in registers")
_RULES = message("the hardware rule: lanes that pair up on equal addresses are served together")
_BOTH = message("{first}; {second}")
_TOGETHER = message("the compiler moves other words together")


def table(
    counts: xr.Dataset,
    extrapolation: xr.Dataset,
    gpus: xr.Dataset,
    gpu: str,
    large_n: int,
    say: Say = english,
) -> pd.DataFrame:
    """Tabulate the counters that differ, a row per kernel and counter.

    Parameters
    ----------
    counts : (kernel, arch, n)
        The store ``compiled_counts``.
    extrapolation : (kernel, n, method)
        The store of that name: counts of the Python kernels.
    gpus : (gpu)
        The store of that name.
    gpu
        GPU whose architecture is shown.
    large_n
        Size of the matrices.
    say
        Language of the reasons.
    """
    frame = _compared(counts, extrapolation, gpus, gpu, large_n)
    differ = (frame["compiled"] - frame["python"]).abs() > EXACT * frame["python"]
    frame["why"] = [retold(why, (_BOTH,), say) for why in frame["why"]]
    return frame[differ].reset_index(drop=True)


def _compared(
    counts: xr.Dataset, extrapolation: xr.Dataset, gpus: xr.Dataset, gpu: str, large_n: int
) -> pd.DataFrame:
    compiled = counted(counts, gpus, gpu, large_n)
    kernels = [
        one for one in compiled["kernel"].to_numpy().tolist()
        if one in extrapolation["kernel"].to_numpy()
    ]  # fmt: skip
    python = extrapolation.sel({"kernel": kernels, "n": large_n, "method": "polynomial"})
    rows = []
    for kernel in kernels:
        here, there = compiled.sel(kernel=kernel), python.sel(kernel=kernel)
        widened = float(here["lds_instr"]) < float(there["lds_instr"])
        for counter in COMPARED:
            before, after = float(there[counter]), float(here[counter])
            if before or after:
                rows.append(
                    {
                        "kernel": kernel,
                        "kernel_name": name(kernel, str(here["kernel_label"].item())),
                        "counter": counter,
                        "meaning": COUNTERS[counter].long_name.split(":")[0],
                        "python": before,
                        "compiled": after,
                        "ratio": after / before if before else float("nan"),
                        "why": _why(counter, before, after, widened),
                    }
                )
    return pd.DataFrame(rows)


def _why(counter: str, before: float, after: float, widened: bool) -> str:
    """Say why a counter differs."""
    if counter == "warp_instr":
        return _MORE if after > before else _LESS
    if counter == "lds_instr":
        return _WIDE if after < before else _AGAIN
    if counter == "lds_wavefronts":
        return _BOTH.format(first=_WIDE, second=_RULES) if widened else _RULES
    if counter == "sts_wavefronts":
        return _RULES
    return _TOGETHER if after < before else _AGAIN


def facts(
    counts: xr.Dataset, extrapolation: xr.Dataset, gpus: xr.Dataset, gpu: str, large_n: int
) -> dict[str, float | str]:
    """Say how much differs, and where most."""
    every = _compared(counts, extrapolation, gpus, gpu, large_n)
    differing = table(counts, extrapolation, gpus, gpu, large_n)
    issued = every[every["counter"] == "warp_instr"].set_index("kernel")["ratio"]
    loads = every[every["counter"] == "lds_instr"].set_index("kernel")["ratio"]
    return {
        "arch": shown_architecture(counts, gpus, gpu),
        "n": large_n,
        "compared": len(every),
        "differing": len(differing),
        "grown": tag(str(issued.idxmax())),
        "growth": issued.max(),
        "fallen": tag(str(loads.idxmin())),
        "fall": loads.min(),
    }
