"""Replays of single launches: what is shared, what is refused, and all of them together."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.compiled.launch import Space, prepare
from pipeline.errors import KernelError, ModelError
from pipeline.hardware.sheet import load_sheets
from pipeline.hardware.sm_figures import sm_gpus
from pipeline.listing_files import compiled
from pipeline.timing import replay_launch as module
from pipeline.timing.replay_launch import gather_replays, replay_launch
from pipeline.timing.sm.predict import predict

LISTINGS = Path(__file__).parents[1] / "compiled/listings"
CARDS = ("rtx_a6000", "v100_sxm2", "a100_sxm_40gb", "a100_sxm_80gb")
N = 256


@pytest.fixture(scope="module")
def cards():
    return sm_gpus(load_sheets(Path("data/gpus"), CARDS))


def program():
    return compiled(LISTINGS / "turned_sm_80.sass", "sm_80", "turned")


def launch(code):
    space = Space(4 * N * N)
    return prepare(code, (N // 32, N // 32), (32, 8), (space, space, N, N, 33), 128 * 33)


def unknown(*_):
    raise KernelError("it does not fit\nat all")


def test_replay__is_what_the_model_predicts_on_every_gpu_of_the_architecture(cards):
    found, stalls = replay_launch("mine", "sm_80", program, launch, cards)
    assert found["gpu"].values.tolist() == ["a100_sxm_40gb", "a100_sxm_80gb"]
    assert found["kernel"].values.tolist() == ["mine"]
    for gpu in found["gpu"].values:
        one = predict(launch(program()), cards.sel(gpu=gpu))
        assert float(found["t"].sel(gpu=gpu).item()) == one.seconds
        np.testing.assert_array_equal(stalls["stall_cycles"].sel(gpu=gpu), one.stalls)
    summed = found["stall_cycles"].sum("stall_reason")
    np.testing.assert_allclose(summed, found["warp_cycles"])
    assert (found["not_replayed"] == "").all()
    assert stalls["kernel"].item() == "mine"


def test_replay__without_a_gpu_nothing_is_compiled(cards):
    found, stalls = replay_launch("mine", "sm_120", unknown, launch, cards)
    assert found.sizes["gpu"] == stalls.sizes["gpu"] == stalls.sizes["instruction"] == 0


@pytest.mark.parametrize("given", [(unknown, launch), (program, unknown)])
def test_replay__what_fails_before_it_is_said_in_a_line(cards, given):
    found, stalls = replay_launch("mine", "sm_80", *given, cards)
    assert found["not_replayed"].values.tolist() == [["it does not fit; at all"] * 2]
    assert found["t"].isnull().all()
    assert stalls.sizes["gpu"] == 0


def test_replay__refused_by_one_gpu_goes_on_with_the_others(cards, monkeypatch):
    def picky(traced, gpu):
        if gpu["gpu"] == "a100_sxm_40gb":
            raise ModelError("no block fits")
        return predict(traced, gpu)

    monkeypatch.setattr(module, "predict", picky)
    found, stalls = replay_launch("mine", "sm_80", program, launch, cards)
    assert found["not_replayed"].values.tolist() == [["no block fits", ""]]
    assert found["t"].isnull().values.tolist() == [[True, False]]
    assert stalls["gpu"].values.tolist() == ["a100_sxm_80gb"]


def test_gather__keeps_orders_and_leaves_out_what_no_code_is_for(cards):
    runs = [
        replay_launch("other", "sm_80", unknown, launch, cards)[0],
        replay_launch("mine", "sm_120", program, launch, cards)[0],
        replay_launch("mine", "sm_80", program, launch, cards)[0],
    ]
    found = gather_replays(runs, {"mine": "My own", "other": "other"}, cards)
    assert found["kernel"].values.tolist() == ["mine", "other"]
    assert found["kernel_label"].values.tolist() == ["My own", "other"]
    assert found["gpu"].values.tolist() == cards["gpu"].values.tolist()
    assert found["t"].notnull().values.tolist() == [[False, True, True], [False] * 3]
    assert (found["not_replayed"] != "").values.tolist() == [[False] * 3, [False, True, True]]
    xr.testing.assert_equal(
        found["cycles"].sel(kernel="mine", gpu=runs[2]["gpu"]).drop_vars(
            ["kernel", "kernel_number", "kernel_label"]
        ),
        runs[2]["cycles"].isel(kernel=0, drop=True),
    )  # fmt: skip
