"""A job that is killed leaves no half result, and a plain run afterwards makes it whole."""

import shutil
import threading
import time

import pytest

from tests.workflow.scratch import digests

pytestmark = pytest.mark.workflow

TARGET = "results/gpus.zarr"

# The chunks are on disk, but the store does not have its name yet.
BEFORE_THE_LAST_STEP = "    _check_complete(new)\n"
DIE = "    os.kill(os.getpid(), 9)\n"


def names(scratch):
    """What lies in the folder of results, beside the manifest."""
    there = sorted(path.name for path in (scratch.folder / "results").iterdir())
    return [name for name in there if name != "manifest.json"]


def test_job__killed_while_writing_leaves_no_half_store(fresh, built):
    with fresh.edited("pipeline/store.py", BEFORE_THE_LAST_STEP, DIE):
        code, _ = fresh.snakemake(TARGET)
    assert code != 0
    assert not (fresh.folder / TARGET).exists()
    assert fresh.check_results() == (0, "0 results as made.\n")
    assert [name for name in names(fresh) if name.endswith(".partial")] == names(fresh)

    code, shown = fresh.snakemake(TARGET)
    assert code == 0, shown
    assert names(fresh) == ["gpus.zarr"]
    assert fresh.check_results() == (0, "1 result as made.\n")
    assert digests(fresh.folder / TARGET) == digests(built.folder / TARGET)


def test_check_results__names_what_was_damaged_and_a_run_makes_it_again(fresh):
    assert fresh.snakemake(TARGET, "results/measured.zarr")[0] == 0
    chunk = fresh.folder / TARGET / "sm_count/c/0"
    before = digests(fresh.folder / TARGET)
    chunk.unlink()
    code, said = fresh.check_results()
    assert code == 1
    assert "1 result as made.\nDamaged:\n  results/gpus.zarr: sm_count/c/0 is missing\n" in said
    # What reads it refuses it, and a later run does not take it for right.
    code, shown = fresh.snakemake("results/gpu_limits.zarr", "results/tile_order.zarr")
    assert code == 1
    assert "results/gpus.zarr: this is not a whole store" in shown
    assert fresh.check_results()[0] == 1
    shutil.rmtree(fresh.folder / TARGET)
    assert fresh.snakemake(TARGET)[0] == 0
    assert digests(fresh.folder / TARGET) == before
    assert fresh.check_results()[0] == 0


def test_artifact__killed_while_writing_leaves_no_half_file(fresh):
    table = "results/lecture10/tables/gpus.csv"
    with fresh.edited(
        "pipeline/render/files.py",
        "        partial.replace(path)\n",
        "        __import__('os').kill(__import__('os').getpid(), 9)\n",
    ):
        code, _ = fresh.snakemake(table)
    assert code != 0
    assert not (fresh.folder / table).exists()
    code, shown = fresh.snakemake(table)
    assert code == 0, shown
    assert (fresh.folder / table).read_text(encoding="utf-8").startswith("gpu")
    assert not list((fresh.folder / "results/lecture10").rglob("*.partial"))


BEGUN = "runlog.start(snakemake.log[0])\n"
HELD_UP = f"""{BEGUN}
import pathlib, time
while not pathlib.Path("go").exists():
    time.sleep(0.1)
"""


def test_run__another_beside_it_is_refused_and_a_plan_is_not(fresh):
    """Also with locks that a run of an earlier version has left."""
    stale = fresh.folder / ".snakemake/locks/0.output.lock"
    stale.parent.mkdir(parents=True)
    stale.write_text(f"{TARGET}\n", encoding="utf-8")
    said = []
    with fresh.edited("workflow/scripts/gpus.py", BEGUN, HELD_UP):
        first = threading.Thread(target=lambda: said.append(fresh.snakemake(TARGET)))
        first.start()
        while not (fresh.folder / "logs/gpus.log").exists() and first.is_alive():
            time.sleep(0.1)
        code, refused = fresh.snakemake(TARGET)
        planned = fresh.snakemake("--dry-run", TARGET)
        (fresh.folder / "go").touch()
        first.join()
    assert code == 1
    assert "another run is at work here, process " in refused
    assert "Traceback" not in refused
    assert planned[0] == 0, planned[1]
    assert said[0][0] == 0, said[0][1]
