import numpy as np
import pytest
import xarray as xr

from pipeline.timing.resources import RESOURCES, Resource
from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.predictions import PREDICTIONS

BY_ID = {resource.id: resource for resource in RESOURCES}
DEMANDS = xr.Dataset(
    {
        "fma": 2,
        "mma_fma": 59,
        "warp_instr": 3,
        "gld_lines": 5,
        "gst_lines": 7,
        "lds_wavefronts": 11,
        "sts_wavefronts": 13,
        "dram_bytes": 17,
        "gatom_lines": 47,
        "satom_wavefronts": 53,
    }
)
FIGURES = xr.Dataset(
    {
        "sm_count": 19,
        "clock_hz": 23,
        "fp32_lanes_per_sm": 29,
        "issue_per_clk": 31,
        "l1_lines_per_clk": 37,
        "smem_wavefronts_per_clk": 41,
        "dram_bandwidth": 43,
        "peak_tensor_fp16_flops": 61,
    }
)


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [
        ("fma", (2 - 59) / (19 * 23 * 29)),
        ("tensor", 2 * 59 / 61),
        ("issue", 3 / (19 * 23 * 31)),
        ("l1", (5 + 7 + 47) / (19 * 23 * 37)),
        ("smem", (11 + 13 + 53) / (19 * 23 * 41)),
        ("dram", 17 / 43),
    ],
)
def test_time__every_term_by_hand(name, by_hand):
    # Distinct primes: no term can stand in for another.
    np.testing.assert_allclose(BY_ID[name].time(DEMANDS, FIGURES), by_hand, rtol=1e-15)


def test_time__weights_turn_events_into_units():
    l2 = Resource("l2", "L2 bytes", {"gld_lines": 32, "gst_lines": 128}, ("dram_bandwidth",))
    np.testing.assert_allclose(l2.time(DEMANDS, FIGURES), (5 * 32 + 7 * 128) / 43, rtol=1e-15)


def test_resources__stand_in_the_order_that_settles_ties():
    ids = ["fma", "tensor", "issue", "l1", "smem", "dram"]
    assert [resource.id for resource in RESOURCES] == ids


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.id)
def test_resources__are_published_in_the_vocabulary(resource):
    assert PREDICTIONS[f"t_{resource.id}"] == resource.variable
    assert set(resource.demand) <= COUNTERS.keys() | {"dram_bytes"}
