"""Swept tiles, point by point against the same functions called for one launch."""

import io
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import store
from pipeline.errors import LaunchError
from pipeline.hardware.gpus import gpus as figures
from pipeline.hardware.occupancy import OCCUPANCY_FIGURES, ladder_occupancy
from pipeline.hardware.sheet import load_sheets
from pipeline.kernels.launches import launch_facts, launches
from pipeline.kernels.matmul import counts, misfit
from pipeline.kernels.registry import KERNELS
from pipeline.region_store import RegionStore
from pipeline.sweep.execute import Limits, run
from pipeline.sweep.plan import Budget
from pipeline.sweep.progress import Progress
from pipeline.sweep.tile_counts import count_sweep
from pipeline.sweep.tile_points import TileSpace
from pipeline.sweep.tiles import count_by_rule, tile_sweep
from pipeline.timing.predict import predict
from pipeline.vocab.sweeps import NO_RULE, RULES

DATA = Path(__file__).parents[2] / "data"
BLOCK = TileSpace(
    "tiles",
    ("k04_blocktile_1d", "k05_blocktile_2d", "k06_vectorized", "k09_autotuned"),
    {"bm": (8, 64), "bn": (16, 64), "bk": (4, 8, 64), "tm": (1, 4, 8, 16), "tn": (1, 4, 16)},
    (160, 256),
    160,
    "lecture",
)
WARP = TileSpace(
    "warp tiles",
    ("k10_warptiled",),
    {
        "bm": (64, 256),
        "bn": (64, 256),
        "bk": (8, 32),
        "wm": (32, 128),
        "wn": (32, 64),
        "wniter": (1, 2),
        "tm": (4, 8),
        "tn": (4, 8),
    },
    (256,),
    256,
    "hardware",
)


@cache
def gpus():
    return figures(load_sheets(DATA / "gpus", ["t4", "h100_sxm", "rtx_3090"]))


def computed(sweep):
    """All regions of a sweep, side by side."""
    parts = [
        sweep.compute(sweep.part(region)).assign_coords(sweep.coordinates.isel(region).coords)
        for region in sweep.regions()
    ]
    return xr.combine_by_coords(parts, combine_attrs="override")


@cache
def counted(space):
    limits = gpus()[list(OCCUPANCY_FIGURES)]
    return computed(count_sweep(limits, SPACES[space]))


@cache
def laid_out(space):
    return tile_sweep(gpus(), counted(space), SPACES[space])


@cache
def swept(space):
    return computed(laid_out(space))


SPACES = {space.name: space for space in (BLOCK, WARP)}


def one_launch(space, kernel, tile, n, gpu):
    """Predict one launch by itself; None where it is refused or does not fit."""
    record = KERNELS[kernel]
    options = {name: value for name, value in tile.items() if name in record.option_names}
    if kernel.startswith("k04") and tile["tn"] != 1:
        return None
    if "threads" in record.option_names:
        options["threads"] = 32 * tile["bm"] * tile["bn"] // (tile["wm"] * tile["wn"])
    try:
        options = record.options(**options)
        record.launch(options)
    except LaunchError:
        return None
    # Rows that start within a line are left out of the sweep.
    if misfit(record, options, n, n, n) or n % 32:
        return None
    card = gpus().sel(gpu=[gpu])
    resident = ladder_occupancy(launches({kernel: launch_facts(record, options)}), card)
    if int(resident["blocks_per_sm"].item()) == 0:
        return None
    counted = counts(record, n, n, n, options, space.wavefronts).counters
    dataset = xr.Dataset(
        {name: (("kernel", "n", "method"), [[[float(value)]]]) for name, value in counted.items()},
        {"kernel": [kernel], "n": [n], "method": ["exact"]},
    )
    return predict(dataset, resident, card).squeeze(drop=True)


@st.composite
def point(draw, space):
    tile = {axis: draw(st.sampled_from(values)) for axis, values in space.axes.items()}
    return tile, draw(st.sampled_from(space.sizes)), draw(st.sampled_from(gpus().gpu.values))


@pytest.mark.parametrize("name", SPACES)
@settings(max_examples=40)
@given(st.data())
def test_compute_tiles__a_random_point_equals_the_launch_by_itself(name, data):
    space = SPACES[name]
    tile, n, gpu = data.draw(point(space))
    here = swept(name).sel({**tile, "gpu": gpu})
    best = None
    for kernel in space.kernels:
        alone = one_launch(space, kernel, tile, n, gpu)
        held = here.sel(kernel=kernel, n=n)
        assert (str(held["excluded_by"].item()) == NO_RULE) == (alone is not None)
        if alone is None:
            assert np.isnan(held["kernel_gflops"])
            assert held["kernel_bound"].item() == "none"
        else:
            assert float(held["kernel_t"]) == float(alone["t"])
            assert float(held["kernel_gflops"]) == float(alone["gflops"])
            assert held["kernel_bound"].item() == alone["bound"].item()
            best = max(best or 0.0, float(alone["gflops"]))
    if n == space.n:
        assert bool(here["valid"]) == (best is not None)
        assert (float(here["gflops"]) if best else None) == best
        assert bool(here["invalid_reason"].item()) == (best is None)
        assert (int(here["blocks_per_sm"]) > 0) == (best is not None)


