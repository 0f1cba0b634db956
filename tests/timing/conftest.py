from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def gpus():
    """The figures that the lecture types for its three GPUs."""
    figures = {
        "sm_count": [84, 132, 108],
        "fp32_lanes_per_sm": [128, 128, 64],
        "clock_hz": [1.80e9, 1.98e9, 1.41e9],
        "dram_bandwidth": [768e9, 3.35e12, 1.555e12],
        "peak_tensor_fp16_flops": [154.8e12, 989.4e12, 312e12],
        "issue_per_clk": [4, 4, 4],
        "l1_lines_per_clk": [1, 1, 1],
        "smem_wavefronts_per_clk": [1, 1, 1],
    }
    return xr.Dataset(
        {name: ("gpu", values, {"source": "lecture"}) for name, values in figures.items()},
        coords={
            "gpu": ["rtx_a6000", "h100_sxm", "a100_sxm_40gb"],
            "gpu_name": ("gpu", ["RTX A6000", "H100 SXM", "A100 40GB"]),
            "compute_capability": ("gpu", ["8.6", "9.0", "8.0"]),
        },
    )


@pytest.fixture
def counts():
    """The lecture's counters at n = 128, scaled to n = 4096 by multiply-adds."""
    table = pd.read_csv(DATA / "reference_counters.csv", comment="#")
    base = table[table["n"] == 128].set_index("kernel").drop(columns="n")
    scaled = base.div(base["fma"], axis=0) * 4096.0**3
    # The lecture's kernels have no atomics and use no tensor cores.
    scaled = scaled.assign(gatom_lines=0.0, satom_wavefronts=0.0, mma_fma=0.0)
    counters = xr.Dataset.from_dataframe(scaled).expand_dims(
        {"n": [4096], "method": ["per_fma"]}, axis=(1, 2)
    )
    return counters.assign_coords(
        kernel_number=("kernel", np.arange(1, 7)),
        kernel_label=("kernel", [f"k{number}" for number in range(1, 7)]),
    )


@pytest.fixture
def occupancy(counts, gpus):
    """Resident blocks per SM, worked out by hand from threads and registers.

    1024 threads: one block of 1536 threads on the A6000, two of 2048 on the others, but only one
    with 40 registers (k03). k04: 48 x 512 registers, k05 and k06: 128 x 256, two blocks of 65536.
    """
    blocks = [[1, 2, 2], [1, 2, 2], [1, 1, 1], [2, 2, 2], [2, 2, 2], [2, 2, 2]]
    tile = [32, 32, 32, 64, 128, 128]
    return xr.Dataset(
        {
            "blocks_per_sm": (("kernel", "gpu"), blocks),
            "tile_m": ("kernel", tile),
            "tile_n": ("kernel", tile),
            "element_bytes": ("kernel", [4] * len(tile)),
        },
        coords={"kernel": counts.kernel.to_numpy(), "gpu": gpus.gpu.to_numpy()},
    )
