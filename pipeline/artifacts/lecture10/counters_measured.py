"""Simulated counters against those of a profiler, every difference explained."""

import pandas as pd
import xarray as xr

from pipeline.artifacts.artifact import Artifact, sentences
from pipeline.artifacts.ladder import name, tag
from pipeline.counting.nsight import DIGITS, LIMIT, METRICS, SENTENCES, STORE_WAVEFRONTS
from pipeline.render.column import Column
from pipeline.words import Say, listed, retold, together

LOAD_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
LOAD_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"

ARTIFACT = Artifact(
    id="counters_measured",
    lecture=10,
    title="Simulated and measured counters",
    caption=(
        "Counters that Nsight Compute took on {gpus} at n = {sizes} from kernels tiled as "
        "{kernels}, against the simulator with the hardware rule and with shared loads as wide as "
        "compilers make them. Wavefronts of shared loads agree within {loads:.3%}. The measured "
        "kernels also read C, which those of the ladder do not: with that, sectors of global loads "
        "agree within {sectors:.2%}. Shared stores take {least_stores:.1%} to {most_stores:.1%} "
        "more wavefronts than their addresses need. {equal} of {total} values are equal; the last "
        "column says where the others differ."
    ),
    needs={"comparison": "counters_measured", "gpus": "gpu_limits"},
)


def rounded(value: float) -> float:
    """Cut a ratio to the digits that the profiler prints; counts stay."""
    return round(value, DIGITS)


COLUMNS = (
    Column("kernel_name", "kernel"),
    Column("metric", "metric"),
    Column("counter", "stands for it"),
    Column("simulated", "simulated", "", ",.12g", rounded),
    Column("expected", "with the read of C", "", ",.12g", rounded),
    Column("measured", "measured", "", ",.12g"),
    Column("ratio", "simulated / measured", "", ".4f"),
    Column("deviation", "measured / with the read of C, less one", "", "+.4%"),
    Column("explained", "difference"),
)


def table(comparison: xr.Dataset, say: Say) -> pd.DataFrame:
    """Tabulate every measured value beside the model's, one row per kernel and metric.

    Parameters
    ----------
    comparison : (measurement,)
        The store ``counters_measured``.
    say
        Language of the differences.
    """
    frame = comparison.to_dataframe().reset_index(drop=True)
    names = zip(frame["kernel"], frame["kernel_label"], strict=True)
    frame.insert(0, "kernel_name", [name(kernel, label) for kernel, label in names])
    frame["explained"] = [
        together([retold(one, SENTENCES, say) for one in sentences(text)], say)
        for text in frame["explained"]
    ]
    frame["counter"] = [retold(one, (LIMIT,), say) for one in frame["counter"]]
    rank = {metric: rank for rank, metric in enumerate(METRICS)}
    frame["rank"] = frame["metric"].map(rank).fillna(len(rank))
    frame = frame.sort_values(["gpu", "n", "kernel", "rank", "metric"], ignore_index=True)
    shown = [column.field for column in COLUMNS]
    return frame[["gpu", "kernel", "n", "variant", *shown]]


def facts(comparison: xr.Dataset, gpus: xr.Dataset, say: Say) -> dict[str, float | str]:
    """How close the counters are, by kind, and how many are equal."""
    frame = table(comparison, say)
    names = gpus["gpu_name"].to_series()
    off = frame.set_index("metric")["deviation"]
    stores = off[off.index == STORE_WAVEFRONTS]
    compared = frame.dropna(subset="expected")
    printed = compared["expected"].map(rounded)
    return {
        "gpus": listed([names.get(gpu, gpu) for gpu in frame["gpu"].unique()], say),
        "sizes": listed([f"{n}" for n in frame["n"].unique()], say),
        "kernels": listed([tag(kernel) for kernel in frame["kernel"].unique()], say),
        "loads": off[off.index == LOAD_WAVEFRONTS].abs().max(),
        "sectors": off[off.index == LOAD_SECTORS].abs().max(),
        "least_stores": stores.min(),
        "most_stores": stores.max(),
        "equal": int((printed == compared["measured"]).sum()),
        "total": len(compared),
    }
