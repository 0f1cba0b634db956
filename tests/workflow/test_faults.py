"""A job that is killed leaves no half result, and a plain run afterwards makes it whole."""

import hashlib

import pytest

pytestmark = pytest.mark.workflow

TARGET = "results/gpus.zarr"

# The chunks are on disk, but the store does not have its name yet.
BEFORE_THE_LAST_STEP = "    _check_complete(new)\n"
DIE = "    os.kill(os.getpid(), 9)\n"


def contents(folder):
    """Digest of every file of a store, Snakemake's own mark left out."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".snakemake_timestamp"
    }


def test_job__killed_while_writing_leaves_no_half_store(fresh, built):
    with fresh.edited("pipeline/store.py", BEFORE_THE_LAST_STEP, DIE):
        code, _ = fresh.snakemake(TARGET)
    assert code != 0
    assert not (fresh.folder / TARGET).exists()
    left = [path.name for path in (fresh.folder / "results").iterdir()]
    assert len(left) == 1
    assert left[0].endswith(".partial")

    code, shown = fresh.snakemake(TARGET)
    assert code == 0, shown
    assert [path.name for path in (fresh.folder / "results").iterdir()] == ["gpus.zarr"]
    assert contents(fresh.folder / TARGET) == contents(built.folder / TARGET)


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
