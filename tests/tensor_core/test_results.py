"""The stores of fragments and of ldmatrix."""

import numpy as np
import pytest

from pipeline import store
from pipeline.tensor_core.conflicts import tile_loads, wavefronts
from pipeline.tensor_core.fragment_results import fragments
from pipeline.tensor_core.fragments import coordinates
from pipeline.tensor_core.layouts import LAYOUTS
from pipeline.tensor_core.ldmatrix_results import ldmatrix
from pipeline.tensor_core.shapes import shape_named


@pytest.fixture(scope="module")
def held():
    return fragments()


@pytest.fixture(scope="module")
def loaded():
    return ldmatrix()


def test_fragments__are_the_coordinates_and_nothing_else(held):
    assert held.coordinate.dims == ("shape", "operand", "lane", "element", "axis")
    assert held.sizes["shape"] == 6 + 32
    for name in held["shape"].values:
        for operand in "ABC":
            one = held.sel(shape=name, operand=operand)
            valid = one.coordinate[: int(one.lanes), : int(one.elements)]
            assert int((one.coordinate >= 0).sum()) == valid.size
            if one.elements:
                assert np.array_equal(valid, coordinates(shape_named(str(name)), operand))


def test_fragments__of_wgmma_have_no_b(held):
    wgmma = held.sel(shape="m64n256k16")
    assert wgmma.elements.values.tolist() == [8, 0, 128]
    assert np.all(wgmma.coordinate.sel(operand="B") == -1)


def test_ldmatrix__has_the_values_of_the_lecture(loaded):
    at = loaded.sel(row_elems=64, row0=0, col0=0)
    assert at.wavefronts.sel(layout=["plain", "xor_swizzle"]).values.tolist() == [32, 4]
    assert np.all(at.ideal_wavefronts == 4)


def test_ldmatrix__has_every_place_that_fits(loaded):
    fits = loaded.col0 + 16 <= loaded.row_elems
    assert loaded.row_elems.values.tolist() == list(range(16, 257, 8))
    assert np.array_equal(loaded.wavefronts > 0, fits.broadcast_like(loaded.wavefronts))
    assert np.array_equal(loaded.ideal_wavefronts, 4 * fits.broadcast_like(loaded.wavefronts))
    for row_elems, row0, col0 in ((72, 40, 56), (256, 112, 240), (16, 8, 0)):
        pattern = tile_loads([row0], [2 * col0])
        for name, make in LAYOUTS.items():
            at = {"row_elems": row_elems, "layout": name, "row0": row0, "col0": col0}
            assert [loaded.wavefronts.sel(at)] == wavefronts(pattern, make(2 * row_elems))


def test_ldmatrix__padding_and_the_cheapest_layout_never_conflict(loaded):
    fits = loaded.ideal_wavefronts > 0
    conflicts = (loaded.wavefronts > 4) & fits
    assert not conflicts.sel(layout="padded").any()
    assert conflicts.sel(layout="plain", row_elems=64).any()
    # Eight rows of any number of chunks can be swizzled without a byte more.
    assert np.all(loaded.cheapest_extra_bytes == 0)
    assert loaded.cheapest.sel(row_elems=64) == "swizzle (3, 4, 3)"
    assert loaded.cheapest.sel(row_elems=72) == "plain"


def test_ldmatrix__bank_groups_of_one_column(loaded):
    groups = loaded.bank_group.sel(chunk=0)
    assert groups.sel(layout="plain").values.tolist() == [0] * 8
    assert groups.sel(layout="padded").values.tolist() == list(range(8))
    assert groups.sel(layout="xor_swizzle").values.tolist() == list(range(8))


@pytest.mark.parametrize("make", [fragments, ldmatrix])
def test_results__can_be_stored(make, tmp_path):
    made = make()
    store.write(made, tmp_path / "made.zarr")
    back = store.read(tmp_path / "made.zarr")
    assert set(back.variables) == set(made.variables)
    assert all(np.array_equal(back[name].astype(made[name].dtype), made[name]) for name in made)
