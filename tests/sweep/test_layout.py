import math

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sweep.layout import balanced_chunks, digest, template
from tests.sweep import toy

SIZES = st.dictionaries(st.sampled_from("abcde"), st.integers(1, 12), min_size=1)


@given(SIZES, st.integers(1, 300))
def test_balanced_chunks__fit_and_are_no_smaller_than_need_be(sizes, most):
    chunks = balanced_chunks(sizes, most)
    assert list(chunks) == list(sizes)
    assert math.prod(chunks.values()) <= most
    assert all(1 <= chunks[dim] <= size for dim, size in sizes.items())
    if math.prod(sizes.values()) > most:
        assert math.prod(chunks.values()) * 2 * 3 > most or max(chunks.values()) <= 2


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.integers(1, 4))
def test_regions__cover_every_point_once(x, y, cut_x, cut_y):
    sweep = toy.sweep({"x": cut_x, "y": cut_y}, x=x, y=y)
    seen = np.zeros((x, y), int)
    for region in sweep.regions():
        seen[region["x"], region["y"]] += 1
        assert sweep.part(region).sizes["label"] == 2
    assert (seen == 1).all()


def test_template__is_lazy_and_has_the_shape_of_all():
    sweep = toy.sweep()
    laid_out = template(sweep, toy.computed(sweep.part(sweep.regions()[-1])))
    assert laid_out["value"].chunks == ((2, 2, 2), (3, 1), (2,))
    assert laid_out.sizes == {"x": 6, "y": 4, "label": 2}
    assert laid_out["small"].dtype == bool
    assert laid_out["value"].attrs == toy.LABELS


def test_digest__changes_with_every_value_and_with_nothing_else():
    base = xr.Dataset({"a": ("x", [1.0, 2.0]), "t": ("x", ["p", "q"])}, {"x": [1, 2]})
    same = digest(base, {"k": 1, "l": [2]})
    assert same == digest(base[["t", "a"]], {"l": [2], "k": 1})
    changed = [
        (base.assign(a=("x", [1.0, 2.5])), {"k": 1, "l": [2]}),
        (base.assign(t=("x", ["p", "r"])), {"k": 1, "l": [2]}),
        (base.assign_coords(x=[1, 3]), {"k": 1, "l": [2]}),
        (base, {"k": 1, "l": [3]}),
    ]
    assert len({same, *(digest(*one) for one in changed)}) == 5


def test_digest__refuses_what_has_no_plain_text():
    with pytest.raises(TypeError):
        digest({1, 2})
