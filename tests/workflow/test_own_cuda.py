"""Compiled kernels of the user's own in the real workflow: one that is right, two that fail."""

import shutil

import pytest
import xarray as xr

from tests.workflow.scratch import CHECKOUT, copy_checkout

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
    with scratch.configured(own_cuda=own, own_kernels=without):
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


def test_change__of_the_file_makes_its_runs_again(failed):
    scratch = failed[0]
    runs = {f"own_cuda_run {name} sm_80" for name in ("cuda_right", "cuda_lost", "cuda_wrong")}
    with scratch.edited("mine.sass", "file transpose.cu", "file other.cu"):
        assert runs <= scratch.planned()
