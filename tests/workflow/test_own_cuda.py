"""Compiled kernels of the user's own in the real workflow: one that is right, two that fail."""

import shutil

import pytest
import xarray as xr

from tests.workflow.scratch import CHECKOUT, SMALL, copy_checkout

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("own CUDA")]

ARRAY = {"type": "float32", "shape": [64, 64]}
RIGHT = {
    "file": "mine.sass",
    "entry": "transpose",
    "grid": [2, 2],
    "block": [32, 8],
    "arguments": {
        "x": ARRAY,
        "out": ARRAY | {"output": True},
        "rows": {"type": "int32", "value": 64},
        "columns": {"type": "int32", "value": 64},
    },
    "specification": "examples/transpose.py:transposed",
}
LOST = RIGHT | {"entry": "turned"}
WRONG = RIGHT | {"grid": [1, 2]}


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    scratch = copy_checkout(tmp_path_factory.mktemp("cuda"))
    shutil.copy(
        CHECKOUT / "tests/compiled/listings/transpose_sm_80.sass", scratch.folder / "mine.sass"
    )
    own = {"cuda_right": RIGHT, "cuda_lost": LOST, "cuda_wrong": WRONG}
    without = dict.fromkeys(("transpose_naive", "transpose_padded"), False)
    # One of them runs code for sm_80 and nothing later, as a replay wants it.
    gpus = [*SMALL["gpus"], "a100_sxm_40gb"]
    with scratch.configured(own_cuda=own, own_kernels=without, gpus=gpus):
        code, shown = scratch.snakemake("own", "--keep-going")
        yield scratch, code, shown


def test_failures__are_one_message_each_and_the_run_is_no_success(failed):
    _, code, shown = failed
    assert code == 1
    assert "ERROR own_cuda.cuda_lost failed:" in shown
    assert "sm_80: mine.sass: there is no kernel turned; there are transpose" in shown
    assert "wrong result: out[" in shown
    assert "Traceback" not in shown


def test_failures__keep_nothing_else_from_being_made(failed):
    folder = failed[0].folder / "results/own"
    assert [one.name for one in (folder / "checks").iterdir()] == ["cuda_right.txt"]
    pages = {one.name: one.read_text(encoding="utf-8") for one in (folder / "pages").iterdir()}
    kernels = ("cuda_right", "cuda_lost", "cuda_wrong")
    assert set(pages) == {f"{one}{ending}" for one in kernels for ending in (".html", ".zh.html")}
    assert "Failed:" not in pages["cuda_right.html"]
    assert "Failed:" in pages["cuda_lost.html"]
    assert "失败：" in pages["cuda_lost.zh.html"]
    with xr.open_zarr(folder / "cuda_predictions.zarr") as predictions:
        times = predictions["t"].sel({"gpu": "rtx_a6000", "method": "roofline"})
        assert times.notnull().values.tolist() == [True, False, True]


def test_replays__are_of_what_can_be_launched_and_say_why_others_are_not(failed):
    folder = failed[0].folder / "results/own"
    with xr.open_zarr(folder / "cuda_replays.zarr") as replays:
        here = replays.sel(gpu="a100_sxm_40gb").load()
        assert here["t"].notnull().values.tolist() == [True, False, True]
        assert "there is no kernel turned" in here["not_replayed"].values[1]
        assert replays["t"].sel(gpu="rtx_a6000").isnull().all()
    with xr.open_zarr(folder / "sm/cuda_right_sm_80.zarr") as stalls:
        waited = stalls["stall_cycles"].sum(["instruction", "stall_reason"]).load()
    assert waited.item() == pytest.approx(here["warp_cycles"].sel(kernel="cuda_right").item())
    page = (folder / "pages/cuda_right.html").read_text(encoding="utf-8")
    assert "Replay on one SM" in page
    assert "cycles waited, A100 SXM 40 GB" in page
    assert (folder / "tables/own_cuda_replay.zh.html").is_file()


def test_change__of_a_figure_of_replays_makes_replays_and_pages_again(failed):
    scratch = failed[0]
    # Latency of its DRAM, which nothing but replays reads.
    with scratch.edited("data/gpus/a100_sxm_40gb.yaml", "value: 572", "value: 580"):
        planned = scratch.planned()
    runs = {one for one in planned if one.startswith("own_cuda_r")}
    names = ("cuda_right", "cuda_lost", "cuda_wrong")
    assert runs == {"own_cuda_replays", *(f"own_cuda_replay {name} sm_80" for name in names)}
    assert {f"own_cuda_page {name}" for name in names} <= planned


def test_change__of_the_file_makes_its_runs_again(failed):
    scratch = failed[0]
    names = ("cuda_right", "cuda_lost", "cuda_wrong")
    runs = {
        f"{rule} {name} sm_80" for rule in ("own_cuda_run", "own_cuda_replay") for name in names
    }
    with scratch.edited("mine.sass", "file transpose.cu", "file other.cu"):
        assert runs <= scratch.planned()
