"""What a launch uses up, and how fast a GPU provides it.

A resource is one entry of ``RESOURCES``. Another one (L2, say) is another entry: the
formula and everything after it stay as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add, mul

import xarray as xr

from pipeline.vocab.variable import Variable


@dataclass(frozen=True)
class Resource:
    """Something that a launch needs an amount of and a GPU has a rate of.

    Attributes
    ----------
    id
        Short name: its time is the variable ``t_<id>``, and ``bound`` holds it.
    name
        What is used up, as shown to readers.
    demand
        Counters (or ``dram_bytes``) that it sums, each with the units it takes per event; events of
        a counter that are among those of another are taken off.
    rate
        Figures of the GPU whose product is the units it provides per second.
    """

    id: str
    name: str
    demand: Mapping[str, int]
    rate: tuple[str, ...]

    @property
    def variable(self) -> Variable:
        """How ``t_<id>`` is labelled in a store."""
        return Variable("s", f"time if {self.name} alone set the pace")

    def time(self, demands: xr.Dataset, gpus: xr.Dataset) -> xr.DataArray:
        """Time (s) that the resource alone would take: demand over rate, broadcast."""
        amount = reduce(add, (demands[name] * weight for name, weight in self.demand.items()))
        return amount / reduce(mul, (gpus[name] for name in self.rate))


# On a tie the resource that stands first is said to bind.
RESOURCES = (
    Resource(
        "fma",
        "FP32 multiply-adds",
        {"fma": 1, "mma_fma": -1},
        ("sm_count", "fp32_lanes_per_sm", "clock_hz"),
    ),
    Resource("tensor", "tensor-core multiply-adds", {"mma_fma": 2}, ("peak_tensor_fp16_flops",)),
    Resource(
        "issue",
        "warp instruction issue",
        {"warp_instr": 1},
        ("sm_count", "issue_per_clk", "clock_hz"),
    ),
    Resource(
        "l1",
        "L1 cache lines",
        {"gld_lines": 1, "gst_lines": 1, "gatom_lines": 1},
        ("sm_count", "l1_lines_per_clk", "clock_hz"),
    ),
    Resource(
        "smem",
        "shared-memory wavefronts",
        {"lds_wavefronts": 1, "sts_wavefronts": 1, "satom_wavefronts": 1},
        ("sm_count", "smem_wavefronts_per_clk", "clock_hz"),
    ),
    Resource("dram", "DRAM traffic", {"dram_bytes": 1}, ("dram_bandwidth",)),
)