def test_compute_tiles__says_who_fills_a_point_and_why_none_does():
    tiles = swept("tiles")
    runs = {"bm": 8, "bn": 16, "bk": 4, "tm": 4, "tn": 4, "gpu": "t4"}
    assert tiles["filled_by"].sel(runs).item() == "k06_vectorized"
    assert int(tiles["smem_bytes"].sel(runs)) == (8 + 16) * 4 * 4
    assert int(tiles["registers_per_thread"].sel(runs)) == 16 + 8 + 48
    reasons = tiles["invalid_reason"]
    larger = runs | {"bm": 64, "bn": 64, "bk": 8}
    assert "n = 160 must be a multiple of 64" in reasons.sel(larger).item()
    warp = np.unique(swept("warp tiles")["invalid_reason"])
    assert any("threads with 340 registers each do not fit" in reason for reason in warp), warp


def test_count_by_rule__counts_what_the_store_says():
    for name in SPACES:
        sweep, tiles = laid_out(name), swept(name)
        counted = dict.fromkeys((*RULES, NO_RULE), 0)
        for region in sweep.regions():
            for rule, count in sweep.census(sweep.part(region)).items():
                counted[rule] += count
        excluded = tiles["excluded_by"].to_numpy()
        assert counted == {rule: int((excluded == rule).sum()) for rule in counted}
        assert sum(counted.values()) == excluded.size
        assert counted[NO_RULE] == int(tiles["kernel_gflops"].notnull().sum())
    with_all = count_by_rule(laid_out("tiles").coordinates, gpus(), BLOCK)
    for rule in ("vector_width", "divisibility", "threads", "registers", "size", "thread_tile"):
        assert with_all[rule], rule


def test_rules__name_every_condition_of_the_kernels():
    # A rule that the kernels do not know would be an error of the sweep, not of the tile.
    for space in SPACES.values():
        assert set(np.unique(swept(space.name)["excluded_by"])) <= {*RULES, NO_RULE}


def test_registers__follow_accumulators_operands_and_addresses():
    tiles = swept("tiles")
    for kernel, at in (
        ("k05_blocktile_2d", {"bm": 64, "bn": 16, "bk": 4, "tm": 8, "tn": 4}),
        ("k06_vectorized", {"bm": 64, "bn": 64, "bk": 8, "tm": 8, "tn": 4}),
    ):
        options = KERNELS[kernel].options(**at)
        held = tiles.sel({**at, "gpu": "h100_sxm"})
        if held["filled_by"].item() == kernel:
            assert int(held["registers_per_thread"]) == KERNELS[kernel].launch(options).registers


@pytest.mark.parametrize("name", SPACES)
def test_count_sweep__counts_what_runs_on_any_gpu_and_nothing_else(name):
    runs = (swept(name)["excluded_by"] == NO_RULE).any("gpu")
    held = counted(name)["count"]
    assert ((held.max("counter") > 0) == runs).all()
    assert (held.sel(counter="fma").where(runs) == (held["n"] ** 3).where(runs)).sum() == runs.sum()


@pytest.mark.parametrize("name", SPACES)
def test_count_sweep__plan_has_every_point_once(name):
    sweep = count_sweep(gpus()[list(OCCUPANCY_FIGURES)], SPACES[name])
    census = [sweep.census(sweep.part(region)) for region in sweep.regions()]
    held = counted(name)["count"].sel(counter="fma")
    assert sum(one[NO_RULE] for one in census) == int((held > 0).sum())
    assert sum(sum(one.values()) for one in census) == held.size


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_tile_sweep__reads_lazy_counts_where_it_computes(tmp_path, scheduler):
    store.write(counted("warp tiles"), tmp_path / "counts.zarr")
    lazy = store.open_lazily(tmp_path / "counts.zarr").chunk({"bm": 1, "bn": 1})
    sweep = tile_sweep(gpus(), lazy, WARP)
    limits = Limits(scheduler, 2, Budget(10**9, 10**9, 10**9))
    run(sweep, RegionStore(tmp_path / "tiles.zarr"), "one", limits, Progress(io.StringIO()))
    xr.testing.assert_identical(store.read(tmp_path / "tiles.zarr"), swept("warp tiles"))
