"""The ladder: how every kernel is launched."""

import numpy as np
import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts.artifact import Artifact
from pipeline.artifacts.ladder import by_kernel
from pipeline.render.column import Column
from pipeline.words import message

ARTIFACT = Artifact(
    id="kernels",
    lecture=10,
    title="The ladder",
    caption=(
        "How each kernel is launched. A thread of {most_name} computes {most:.0f} elements of C, "
        "a thread of {fewest_name} {fewest:.0f}: reuse moves from the caches into registers. "
        "Registers per thread are assumptions from accumulators, operands and addresses. "
        "A kernel takes every n that is a multiple of the last column."
    ),
    needs={"occupancy": "occupancy"},
)
COLUMNS = (
    Column("kernel_name", "kernel"),
    Column("threads_per_block", "threads per block", "", ",d"),
    Column("tile_m", "tile of C, rows", "", "d"),
    Column("tile_n", "tile of C, columns", "", "d"),
    Column("elements_per_thread", "elements of C per thread", "", ".0f"),
    Column("smem_bytes", "shared memory per block", "KiB", ".3g", units.to_kibibytes),
    Column("registers_per_thread", "registers per thread", "", "d"),
    Column("element_bytes", "element of A and B", "B", "d"),
    Column("capability", "needs compute capability"),
    Column("n_multiple", "n is a multiple of", "", "d"),
)
FACTS = (
    "threads_per_block",
    "tile_m",
    "tile_n",
    "smem_bytes",
    "registers_per_thread",
    "element_bytes",
    "capability_min",
)
MULTIPLES = ("multiple_m", "multiple_n", "multiple_k")


def table(occupancy: xr.Dataset) -> pd.DataFrame:
    """Tabulate the launch of every kernel, one row per kernel.

    Parameters
    ----------
    occupancy : (kernel, ...)
        The store of that name; of it the launch facts over (kernel).
    """
    frame = by_kernel(occupancy[[*FACTS, *MULTIPLES]])
    frame["elements_per_thread"] = frame["tile_m"] * frame["tile_n"] / frame["threads_per_block"]
    frame["capability"] = [
        f"{least // 10}.{least % 10}" if least else message("any")
        for least in frame["capability_min"]
    ]
    # A square matrix has m = n = k, so its size must suit all three.
    frame["n_multiple"] = np.lcm.reduce([frame[name] for name in MULTIPLES])
    return frame


def facts(occupancy: xr.Dataset) -> dict[str, float | str]:
    """Name the first kernels whose threads compute the fewest and the most elements of C."""
    elements = table(occupancy).set_index("kernel_name")["elements_per_thread"]
    return {
        "most_name": str(elements.idxmax()),
        "most": elements.max(),
        "fewest_name": str(elements.idxmin()),
        "fewest": elements.min(),
    }
