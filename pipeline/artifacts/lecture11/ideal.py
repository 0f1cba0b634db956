"""The time to read everything once, on every GPU."""

import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts.artifact import Artifact
from pipeline.render.column import Column

ARTIFACT = Artifact(
    id="ideal",
    lecture=11,
    title="Reading everything once",
    caption=(
        "No step of {model_name} at batch {batch} can be faster than its {bytes:.2f} GB take to "
        "read, each byte once: {fastest:.2f} ms on the {fastest_gpu}, {slowest:.2f} ms on the "
        "{slowest_gpu}. A weight that is read serves one multiply-add per sequence, which the "
        "arithmetic units do in passing: DRAM bandwidth alone sets this bound."
    ),
    needs={"timeline": "decode/timeline"},
    parameters=("model",),
)
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("dram_bandwidth", "DRAM bandwidth", "TB/s", ".3f", units.to_tera),
    Column("ideal_t", "ideal time", "ms", ".3f", units.to_milliseconds),
    Column("ideal_per_second", "most steps per second", "", ",.0f"),
)


def table(timeline: xr.Dataset, model: str) -> pd.DataFrame:
    """Tabulate the ideal time, one row per GPU.

    Parameters
    ----------
    timeline : (model, gpu, execution)
        The store ``decode/timeline``.
    model
        Model id.
    """
    # The ideal time is the same in every execution.
    one = timeline[["dram_bandwidth", "ideal_t"]].sel(model=model).isel(execution=0, drop=True)
    frame = one.to_dataframe().reset_index()
    frame["ideal_per_second"] = 1 / frame["ideal_t"]
    return frame[["gpu", *(column.field for column in COLUMNS)]]


def facts(timeline: xr.Dataset, model: str) -> dict[str, float | str]:
    """Say how much is read, and where that takes least and longest."""
    frame = table(timeline, model).sort_values("ideal_t")
    one = timeline.sel(model=model)
    return {
        "model_name": str(one["model_name"].item()),
        "batch": int(one["batch"]),
        "bytes": units.to_giga(float(one["bytes"])),
        "fastest": units.to_milliseconds(frame["ideal_t"].iloc[0]),
        "fastest_gpu": frame["gpu_name"].iloc[0],
        "slowest": units.to_milliseconds(frame["ideal_t"].iloc[-1]),
        "slowest_gpu": frame["gpu_name"].iloc[-1],
    }
