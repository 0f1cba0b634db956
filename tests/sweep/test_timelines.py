"""Swept timelines, point by point against the timeline of numbers."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from pipeline import store
from pipeline.decode.execution import Execution
from pipeline.decode.operations import step
from pipeline.decode.timeline import TimelineParams, timeline
from pipeline.decode.workload import Workload
from pipeline.region_store import RegionStore
from pipeline.sweep.execute import Limits, run
from pipeline.sweep.plan import Budget
from pipeline.sweep.progress import Progress
from pipeline.sweep.timeline_gain import timeline_gain
from pipeline.sweep.timelines import ORDER, TimelineSpace, timeline_sweep
from pipeline.vocab.sweeps import GAIN_PAIRS, TIMELINE_AXES
from tests.decode.generators import LLAMA, PLANS, PUBLISHED

AXES = {
    "launch": (0.0, 1.3e-6, 2.1e-6),
    "ramp": (0.5e-6, 2e-6),
    "small": (1e-6, 2e-6),
    "sync": (0.0, 1e-6),
    "instr_overhead": (0.0, 0.5e-6),
    "eff": (0.7, 0.9, 1.0),
    "smem_buf": (0, 100_000, 212_992),
    "context": (160, 8192),
    "batch": (1, 16),
}
EXECUTIONS = {
    "stream": Execution("on a stream", "kernels12", "stream", False),
    "pdl": Execution("with PDL", "kernels7", "pdl", True),
    "no_prefetch": Execution("megakernel without", "fused", "megakernel", False),
    "prefetch": Execution("megakernel", "fused", "megakernel", True),
}
GPUS = xr.Dataset(
    {"sm_count": ("gpu", [132, 148]), "dram_bandwidth": ("gpu", [3.35e12, 8e12])},
    {"gpu": ["one", "two"], "gpu_name": ("gpu", ["One", "Two"])},
)
WORKLOAD = Workload({"llama": LLAMA}, {"llama": PUBLISHED}, PLANS, 160, 1, 16)
SWEEP = timeline_sweep(WORKLOAD, EXECUTIONS, GPUS, TimelineSpace(AXES, chunk_points=2000))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The whole sweep, as it is stored."""
    place = tmp_path_factory.mktemp("timelines") / "timeline.zarr"
    limits = Limits("threads", 2, Budget(10**9, 10**9, 10**9))
    with (place.parent / "log").open("w") as log:
        run(SWEEP, RegionStore(place), "one", limits, Progress(log))
    return place


@pytest.fixture(scope="module")
def swept(path):
    return store.read(path)


@pytest.fixture(scope="module")
def gains(path):
    return timeline_gain(store.open_lazily(path), "stream", "prefetch")


def alone(point):
    """Time a step at one point, from numbers."""
    execution, card = EXECUTIONS[point["execution"]], GPUS.sel(gpu=point["gpu"])
    operations = step(
        LLAMA, PLANS[execution.plan], PUBLISHED, point["context"], point["batch"], rows_per_block=16
    )
    given_as_is = ("ramp", "small", "sync", "instr_overhead", "eff")
    parameters = TimelineParams(
        n_sm=int(card["sm_count"]),
        hbm=float(card["dram_bandwidth"]),
        launch=point["launch"] if execution.mode != "megakernel" else 0.0,
        smem_buf=point["smem_buf"] if execution.prefetch else 0,
        **{name: point[name] for name in given_as_is},
    )
    return timeline(operations, execution.mode, parameters)


points = st.fixed_dictionaries(
    {name: st.sampled_from(values) for name, values in AXES.items()}
    | {"gpu": st.sampled_from(["one", "two"]), "execution": st.sampled_from(list(EXECUTIONS))}
)


@given(points)
def test_timelines__a_random_point_equals_the_timeline_of_numbers(swept, point):
    found, expected = swept.sel(point), alone(point)
    for name in ("t", "bandwidth_utilisation"):
        assert float(found[name]) == float(expected[name])


def test_timelines__have_every_parameter_and_label(swept):
    assert set(ORDER) == {*TIMELINE_AXES, "gpu", "execution"}
    assert swept["t"].dims == ORDER
    assert swept["t"].size == 2 * 4 * 3 * 2 * 2 * 2 * 2 * 3 * 3 * 2 * 2
    assert swept["execution_label"].sel(execution="pdl").item() == "with PDL"
    assert swept["launch"].attrs["units"] == "s"


def test_chunks__are_small_and_cut_no_execution_in_two(path):
    chunks = {dim: lengths[0] for dim, lengths in store.open_lazily(path)["t"].chunksizes.items()}
    assert chunks["execution"] == 1
    assert np.prod(list(chunks.values())) <= 2000


@given(st.sampled_from(["one", "two"]), st.sampled_from(GAIN_PAIRS), st.data())
def test_timeline_gain__is_that_of_the_points(gains, swept, gpu, pair, data):
    gain = gains.sel(gpu=gpu)
    at = {name: data.draw(st.sampled_from(AXES[name])) for name in pair}
    others = {
        name: values[(len(values) - 1) // 2] for name, values in AXES.items() if name not in pair
    }
    ratio = swept["t"].sel(execution="stream") / swept["t"].sel(execution="prefetch")
    ratio = ratio.sel(gpu=gpu)
    name = "_".join(pair)
    assert float(gain[f"gain_{name}"].sel(at)) == float(ratio.sel(at | others))
    assert float(gain[f"least_gain_{name}"].sel(at)) == float(ratio.sel(at).min())
    assert float(gain["least_gain"]) == float(ratio.min())
    assert float(gain["most_gain"]) == float(ratio.max())
    assert int(gain["losing"]) == int((ratio <= 1).sum())
    assert int(gain["points"]) == ratio.size
    assert float(gain["middle_launch"]) == 1.3e-6
    assert gain["reference_label"].item() == "on a stream"
