"""Occupancy against NVIDIA's calculator, hand counts, and a definition that places warp by warp."""

from pathlib import Path

import dask.array
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import ModelError
from pipeline.hardware.gpus import gpus
from pipeline.hardware.occupancy import (
    OCCUPANCY_FIGURES,
    block_limits,
    ladder_occupancy,
    occupancy,
)
from pipeline.hardware.sheet import load_sheets

ROOT = Path(__file__).parents[2]
GPUS = gpus(load_sheets(ROOT / "data/gpus"))
A6000 = GPUS.sel(gpu="rtx_a6000")
REFERENCE_IDS = {
    "V100": "v100_sxm2",
    "T4": "t4",
    "A100": "a100_sxm_40gb",
    "RTX A6000": "rtx_a6000",
    "RTX 4090": "rtx_4090",
    "H100": "h100_sxm",
    "B200": "b200",
}

gpu_ids = st.sampled_from(GPUS["gpu"].to_numpy().tolist())
threads = st.integers(1, 1100)
registers = st.integers(0, 260)
# Small blocks are where shared memory and slots meet; the rest is about the limits of a block.
smem = st.one_of(st.integers(0, 8192), st.integers(0, 240_000))


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / "tests/data" / name, comment="#")


def answers(table: pd.DataFrame, gpu: xr.DataArray) -> xr.Dataset:
    """Occupancy of each row of ``table`` on the GPU of that row."""
    columns = table[["threads_per_block", "registers_per_thread", "shared_bytes_per_block"]]
    launch = [xr.DataArray(columns[name].to_numpy(), dims="row") for name in columns]
    return occupancy(*launch, GPUS.sel(gpu=xr.DataArray(gpu, dims="row")))


def assert_same(table: pd.DataFrame, result: xr.Dataset) -> None:
    wrong = (result["blocks_per_sm"].to_numpy() != table["blocks_per_sm"]) | (
        result["limited_by"].to_numpy() != table["limited_by"]
    )
    assert not wrong.any(), table[wrong]


def one(
    threads: int, registers: int, smem: int, gpu: xr.Dataset = A6000, **changes: int
) -> tuple[int, str]:
    result = occupancy(threads, registers, smem, gpu.assign(changes))
    return int(result["blocks_per_sm"]), str(result["limited_by"].item())


