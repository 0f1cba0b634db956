"""What the artifacts of tensor cores say, against counts by hand."""

import numpy as np
import pytest

from pipeline.artifacts.lecture10 import ldmatrix, mma_fragments
from pipeline.tensor_core import fragment_results, ldmatrix_results


@pytest.fixture(scope="module")
def held():
    return fragment_results.fragments()


@pytest.fixture(scope="module")
def loaded():
    return ldmatrix_results.ldmatrix()


def test_mma_fragments__every_element_is_drawn_once(held):
    frame = mma_fragments.drawn(held)
    assert frame.groupby("operand").size().to_dict() == {"A": 256, "B": 128, "C": 128}
    assert not frame.duplicated(["operand", "row", "column"]).any()
    assert not frame.duplicated(["operand", "lane", "element"]).any()
    lane5 = frame[(frame["lane"] == 5) & (frame["operand"] == "C")]
    assert lane5[["row", "column"]].values.tolist() == [[1, 2], [1, 3], [9, 2], [9, 3]]


def test_mma_fragments__what_a_lane_lacks_for_its_sums(held):
    facts = mma_fragments.facts(held)
    # Two rows of A, of which all eight elements are its own, and two columns of B, none of them.
    assert (facts["needed"], facts["brought"]) == (2 * 16 + 2 * 16, 8)
    assert (facts["m"], facts["n"], facts["k"], facts["lanes"]) == (16, 8, 16, 32)


def test_mma_fragments__boxes_hold_two_neighbours(held):
    frame = mma_fragments.drawn(held)
    for operand, sides in {"A": (2, 1), "B": (1, 2), "C": (2, 1)}.items():
        boxes = list(mma_fragments._boxes(frame[frame["operand"] == operand]))
        assert len(boxes) == {"A": 128, "B": 64, "C": 64}[operand]
        assert all(np.allclose((box.wide, box.high), sides) for box in boxes)


def test_ldmatrix__table_has_every_width_that_tiles_fill(loaded):
    table = ldmatrix.table(loaded).set_index("row_elems")
    assert list(table.index) == list(range(16, 257, 16))
    at = table.loc[64]
    assert (at["row_bytes"], at["plain"], at["padded"], at["xor_swizzle"]) == (128, 32, 4, 4)
    assert at["padding"] == 16 / 128
    assert np.all(table["ideal"] == 4)


def test_ldmatrix__facts_are_those_of_the_store(loaded):
    facts = ldmatrix.facts(loaded)
    assert (facts["plain"], facts["padded"], facts["ideal"]) == (32, 4, 4)
    worst = loaded.wavefronts.sel(layout="xor_swizzle").max(["row0", "col0"])
    assert facts["freed"] == sum(int(w) == 4 for w in worst)
    assert facts["swizzle"] == "(3, 4, 3)"
    assert facts["least_wasted"] == 0


def test_ldmatrix__picture_shows_wavefronts_of_its_own_width(loaded):
    frame = ldmatrix.drawn(loaded)
    maps = frame[frame["panel"] == "banks"]
    assert maps.groupby("layout")["wavefronts"].unique().map(list).to_dict() == {
        "plain": [32],
        "padded": [4],
        "xor_swizzle": [4],
    }
    assert set(maps["row_elems"]) == {64}
    assert len(maps) == 3 * 8 * 8
