"""Entries of the cache are whole or not there, and never touch what they were made of."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import file_digests
from pipeline.cache import entries, index
from pipeline.cache.entries import Entries, TooLargeError
from pipeline.cache.index import DamagedError

KEY, OTHER, THIRD = ("a" * 64, "b" * 64, "c" * 64)
STORE, TABLE = Path("results/counts.zarr"), Path("results/tables/counts.csv")
OUTPUTS = (STORE, TABLE)


def make(value):
    """Make the outputs of a job."""
    shutil.rmtree(STORE, ignore_errors=True)
    (STORE / "x/c").mkdir(parents=True)
    (STORE / "x/c/0").write_text(f"{value}" * 100)
    (STORE / "zarr.json").write_text("{}")
    file_digests.write_list(STORE)
    (STORE / ".snakemake_timestamp").touch()
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    TABLE.write_text(f"{value}\n")


def contents():
    """Bytes of all results."""
    return {
        path.as_posix(): path.read_bytes()
        for path in sorted(Path("results").rglob("*"))
        if path.is_file() and path.name not in file_digests.FOREIGN
    }


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A cache that holds one entry, in the current folder."""
    monkeypatch.chdir(tmp_path)
    cache = Entries(tmp_path / "cache", 1e6)
    make(1)
    cache.keep(KEY, OUTPUTS)
    return cache


def left(cache):
    """What is in the folder of the cache but entries."""
    return [path for path in cache.folder.iterdir() if len(path.name) != len(KEY)]


def test_restore__gives_back_what_was_kept(kept):
    before = contents()
    make(2)
    assert kept.restore(KEY, OUTPUTS)
    assert contents() == before
    shutil.rmtree("results")
    assert kept.restore(KEY, OUTPUTS)
    assert contents() == before
    assert not list(Path("results").rglob("*.partial"))
    assert not left(kept)


def test_restore__without_an_entry_touches_nothing(kept):
    before = contents()
    assert not kept.restore(OTHER, OUTPUTS)
    assert contents() == before


def test_restore__gives_copies(kept):
    assert kept.restore(KEY, OUTPUTS)
    before = contents()
    for path in (TABLE, STORE / "x/c/0"):
        with path.open("r+b") as opened:
            opened.write(b"damaged")
    assert kept.restore(KEY, OUTPUTS)
    assert contents() == before


def flip(path):
    held = bytearray(path.read_bytes())
    held[len(held) // 2] ^= 1
    path.write_bytes(held)


@pytest.mark.parametrize(
    "name",
    ["results/counts.zarr/x/c/0", "results/counts.zarr/.sha256", "results/tables/counts.csv"],
)
@pytest.mark.parametrize("harm", [flip, Path.unlink, lambda path: path.write_text("")])
def test_restore__of_a_damaged_entry_removes_it_and_leaves_results_alone(kept, name, harm):
    harm(kept.folder / KEY / "files" / name)
    make(2)
    before = contents()
    with pytest.raises(DamagedError):
        kept.restore(KEY, OUTPUTS)
    assert contents() == before
    assert not kept.holds(KEY)
    assert not left(kept)
    assert not kept.restore(KEY, OUTPUTS)


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "3", '{"files": 3}', '{"files": ["a"]}', '{"bytes": 1, "files": {}}'),
        *('{"files": {"../secret": "0"}}', '{"files": {"/etc/x": "0"}}'),
    ],
)
def test_restore__of_an_entry_whose_list_is_damaged_removes_it(kept, text):
    (kept.folder / KEY / "digests.json").write_text(text)
    before = contents()
    with pytest.raises(DamagedError):
        kept.restore(KEY, OUTPUTS)
    assert contents() == before
    assert not kept.holds(KEY)


@pytest.mark.parametrize("name", ["resultr/counts.zarr/x/c/0", "results/counts.zarr/zarr.json"])
def test_restore__misses_no_line_of_the_list(kept, name):
    listed = kept.folder / KEY / "digests.json"
    listed.write_text(listed.read_text().replace("results/counts.zarr/x/c/0", name))
    with pytest.raises(DamagedError, match=r"digests\.json was changed"):
        kept.restore(KEY, OUTPUTS)