def place_blocks(threads: int, registers: int, smem: int, gpu: xr.Dataset) -> int:
    """Resident blocks by taking in block after block, warp after warp, until one does not fit."""
    g = {name: int(gpu[name]) for name in OCCUPANCY_FIGURES}
    warps = len(range(0, threads, g["warp_size"]))
    parts = g["warp_allocation_unit"]

    def rounded(amount: int, unit: int) -> int:
        while amount % unit:
            amount += 1
        return amount

    per_warp = rounded(registers * g["warp_size"], g["register_allocation_unit"])
    per_block = rounded(smem + g["smem_reserved_per_block"], g["smem_allocation_unit"])
    if (
        threads > g["max_threads_per_block"]
        or registers > g["registers_per_thread_max"]
        or per_warp * rounded(warps, parts) > g["registers_per_block_max"]
        or per_block > g["smem_per_block_max"] + g["smem_reserved_per_block"]
    ):
        return 0
    free = [g["registers_per_sm"] // parts] * parts
    blocks = 0
    while (
        blocks < g["max_blocks_per_sm"]
        and (blocks + 1) * warps <= g["max_warps_per_sm"]
        and (blocks + 1) * per_block <= g["smem_per_sm"]
    ):
        for _ in range(warps):
            roomiest = free.index(max(free))
            free[roomiest] -= per_warp
        if min(free) < 0:
            break
        blocks += 1
    return blocks


def test_occupancy__agrees_with_the_calculator_on_every_row_of_the_reference() -> None:
    table = read("occupancy_reference.csv")
    assert len(table) == 2800
    ids = table["gpu"].map(REFERENCE_IDS)
    sheets = GPUS["compute_capability"].sel(gpu=ids.tolist()).to_numpy()
    np.testing.assert_array_equal(sheets.astype(float), table["compute_capability"])
    assert_same(table, answers(table, ids))


def test_occupancy__agrees_with_the_calculator_at_the_edges_of_its_rules() -> None:
    table = read("occupancy_edges.csv")
    assert table["blocks_per_sm"].eq(0).any()
    assert_same(table, answers(table, table["gpu"]))


@given(threads, registers, smem, gpu_ids)
@settings(max_examples=300, deadline=None)
def test_occupancy__agrees_with_placing_warp_by_warp(
    threads: int, registers: int, smem: int, gpu_id: str
) -> None:
    gpu = GPUS.sel(gpu=gpu_id)
    blocks, limited_by = one(threads, registers, smem, gpu)
    assert blocks == place_blocks(threads, registers, smem, gpu)
    assert limited_by


@given(st.lists(st.tuples(threads, registers, smem), min_size=1, max_size=8))
@settings(max_examples=30, deadline=None)
def test_occupancy__broadcast_equals_point_by_point(points: list[tuple[int, int, int]]) -> None:
    whole = occupancy(*(xr.DataArray(list(c), dims="p") for c in zip(*points, strict=True)), GPUS)
    assert whole["blocks_per_sm"].dims == ("p", "gpu")
    for index, point in enumerate(points):
        xr.testing.assert_identical(whole.isel(p=index), occupancy(*point, GPUS))


@given(threads, registers, smem, gpu_ids, st.integers(0, 64), st.integers(0, 4096))
@settings(max_examples=200, deadline=None)
def test_occupancy__asking_for_more_never_raises_blocks(
    threads: int, registers: int, smem: int, gpu_id: str, more_registers: int, more_smem: int
) -> None:
    gpu = GPUS.sel(gpu=gpu_id)
    blocks, _ = one(threads, registers, smem, gpu)
    # No registers is no limit, which only a larger number can tighten.
    assert one(threads, registers + more_registers, smem, gpu)[0] <= blocks
    assert one(threads, registers, smem + more_smem, gpu)[0] <= blocks
    assert one(threads + more_registers, registers, smem, gpu)[0] <= blocks


@given(threads, registers, smem, gpu_ids)
@settings(max_examples=100, deadline=None)
def test_occupancy__relaxing_the_named_limits_admits_another_block(
    threads: int, registers: int, smem: int, gpu_id: str
) -> None:
    gpu = GPUS.sel(gpu=gpu_id)
    relaxed = {
        "warps": {"max_warps_per_sm": 10**6, "max_threads_per_block": 10**6},
        "registers": {
            "registers_per_sm": 10**9,
            "registers_per_block_max": 10**9,
            "registers_per_thread_max": 10**6,
        },
        "shared": {"smem_per_sm": 10**9, "smem_per_block_max": 10**8},
        "blocks": {"max_blocks_per_sm": 10**6},
    }
    blocks, limited_by = one(threads, registers, smem, gpu)
    named = limited_by.split()
    assert named == [name for name in relaxed if name in named]
    changes = {k: v for name in named for k, v in relaxed[name].items()}
    assert one(threads, registers, smem, gpu, **changes)[0] > blocks
    for name in set(relaxed) - set(named):
        assert one(threads, registers, smem, gpu, **relaxed[name]) == (blocks, limited_by)


@pytest.mark.parametrize(
    ("launch", "expected"),
    [
        # 32 warps a block, 48 slots.
        ((1024, 32, 0), (1, "warps")),
        # 16 warps, 48 slots; 256 KiB / 4 / 6 KiB per warp: 10 warps a quarter, 40 in all.
        ((512, 48, 4096), (2, "registers")),
        # 8 warps of 16 KiB: 4 a quarter, 16 in all; 9 KiB of 100 KiB would allow 11.
        ((256, 128, 8192), (2, "registers")),
        # One warp each: the slots for blocks run out at 16 of 48.
        ((32, 16, 0), (16, "blocks")),
        # 20 KiB and 1 KiB of reserve: four blocks of 21 KiB in 100 KiB.
        ((32, 16, 20 * 1024), (4, "shared")),
        # 3 warps: 16 blocks by warps and by slots.
        ((96, 8, 0), (16, "warps blocks")),
        # 9 warps of 21 KiB: 3 a quarter, 12 in all.
        ((288, 168, 0), (1, "registers")),
    ],
)
def test_occupancy__hand_counts_on_the_a6000(
    launch: tuple[int, int, int], expected: tuple[int, str]
) -> None:
    assert one(*launch) == expected


def test_occupancy__quarters_of_the_register_file_hold_fewer_warps_than_the_whole() -> None:
    # The whole file would hold 14 warps of 144 registers, but a quarter holds 3, so the SM 12: of
    # two blocks of 7 warps one is left.
    assert 65536 // (32 * 144) == 14
    assert one(7 * 32, 144, 0) == (1, "registers")


def test_occupancy__a_block_must_fit_with_its_warps_rounded_to_four() -> None:
    # 9 warps of 168 registers are 48384 registers, but the check counts 12 warps: 64512. At 176
    # registers it counts 67584, more than 65536, although 9 warps hold 50688.
    assert one(9 * 32, 168, 0)[0] == 1
    assert one(9 * 32, 176, 0) == (0, "registers")
    # Where a block may hold half of the file, as on small chips, the check stands on its own: 5
    # warps of 160 registers hold 25600 and count as 40960.
    assert one(5 * 32, 160, 0) == (2, "registers")
    assert one(5 * 32, 160, 0, registers_per_block_max=32768) == (0, "registers")


def test_occupancy__reserve_of_a_block_counts_from_ampere_on() -> None:
    # Three times 32 KiB are the 96 KiB of a V100. With 1 KiB each: 99 KiB, then 102 KiB of 100.
    assert one(32, 8, 32 * 1024, GPUS.sel(gpu="v100_sxm2")) == (3, "shared")
    assert one(32, 8, 32 * 1024) == (3, "shared")
    assert one(32, 8, 33 * 1024) == (2, "shared")


def test_occupancy__shared_memory_beyond_the_opt_in_maximum_fits_nowhere() -> None:
    assert one(32, 8, 99 * 1024) == (1, "shared")
    assert one(32, 8, 99 * 1024 + 1) == (0, "shared")


def test_occupancy__threads_beyond_a_block_and_registers_beyond_a_thread_fit_nowhere() -> None:
    assert one(1025, 8, 0) == (0, "warps")
    assert one(32, 255, 0)[0] == 8
    assert one(32, 256, 0) == (0, "registers")
    assert one(2048, 255, 0) == (0, "warps registers")


@pytest.mark.parametrize("name", ["threads per block", "registers per thread", "shared memory"])
@pytest.mark.parametrize("value", [-1, 2**31])
def test_occupancy__values_outside_the_range_are_refused(name: str, value: int) -> None:
    launch = {"threads per block": 32, "registers per thread": 8, "shared memory": 0, name: value}
    with pytest.raises(ModelError, match=rf"{name}.* is {value}; it must be from"):
        occupancy(*launch.values(), A6000)


@given(threads, registers, smem, gpu_ids)
def test_block_limits__the_fewest_of_them_are_resident_and_named(
    threads: int, registers: int, smem: int, gpu_id: str
) -> None:
    limits = block_limits(threads, registers, smem, GPUS.sel(gpu=gpu_id))
    resident = occupancy(threads, registers, smem, GPUS.sel(gpu=gpu_id))
    assert min(limits.values()) == int(resident.blocks_per_sm)
    fewest = [name for name, blocks in limits.items() if blocks == min(limits.values())]
    assert " ".join(fewest) == str(resident.limited_by.item())


def test_occupancy__a_block_without_threads_is_refused() -> None:
    with pytest.raises(ModelError, match="threads per block is 0; it must be from 1"):
        occupancy(np.array([32, 0]), 8, 0, A6000)


@pytest.mark.parametrize("value", [32.0, True, "32", np.array([1.5])])
def test_occupancy__other_than_whole_numbers_are_refused(value: object) -> None:
    with pytest.raises(ModelError, match="threads per block must be whole numbers"):
        occupancy(value, 8, 0, A6000)


def test_occupancy__differing_coordinates_are_refused_and_not_dropped() -> None:
    left = xr.DataArray([32, 64], coords={"kernel": ["a", "b"]})
    right = xr.DataArray([8, 8], coords={"kernel": ["a", "c"]})
    with pytest.raises(ModelError, match="do not share their coordinates"):
        occupancy(left, right, 0, A6000)


def test_occupancy__missing_figures_are_named() -> None:
    with pytest.raises(ModelError, match="lacks warp_size, smem_per_sm"):
        occupancy(32, 8, 0, A6000.drop_vars(["smem_per_sm", "warp_size"]))


def test_occupancy__reads_only_the_figures_it_names() -> None:
    full = occupancy(xr.DataArray([64, 256], dims="p"), 40, 4096, GPUS)
    xr.testing.assert_identical(
        full, occupancy(xr.DataArray([64, 256], dims="p"), 40, 4096, GPUS[list(OCCUPANCY_FIGURES)])
    )


def test_occupancy__warps_and_share_follow_from_blocks() -> None:
    result = occupancy(250, 40, 0, A6000)
    assert int(result["blocks_per_sm"]) == 6
    assert int(result["warps_per_sm"]) == 48
    assert float(result["occupancy"]) == 1.0
    assert result["warps_per_sm"].dtype == np.int64
    assert all(result[name].attrs["long_name"] for name in result.data_vars)


def test_occupancy__lazy_arrays_stay_lazy_and_give_the_same() -> None:
    values = np.arange(1, 1025)
    lazy = xr.DataArray(dask.array.from_array(values, chunks=200), dims="threads")
    result = occupancy(lazy, 40, 4096, GPUS)
    assert all(result[name].chunks for name in result.data_vars)
    xr.testing.assert_identical(
        result.compute(), occupancy(xr.DataArray(values, dims="threads"), 40, 4096, GPUS)
    )


@pytest.fixture
def launches() -> xr.Dataset:
    """Two kernels."""
    return xr.Dataset(
        {
            "threads_per_block": ("kernel", [1024, 256]),
            "registers_per_thread": ("kernel", [32, 128]),
            "smem_bytes": ("kernel", [0, 8192]),
            "tile_m": ("kernel", [32, 128]),
            "tile_n": ("kernel", [32, 128]),
            "element_bytes": ("kernel", [4, 4]),
            "capability_min": ("kernel", [0, 0]),
            "multiple_m": ("kernel", [1, 128]),
            "multiple_n": ("kernel", [1, 128]),
            "multiple_k": ("kernel", [1, 8]),
        },
        coords={
            "kernel": ["k02_coalesced", "k05_blocktile_2d"],
            "kernel_number": ("kernel", [2, 5]),
            "kernel_label": ("kernel", ["coalesced", "2-D block tile"]),
        },
    )


def test_ladder_occupancy__holds_kernels_by_gpus_with_the_launch_facts(
    launches: xr.Dataset,
) -> None:
    result = ladder_occupancy(launches, GPUS.sel(gpu=["rtx_a6000", "h100_sxm"]))
    assert result["blocks_per_sm"].dims == ("kernel", "gpu")
    assert result["blocks_per_sm"].to_numpy().tolist() == [[1, 2], [2, 2]]
    assert result["limited_by"].to_numpy().tolist() == [
        ["warps", "warps registers"],
        ["registers", "registers"],
    ]
    assert set(result.data_vars) == {
        *("blocks_per_sm", "warps_per_sm", "occupancy", "limited_by"),
        *("threads_per_block", "registers_per_thread", "smem_bytes", "tile_m", "tile_n"),
        *("multiple_m", "multiple_n", "multiple_k", "element_bytes", "capability_min"),
    }
    assert set(result.coords) == {"kernel", "kernel_number", "kernel_label", "gpu", "gpu_name"}
    assert result["threads_per_block"].dims == ("kernel",)
    assert all({"units", "long_name"} <= set(result[name].attrs) for name in result.variables)


def test_ladder_occupancy__does_not_change_with_figures_it_does_not_read(
    launches: xr.Dataset,
) -> None:
    faster = GPUS.assign(clock_hz=2 * GPUS["clock_hz"])
    xr.testing.assert_identical(
        ladder_occupancy(launches, GPUS), ladder_occupancy(launches, faster)
    )
    subset = GPUS[list(OCCUPANCY_FIGURES)]
    xr.testing.assert_identical(
        ladder_occupancy(launches, GPUS), ladder_occupancy(launches, subset)
    )


def test_ladder_occupancy__a_gpu_without_the_instructions_holds_no_block(
    launches: xr.Dataset,
) -> None:
    gpus = GPUS.sel(gpu=["t4", "a100_sxm_40gb", "rtx_a6000", "b200"])  # 7.5, 8.0, 8.6, 10.0
    launches["capability_min"] = ("kernel", [86, 75])
    result, free = (
        ladder_occupancy(given, gpus)
        for given in (launches, launches.assign(capability_min=0 * launches["capability_min"]))
    )
    lacking = result["limited_by"] == "capability"
    assert lacking.to_numpy().tolist() == [[True, True, False, False], [False] * 4]
    for name in ("blocks_per_sm", "warps_per_sm", "occupancy"):
        assert (result[name].where(lacking, 0) == 0).all()
        xr.testing.assert_equal(result[name].where(~lacking), free[name].where(~lacking))
        assert result[name].dtype == free[name].dtype


def test_ladder_occupancy__needs_compute_capabilities(launches: xr.Dataset) -> None:
    with pytest.raises(ModelError, match="lacks compute_capability"):
        ladder_occupancy(launches, GPUS.drop_vars("compute_capability"))


def test_ladder_occupancy__missing_launch_facts_are_named(launches: xr.Dataset) -> None:
    with pytest.raises(ModelError, match="the launches lack smem_bytes, tile_n"):
        ladder_occupancy(launches.drop_vars(["tile_n", "smem_bytes"]), GPUS)
