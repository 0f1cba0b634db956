import numpy as np
import pytest
import xarray as xr

from pipeline.errors import ModelError
from pipeline.timing.block_order import block_orders
from pipeline.timing.dram import bytes_of, dram_bytes
from pipeline.timing.tile_order import ORDERS, named_order, tile_order
from pipeline.timing.waves import named_waves
from pipeline.vocab.tile_order import TILE_ORDER

SIZES = (300, 512)
TILE = {"tile_m": 32, "tile_n": 64}


@pytest.fixture
def orders(gpus):
    return block_orders(gpus, SIZES, **TILE, blocks_per_sm=2, largest_group=12)


def test_block_orders__names_and_dimensions_are_the_public_ones(orders):
    for name in ("dram_bytes", "t_dram", "rows_per_wave", "cols_per_wave"):
        assert orders[name].dims == ("gpu", "n", "group")
        assert orders[f"order_{name}"].dims == ("gpu", "n", "order")
    assert orders["group"].to_numpy().tolist() == list(range(13))
    assert tuple(orders["order"].to_numpy()) == ORDERS
    for name in orders.variables:
        assert orders[name].attrs == TILE_ORDER[name].attrs


def test_block_orders__group_0_is_row_major_and_a_high_band_column_major(orders):
    for name in ("dram_bytes", "t_dram", "rows_per_wave", "cols_per_wave"):
        named = orders[f"order_{name}"]
        for group, order in ((0, "row_major"), (12, "column_major")):
            grouped = orders[name].sel(group=group, n=300, drop=True)
            np.testing.assert_array_equal(grouped, named.sel(order=order, n=300))


def slow_means(order, wave):
    """Tile rows and columns per wave, by sets."""
    starts = range(0, len(order[0]), wave)
    return [np.mean([len({*axis[at : at + wave].tolist()}) for at in starts]) for axis in order]


def test_block_orders__equal_the_model_point_by_point(orders, gpus):
    for gpu, n in np.ndindex(3, 2):
        size, wave = SIZES[n], int(2 * gpus["sm_count"][gpu])
        here, rate = orders.isel(gpu=gpu, n=n), float(gpus["dram_bandwidth"][gpu])
        tiles = -(-size // 32), -(-size // 64)
        assert int(here["wave"]) == wave
        assert int(here["waves"]) == -(-tiles[0] * tiles[1] // wave)
        for group in range(13):
            one = here.sel(group=group)
            traffic = dram_bytes(size, size, size, **TILE, wave=wave, group=group)
            assert one["dram_bytes"] == traffic
            np.testing.assert_allclose(one["t_dram"], traffic / rate, rtol=1e-15)
            means = slow_means(tile_order(*tiles, group), wave)
            np.testing.assert_allclose([one["rows_per_wave"], one["cols_per_wave"]], means)
        for order in ORDERS:
            one = here.sel(order=order)
            waves = named_waves(size, size, **TILE, wave=wave, order=order)
            assert one["order_dram_bytes"] == bytes_of(waves, size, size, size)
            means = slow_means(named_order(*tiles, order), wave)
            touched = [one["order_rows_per_wave"], one["order_cols_per_wave"]]
            np.testing.assert_allclose(touched, means)


def test_block_orders__take_gpus_as_the_store_has_them(gpus):
    text = gpus.assign_coords(gpu=gpus["gpu"].astype(np.dtypes.StringDType()))
    sizes = {"sizes": [512], **TILE, "blocks_per_sm": 1, "largest_group": 2}
    xr.testing.assert_equal(block_orders(text, **sizes), block_orders(gpus, **sizes))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"largest_group": -1}, "largest_group = -1"),
        ({"sizes": [0]}, "m = 0, n = 0; .*must be positive"),
        ({"blocks_per_sm": 0}, "wave = 0; .*must be positive"),
    ],
)
def test_block_orders__refuse_what_is_not_positive(changed, message, gpus):
    sizes = {"sizes": [512], **TILE, "blocks_per_sm": 1, "largest_group": 2}
    with pytest.raises(ModelError, match=message):
        block_orders(gpus, **sizes | changed)
