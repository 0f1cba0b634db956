"""Kernels of the user's own in the real workflow: a right one, and one that fails in each way."""

import shutil

import pytest
import xarray as xr

from tests.workflow.scratch import OWN

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("own kernels")]

KERNELS = '''\
"""Kernels with one mistake each, and one without."""


def doubled(x):
    return 2 * x


def right(blk, x, out, n):
    at = (blk.by * 8 + blk.ty) * n + blk.bx * 32 + blk.tx
    blk.store(out, at, 2 * blk.load(x, at))


def wrong(blk, x, out, n):
    at = (blk.by * 8 + blk.ty) * n + blk.bx * 32 + blk.tx
    blk.store(out, at, 3 * blk.load(x, at))  # line 15


def racy(blk, x, out, n):
    tile = blk.shared("tile", 256)
    at = (blk.by * 8 + blk.ty) * n + blk.bx * 32 + blk.tx
    blk.sstore(tile, 255 - blk.tid, blk.load(x, at))
    blk.sstore(tile, blk.tid, blk.load(x, at))  # line 22
    blk.store(out, at, 2 * blk.sload(tile, blk.tid))


def beyond(blk, x, out, n):
    at = (blk.by * 8 + blk.ty) * n + blk.bx * 32 + blk.tx
    blk.store(out, at, 2 * blk.load(x, at + 1))  # line 28
'''
SAID = {
    "wrong": ["mine.py:15: block (0, 0, 0), thread 0 (warp 0, lane 0)", "wrong result: out[0, 0]"],
    "racy": ["write_after_write at mine.py:22: block (0, 0, 0), warp 0, tile[0]", "what warp 7 wr"],
    "beyond": [
        "mine.py:28: block (0, 3, 0), thread 255 (warp 7, lane 31), after 0 barriers: ",
        ": index 1024 of x, which",
    ],
}


def entry(kernel):
    return OWN | {
        "file": "mine.py",
        "kernel": kernel,
        "specification": "doubled",
        "tile": [32, 8],
        "multiple": 32,
    }


@pytest.fixture(scope="module")
def failed(whole, tmp_path_factory):
    """A copy where one kernel is right and three fail; with exit code and terminal.

    A store of the ladder, and so what shows it, is to be made beside them.
    """
    scratch = whole.copied(tmp_path_factory.mktemp("failed"))
    for name in ("own", "hazards.zarr"):
        shutil.rmtree(scratch.folder / "results" / name)
    (scratch.folder / "mine.py").write_text(KERNELS, encoding="utf-8")
    entries = {name: entry(name) for name in ("right", *SAID)}
    left_out = {"transpose_naive": False, "transpose_padded": False}
    with scratch.configured(own_kernels=entries | left_out):
        code, shown = scratch.snakemake("all")
        yield scratch, code, shown


@pytest.mark.parametrize("kernel", SAID)
def test_failure__is_one_message_with_kernel_line_block_and_thread(failed, kernel):
    _, code, shown = failed
    assert code == 1
    said = {line for line in shown.splitlines() if line.startswith(f"ERROR {kernel} ")}
    (message,) = said
    assert all(part in message for part in SAID[kernel])
    assert "mine.py) at n = 32: " in message
    assert f"own_kernels.{kernel}: false" in message
    assert "Traceback" not in shown


def test_failure__messages_stand_at_the_end_once_more(failed):
    shown = failed[2]
    end = shown[shown.index("Exiting because a job execution failed") :]
    assert [line.split()[1] for line in end.splitlines() if line.startswith("ERROR")] == sorted(
        SAID
    )


def test_failure__the_ladder_is_made_whole(failed, built):
    folder = failed[0].folder / "results"
    for place in ("lecture10", "lecture11"):
        there = {p.relative_to(folder) for p in (folder / place).rglob("*") if p.is_file()}
        wanted = built.folder / "results"
        assert there == {p.relative_to(wanted) for p in (wanted / place).rglob("*") if p.is_file()}
    for name in ("counts", "extrapolation", "occupancy", "predictions", "hazards"):
        with (
            xr.open_zarr(folder / f"{name}.zarr") as one,
            xr.open_zarr(built.folder / f"results/{name}.zarr") as other,
        ):
            assert one.identical(other)


def test_failure__kernels_that_are_right_are_predicted_and_shown(failed):
    folder = failed[0].folder / "results/own"
    with xr.open_zarr(folder / "predictions.zarr") as predictions:
        assert predictions["kernel"].values.tolist() == ["right"]
        assert predictions.sizes["gpu"] == 2
        assert (predictions["t"] > 0).all()
    shown = (folder / "tables/own_kernels.md").read_text(encoding="utf-8")
    assert "failed their check: wrong, racy, beyond" in shown
    assert [path.name for path in (folder / "checks").iterdir()] == ["right.txt"]


def test_failure__stays_until_the_kernel_is_mended(failed):
    scratch = failed[0]
    checks = {f"own_check {kernel}" for kernel in SAID}
    assert scratch.planned() == checks
    with scratch.edited("mine.py", "3 * blk.load", "2 * blk.load"):
        code, shown = scratch.snakemake("results/own/checks/wrong.txt")
        assert code == 0, shown
        said = scratch.text("results/own/checks/wrong.txt")
    assert said.startswith("wrong: equal to its specification at n = 32, 64, 96, 128, 160")


def test_own__builds_the_kernels_and_nothing_of_a_lecture(fresh):
    code, shown = fresh.snakemake("own")
    assert code == 0, shown
    assert "own: transpose_naive, transpose_padded are right" in shown
    made = {path.name for path in (fresh.folder / "results").iterdir()}
    assert made == {"gpu_limits.zarr", "gpus.zarr", "manifest.json", "own", "simulated"}
    with xr.open_zarr(fresh.folder / "results/own/predictions.zarr") as predictions:
        assert predictions.gflops.sel(gpu="h100_sxm", n=4096).dims == ("kernel", "method")


def test_own__none_that_passes_is_said(fresh):
    (fresh.folder / "mine.py").write_text(KERNELS, encoding="utf-8")
    left_out = {"transpose_naive": False, "transpose_padded": False}
    with fresh.configured(own_kernels=left_out | {"wrong": entry("wrong")}):
        code, shown = fresh.snakemake("own")
    assert code == 1
    assert "ERROR no kernel of your own passed its check (wrong)" in shown
    assert "ERROR wrong (mine.py) at n = 32: wrong result" in shown


def test_own__mistakes_in_an_entry_are_found_before_anything_runs(fresh):
    with fresh.configured(own_kernels={"mine": OWN | {"kernel": "naiv", "block": [64, 64]}}):
        code, shown = fresh.snakemake("all")
    assert code == 1
    assert "own_kernels.mine.block: given [64, 64]; 4096 threads" in shown
    assert "Traceback" not in shown
    assert not (fresh.folder / "results").exists()