@pytest.mark.parametrize("name", [".", "/etc"])
def test_restore__takes_nothing_from_outside_an_entry(kept, name):
    listed = kept.folder / KEY / "digests.json"
    held = json.loads(listed.read_text())
    held["files"] |= {f"{name}/../../secret": "0" * 64}
    held["digest"] = index._summary(held["files"])
    listed.write_text(json.dumps(held))
    with pytest.raises(DamagedError):
        kept.restore(KEY, OUTPUTS)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_restore__with_any_bit_flipped_gives_back_what_was_kept_or_nothing(kept, data):
    make(1)
    kept.keep(KEY, OUTPUTS)
    before = contents()
    inside = sorted(path for path in (kept.folder / KEY).rglob("*") if path.is_file())
    path = data.draw(st.sampled_from(inside))
    held = bytearray(path.read_bytes())
    held[data.draw(st.integers(0, len(held) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(held)
    make(2)
    other = contents()
    try:
        restored = kept.restore(KEY, OUTPUTS)
    except DamagedError:
        restored = False
    assert contents() == (before if restored else other)
    kept.clear()


def test_restore__of_an_entry_that_another_run_removes_meanwhile_finds_nothing(kept, monkeypatch):
    copy = entries._copy

    def removed(source, target):
        shutil.rmtree(kept.folder / KEY, ignore_errors=True)
        return copy(source, target)

    monkeypatch.setattr(entries, "_copy", removed)
    before = contents()
    assert not kept.restore(KEY, OUTPUTS)
    assert contents() == before


@pytest.mark.parametrize(
    "harm", [lambda: flip(STORE / "x/c/0"), lambda: (STORE / ".sha256").write_bytes(b"\xff")]
)
def test_keep__of_what_is_not_as_its_list_has_it_is_refused(kept, harm):
    harm()
    with pytest.raises(DamagedError, match=r"counts\.zarr is not as its list"):
        kept.keep(OTHER, OUTPUTS)
    assert not kept.holds(OTHER)
    assert not left(kept)


@pytest.mark.parametrize("name", [STORE.as_posix(), TABLE.as_posix()])
def test_keep__of_what_is_not_as_it_was_made_is_refused(kept, name):
    digests = {
        STORE.as_posix(): file_digests.sha256(STORE / file_digests.LIST),
        TABLE.as_posix(): file_digests.sha256(TABLE),
    }
    kept.keep(OTHER, OUTPUTS, digests)
    assert kept.holds(OTHER)
    with pytest.raises(DamagedError, match="not as it was made"):
        kept.keep(THIRD, OUTPUTS, digests | {name: "0" * 64})
    assert not kept.holds(THIRD)


def test_keep__of_what_is_there_already_leaves_it(kept):
    before = (kept.folder / KEY / "digests.json").stat().st_ino
    make(2)
    kept.keep(KEY, OUTPUTS)
    assert (kept.folder / KEY / "digests.json").stat().st_ino == before


def test_keep__from_many_runs_at_once(kept):
    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(kept.keep, key, OUTPUTS) for key in (OTHER, THIRD) * 8]
    assert [job.result() for job in done] == [None] * 16
    before = contents()
    assert kept.restore(THIRD, OUTPUTS)
    assert contents() == before
    assert not left(kept)


def test_keep__takes_a_part_of_the_limit_and_of_the_disk_at_most(kept, monkeypatch):
    size = json.loads((kept.folder / KEY / "digests.json").read_text())["bytes"]
    with pytest.raises(TooLargeError):
        Entries(kept.folder, 4 * size - 4).keep(OTHER, OUTPUTS)
    usage = shutil.disk_usage(kept.folder)._replace(free=10 * size - 10)
    monkeypatch.setattr(entries.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(TooLargeError):
        kept.keep(OTHER, OUTPUTS)
    assert not kept.holds(OTHER)


def used(cache, key, seconds):
    os.utime(cache.folder / key / "digests.json", (seconds, seconds))


def test_evict__removes_what_was_used_longest_ago(kept):
    make(2)
    kept.keep(OTHER, OUTPUTS)
    kept.keep(THIRD, OUTPUTS)
    size = json.loads((kept.folder / KEY / "digests.json").read_text())["bytes"]
    for seconds, key in enumerate((KEY, OTHER, THIRD), start=1000):
        used(kept, key, seconds)
    assert kept.restore(KEY, OUTPUTS)
    kept.evict()
    assert all(map(kept.holds, (KEY, OTHER, THIRD)))
    Entries(kept.folder, 2 * size).evict()
    assert [key for key in (KEY, OTHER, THIRD) if kept.holds(key)] == [KEY, THIRD]
    Entries(kept.folder, size - 1).evict()
    assert not list(kept.folder.iterdir())


def test_evict__sweeps_what_a_killed_run_left(kept):
    new, old = (kept.folder / f".partial.{name}" for name in ("new", "old"))
    for folder in (new, old):
        (folder / "files").mkdir(parents=True)
    os.utime(old, (0, 0))
    kept.evict()
    assert left(kept) == [new]


def test_evict__takes_an_entry_whose_list_is_damaged_for_the_oldest(kept):
    (kept.folder / KEY / "digests.json").write_text('{"bytes": Infinity}')
    kept.evict()
    assert kept.holds(KEY)
    kept.keep(OTHER, OUTPUTS)
    Entries(kept.folder, 1).evict()
    assert not list(kept.folder.iterdir())


def test_clear__removes_entries_and_nothing_else(kept):
    mine = kept.folder / "mine.txt"
    mine.write_text("mine")
    (kept.folder / OTHER).mkdir()
    count, size = kept.clear()
    assert (count, size > 0) == (2, True)
    assert list(kept.folder.iterdir()) == [mine]
    assert Entries(kept.folder / "nowhere", 1).clear() == (0, 0)
