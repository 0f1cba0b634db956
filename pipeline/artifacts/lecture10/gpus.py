"""The GPUs and where their figures come from."""

import pandas as pd
import xarray as xr

from pipeline import units
from pipeline.artifacts.artifact import Artifact
from pipeline.render.column import Column

ARTIFACT = Artifact(
    id="gpus",
    lecture=10,
    title="The GPUs",
    caption=(
        "The GPUs that the ladder is predicted on, per SM and as a whole, from the documents in "
        "the last column. To reach its FP32 peak a kernel must do {lowest:.0f} to {highest:.0f} "
        "FLOP for every byte of DRAM traffic, depending on the GPU, and to reach the dense peak of "
        "its tensor cores, halves summed in FP32, {tensor_lowest:.0f} to {tensor_highest:.0f}."
    ),
    needs={"gpus": "gpus"},
)
COLUMNS = (
    Column("gpu_name", "GPU"),
    Column("compute_capability", "capability"),
    Column("sm_count", "SMs", "", "d"),
    Column("fp32_lanes_per_sm", "FP32 lanes per SM", "", "d"),
    Column("clock_hz", "clock", "GHz", ".2f", units.to_giga),
    Column("peak_fp32_flops", "FP32 peak", "TFLOP/s", ".1f", units.to_tera),
    Column("peak_tensor_fp16_flops", "tensor peak", "TFLOP/s", ",.1f", units.to_tera),
    Column("dram_bandwidth", "DRAM bandwidth", "GB/s", ",.0f", units.to_giga),
    Column("flop_per_byte", "FP32 peak over bandwidth", "FLOP/B", ".1f"),
    Column("tensor_per_byte", "tensor peak over bandwidth", "FLOP/B", ".1f"),
    Column("l2_bytes", "L2", "MiB", ".0f", units.to_mebibytes),
    Column("smem_per_sm", "shared memory per SM", "KiB", ".0f", units.to_kibibytes),
    Column("registers_per_sm", "registers per SM", "", ",d"),
    Column("max_warps_per_sm", "warps per SM", "", "d"),
    Column("max_blocks_per_sm", "blocks per SM", "", "d"),
    Column("sources", "sources"),
)
FIGURES = (
    "sm_count",
    "fp32_lanes_per_sm",
    "clock_hz",
    "peak_fp32_flops",
    "peak_tensor_fp16_flops",
    "dram_bandwidth",
    "l2_bytes",
    "smem_per_sm",
    "registers_per_sm",
    "max_warps_per_sm",
    "max_blocks_per_sm",
)


def table(gpus: xr.Dataset) -> pd.DataFrame:
    """Tabulate the figures of every GPU, one row per GPU.

    Parameters
    ----------
    gpus : (gpu)
        The store of that name.
    """
    frame = gpus[list(FIGURES)].to_dataframe().reset_index()
    frame["flop_per_byte"] = frame["peak_fp32_flops"] / frame["dram_bandwidth"]
    frame["tensor_per_byte"] = frame["peak_tensor_fp16_flops"] / frame["dram_bandwidth"]
    frame["sources"] = ["; ".join(sources(gpus, gpu)) for gpu in frame["gpu"]]
    return frame


def sources(gpus: xr.Dataset, gpu: str) -> list[str]:
    """Name the documents behind the figures that are shown, each once, in the order of use."""
    cited = [gpus[figure].attrs.get(f"source_{gpu}", "") for figure in FIGURES]
    # A place in a document that begins like another one says the same and more.
    return [
        source
        for source in dict.fromkeys(filter(None, cited))
        if not any(other != source and other.startswith(source) for other in cited)
    ]


def facts(gpus: xr.Dataset) -> dict[str, float]:
    """Lowest and highest FLOP per byte at which compute and DRAM are in balance."""
    frame = table(gpus)
    balance, tensor = frame["flop_per_byte"], frame["tensor_per_byte"]
    return {
        "lowest": balance.min(),
        "highest": balance.max(),
        "tensor_lowest": tensor.min(),
        "tensor_highest": tensor.max(),
    }
