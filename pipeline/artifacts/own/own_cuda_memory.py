"""What the user's own compiled kernels ask of memory: requests, sectors, wavefronts and ideals."""

import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact
from pipeline.render.column import Column
from pipeline.words import Say, message

ARTIFACT = Artifact(
    id="own_cuda_memory",
    lecture=10,
    title="Memory accesses of compiled kernels of your own",
    caption=(
        "A request is one access of a warp. The closer its lanes lie together, the fewer 32-byte "
        "sectors of global and local memory it touches; the ideal is what the same bytes fill. "
        "Wavefronts of shared memory beyond the ideal are bank conflicts. {story}"
    ),
    needs={"memory": "own/cuda_memory"},
)
COLUMNS = (
    Column("kernel_label", "kernel"),
    Column("arch", "code for"),
    Column("access", "access"),
    Column("requests", "requests", "", ",.0f"),
    Column("sectors", "sectors", "", ",.0f"),
    Column("ideal_sectors", "ideal", "", ",.0f"),
    Column("sectors_per_request", "sectors per request", "", ".2f"),
    Column("lines", "lines", "", ",.0f"),
    Column("wavefronts", "wavefronts", "", ",.0f"),
    Column("ideal_wavefronts", "ideal", "", ",.0f"),
    Column("wavefronts_per_request", "wavefronts per request", "", ".2f"),
)


def table(memory: xr.Dataset) -> pd.DataFrame:
    """Tabulate accesses, one row per kernel, architecture and kind of access.

    Parameters
    ----------
    memory : (row,)
        The store ``own/cuda_memory``.
    """
    frame = per_request(memory.to_dataframe())
    return frame[["kernel", *(column.field for column in COLUMNS)]].reset_index(drop=True)


def per_request(frame: pd.DataFrame) -> pd.DataFrame:
    """Add what a request takes; leave out what a kind of memory has not.

    Parameters
    ----------
    frame
        The columns of :func:`pipeline.counting.memory_kinds.memory_kinds`.
    """
    frame = frame.copy()
    for what in ("sectors", "wavefronts"):
        used = frame[what] > 0
        # Shared memory has no sectors, global memory no wavefronts of this kind.
        frame[f"{what}_per_request"] = (frame[what] / frame["requests"]).where(used)
        frame[f"ideal_{what}"] = frame[f"ideal_{what}"].astype(float).where(used)
        frame[what] = frame[what].astype(float).where(used)
    frame["lines"] = frame["lines"].astype(float).where(frame["sectors"].notna())
    return frame


def facts(memory: xr.Dataset, say: Say) -> dict[str, str]:
    """Name the accesses that waste most; ``memory`` as in :func:`table`."""
    frame = table(memory)
    told = []
    for what, template in (
        ("sectors", say("{access} of {kernel} take {times:.3g} times the ideal sectors")),
        ("wavefronts", say("{access} of {kernel} take {times:.3g} times the ideal wavefronts")),
    ):
        worst = frame.assign(times=frame[what] / frame[f"ideal_{what}"]).nlargest(1, "times")
        told += [
            template.format(access=say(access), kernel=say(label), times=times)
            for access, label, times in zip(
                worst["access"], worst["kernel_label"], worst["times"], strict=True
            )
            if times > 1
        ]
    if not told:
        return {"story": message("All take the ideal number of both.")}
    return {"story": say("Worst: {accesses}.").format(accesses=say(" and ").join(told))}
