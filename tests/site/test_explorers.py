import json
from itertools import product
from math import exp, prod

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from pipeline.artifacts.ladder import tag
from pipeline.site import digits
from pipeline.site.thinning import thinned
from pipeline.site.tile_explorer import tile_data
from pipeline.site.timeline_explorer import MOST_POINTS, timeline_data
from tests.site.small import sweeps


def read_back(text, data):
    """Plain reading of numbers, as the page's script does it."""
    places = [data["signs"].index(sign) for sign in text]
    whole = [
        sum(
            place * len(data["signs"]) ** power
            for power, place in zip((2, 1, 0), three, strict=True)
        )
        for three in zip(*[iter(places)] * 3, strict=True)
    ]
    return [data["low"] * exp(k * data["step"]) for k in whole]


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=30))
def test_digits__come_back_to_five_digits(values):
    array = np.array(values)
    low, step = digits.scale(array)
    data = {"signs": digits.SIGNS, "low": low, "step": step}
    assert read_back(digits.encode(array, low, step), data) == pytest.approx(values, rel=4e-5)


def test_digits__signs_are_written_as_they_are():
    assert len(set(digits.SIGNS)) == len(digits.SIGNS)
    assert json.dumps(digits.SIGNS) == f'"{digits.SIGNS}"'


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 200))
def test_thinned__keeps_ends_order_and_at_least_two_values(lengths, most):
    names = [f"x{place}" for place in range(len(lengths))]
    dataset = xr.Dataset(coords={name: range(n) for name, n in zip(names, lengths, strict=True)})
    shown = thinned(dataset, names, most)
    for name, length in zip(names, lengths, strict=True):
        kept = shown[name].to_numpy().tolist()
        assert kept[0] == 0
        assert kept[-1] == length - 1
        assert kept == sorted(set(kept))
        assert len(kept) >= min(2, length)
    fewest = all(n <= 2 for n in shown.sizes.values())
    assert prod(shown.sizes.values()) <= max(most, 1) or fewest


def test_tile_data__says_of_every_tile_its_rate_or_why_it_is_excluded():
    tiles = sweeps()[0]
    data = json.loads(json.dumps(tile_data(tiles)))
    names = [name for name, _ in data["axes"]]
    for place, gpu in enumerate(data["gpus"]):
        column = tiles.sel(gpu=gpu["id"])
        rates, fills = iter(gpu["rates"]), iter(gpu["fills"])
        every = product(*(values for _, values in data["axes"]))
        for common, tile in zip(data["common"], every, strict=True):
            point = column.sel(dict(zip(names, tile, strict=True)))
            code = -common if common else next(rates)
            fill = -1 if common else next(fills)
            if bool(point["valid"]):
                assert code == pytest.approx(point["gflops"].item(), rel=1e-3)
                assert data["pairs"][fill][0] == tag(point["filled_by"].item())
            else:
                kernel, rule, words = data["reasons"][-code - 1]
                assert fill == -1
                full, _, rest = point["invalid_reason"].item().partition(": ")
                assert (kernel, f"{rule}: {words}") == (tag(full), rest)
        assert list(rates) == [], place


def test_timeline_data__gives_every_time_with_the_parameters_that_matter():
    times = sweeps()[2]
    data = json.loads(json.dumps(timeline_data(times)))
    lengths = {name: len(values) for name, _, values in data["axes"]}
    assert {len(one["axes"]) for one in data["executions"]} != {len(lengths)}
    for place, one in enumerate(data["executions"]):
        part = times["t"].isel(execution=place)
        for number, (gpu, _) in enumerate(data["gpus"]):
            shown = read_back(one["times"][number], data)
            every = product(*(range(lengths[name]) for name in one["axes"]))
            for time, at in zip(shown, every, strict=True):
                point = part.sel(gpu=gpu).isel(dict(zip(one["axes"], at, strict=True)))
                assert time == pytest.approx(point.to_numpy().ravel(), rel=1e-4)


def test_timeline_data__ideal_time_over_time_is_utilisation():
    times = sweeps()[2]
    data = timeline_data(times)
    ideal = read_back(data["ideal"]["times"][0], data)[0]
    first = {name: 0 for name, _, _ in data["axes"]}
    point = times.isel(first | {"gpu": 0, "execution": 0})
    assert ideal / point["t"].item() == pytest.approx(
        point["bandwidth_utilisation"].item(), rel=1e-4
    )


def test_timeline_data__a_finer_sweep_is_thinned_out(monkeypatch):
    times = sweeps()[2]
    monkeypatch.setattr("pipeline.site.timeline_explorer.MOST_POINTS", 200)
    data = timeline_data(times)
    shown = sum(len(text) for one in data["executions"] for text in one["times"]) // digits.LENGTH
    assert shown < MOST_POINTS
    whole = timeline_data.__globals__["prod"](times["t"].shape)
    assert shown < whole
