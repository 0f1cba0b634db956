"""What goes wrong is survived or named, in a message without a traceback, and never silently wrong.

Fifty kills at random moments: ``python -m tests.workflow.faults --runs 50``.
"""

import os
import random
import shutil
import subprocess
import threading
import time

import pytest

from pipeline import store
from pipeline.errors import DataError
from tests.workflow.faults import OTHER, TARGETS, VICTIMS, clear, disturb, undisturbed
from tests.workflow.scratch import digests

pytestmark = pytest.mark.workflow


@pytest.fixture(autouse=True)
def row(record_property):
    """Every test here is a row of one table."""
    record_property("table", "faults")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small part of the workflow, built, and its digests; a test leaves it as it was."""
    return undisturbed(tmp_path_factory.mktemp("faults"))


@pytest.fixture
def mount():
    """Mount a file system of a few kilobytes over a folder; it goes with the test."""
    mounted = []

    def on(folder, *options):
        folder.mkdir(parents=True, exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", folder]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("needs the right to mount a file system")
        mounted.append(folder)

    yield on
    for folder in mounted:
        subprocess.run(["umount", folder], check=True)


def rebuilt(small):
    """Run plainly; gives whether all is as it was, and what was shown."""
    code, shown = small.scratch.snakemake(*TARGETS)
    same = digests(small.scratch.folder / "results") == small.digests
    return code == 0 and same and small.scratch.check_results()[0] == 0, shown


TARGET = "results/gpus.zarr"

# The chunks are on disk, but the store does not have its name yet.
BEFORE_THE_LAST_STEP = "    _check_complete(new)\n"
DIE = "    import os\n    os.kill(os.getpid(), 9)\n"


def test_job__killed_while_writing_leaves_no_half_store(small):
    clear(small.scratch)
    with small.scratch.edited("pipeline/store.py", BEFORE_THE_LAST_STEP, DIE):
        code, _ = small.scratch.snakemake(TARGET)
    assert code == 1
    left = sorted(path.name for path in (small.scratch.folder / "results").iterdir())
    assert len(left) == 2
    assert left[0].endswith(".partial")
    assert left[1] == "manifest.json"
    assert small.scratch.check_results() == (0, "0 results as made.\n")
    right, shown = rebuilt(small)
    assert right, shown


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


@pytest.mark.parametrize("victim", VICTIMS)
def test_kill__at_a_random_moment_needs_no_more_than_a_plain_run(small, victim):
    hit, wrong = disturb(small, victim, random.Random(victim))
    assert not wrong, hit


def test_kill__before_the_end_of_the_run_is_made_up_for_where_nothing_is_to_do(small):
    """The jobs are finished, and the manifest does not have them yet."""
    edit = ("Snakefile", "    CACHED.close()\n", "    os.kill(os.getpid(), 9)\n")
    clear(small.scratch)
    with small.scratch.edited(*edit):
        assert small.scratch.snakemake(*TARGETS)[0] == -9
    right, shown = rebuilt(small)
    assert "Nothing to be done" in shown
    assert right


def test_kill__while_old_results_are_removed_leaves_no_half_that_looks_finished(small):
    """Snakemake removes them before it notes that the job has begun."""
    folder = small.scratch.folder / "results/tile_order.zarr"
    kill = "    CACHED.adopt(forgotten)\n"
    with small.scratch.edited("Snakefile", kill, f"{kill}    os.kill(os.getpid(), 9)\n"):
        assert small.scratch.snakemake(*TARGETS, *OTHER)[0] == -9
    (folder / "zarr.json").unlink()
    assert rebuilt(small)[0]


def test_disk__full(small, mount):
    clear(small.scratch)
    mount(small.scratch.folder / "results", "size=120k")
    code, shown = small.scratch.snakemake(*TARGETS)
    assert code == 1
    assert "No space left on device: make room on the disk" in shown
    assert "Traceback" not in shown
    subprocess.run(
        ["mount", "-o", "remount,size=50m", small.scratch.folder / "results"], check=True
    )
    right, shown = rebuilt(small)
    assert right, shown


def test_disk__takes_no_results(small, mount):
    clear(small.scratch)
    mount(small.scratch.folder / "results", "ro")
    code, shown = small.scratch.snakemake(*TARGETS)
    assert code == 1
    assert "Read-only file system: run in a folder on a disk that takes files" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:]),
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    ],
    ids=["deleted", "flipped", "truncated"],
)
@pytest.mark.parametrize("name", ["sm_count/c/0", "zarr.json"])
def test_store__that_is_damaged_is_refused_and_named(small, name, damage):
    if not (small.scratch.folder / TARGET).exists():
        assert rebuilt(small)[0]
    path = small.scratch.folder / TARGET / name
    before = path.read_bytes()
    damage(path)
    code, said = small.scratch.check_results()
    assert code == 1
    assert f"Damaged:\n  {TARGET}: {name} " in said
    with pytest.raises(DataError, match="this is not a whole store"):
        store.read(small.scratch.folder / TARGET)
    path.write_bytes(before)
    assert small.scratch.check_results()[0] == 0


def test_record__of_snakemake_that_is_truncated_costs_a_job_and_no_more(small):
    assert rebuilt(small)[0]
    for record in (small.scratch.folder / ".snakemake/metadata").rglob("*"):
        if record.is_file():
            record.write_bytes(record.read_bytes()[:100])
    right, shown = rebuilt(small)
    assert right, shown
    assert "Nothing to be done" not in shown


def set_back(folder, seconds):
    """Set all time stamps of a folder as if a clock had been wrong."""
    for path in [folder, *folder.rglob("*")]:
        now = path.stat().st_mtime
        os.utime(path, (now + seconds, now + seconds))


def test_clock__set_back_before_an_input_was_made_anew(small):
    """Its time stamps say that it is older than what was made of its forerunner."""
    assert rebuilt(small)[0]
    with small.scratch.edited("data/gpus/h100_sxm.yaml", "52428800  # 50 MiB", "41943040"):
        assert small.scratch.snakemake("results/gpus.zarr")[0] == 0
        set_back(small.scratch.folder / "results/gpus.zarr", -3600)
        code, shown = small.scratch.snakemake("results/tile_order.zarr")
    assert code == 0, shown
    assert "rule tile_order:" in shown
    assert rebuilt(small)[0]


def test_clock__set_back_after_everything_was_made(small):
    assert rebuilt(small)[0]
    set_back(small.scratch.folder / "results", 86400)
    right, shown = rebuilt(small)
    assert right, shown


def test_manifest__that_is_truncated_is_named_and_written_anew(small):
    assert rebuilt(small)[0]
    path = small.scratch.folder / "results/manifest.json"
    path.write_bytes(path.read_bytes()[:100])
    code, said = small.scratch.check_results()
    assert (code, "manifest.json: this is no manifest" in said) == (1, True)
    assert small.scratch.snakemake(*TARGETS)[0] == 0
    assert small.scratch.check_results()[0] == 0
