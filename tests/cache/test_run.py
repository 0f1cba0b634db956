"""A run takes from the cache what was made of the same, and a cache that fails stops nothing."""

import os
from pathlib import Path

import pytest

from pipeline import manifest
from pipeline.cache.entries import Entries
from pipeline.cache.run import Run
from pipeline.file_digests import sha256
from pipeline.manifest import Job

OUT = "results/out.txt"
JOB = Job("out", {}, {"code": "c0de"}, (OUT,), ("in.txt",))
CODE = Path("pipeline/model.py")


@pytest.fixture
def said():
    return []


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one input, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for folder in ("pipeline", "workflow", "results"):
        Path(folder).mkdir()
    CODE.write_text("")
    Path("in.txt").write_text("1\n")
    return tmp_path


@pytest.fixture
def run(checkout, said):
    """Start a run."""

    def started(cache="cache", limit=1e6):
        entries = cache and Entries(Path(cache), limit)
        return Run(entries, checkout, said.append)

    return started


def execute(run, job=JOB, before_it_ends=lambda: None):
    """Run a job as the workflow does; gives whether it was computed."""
    Path(OUT).unlink(missing_ok=True)
    if run.restore(job):
        return False
    Path(OUT).write_text(f"made of {Path('in.txt').read_text()}")
    before_it_ends()
    run.finished(job)
    return True


def test_run__computes_once(run, said):
    assert execute(first := run())
    assert not execute(second := run())
    assert Path(OUT).read_text() == "made of 1\n"
    assert first.keys == second.keys
    assert set(first.keys) == {"out"}
    assert (first.restored, second.restored) == (set(), {"out"})
    assert second.told() == "1 job taken from the cache, not run."
    assert said == []


def test_run__back_to_an_input_that_was_there_before(run):
    computed = []
    for value in "1\n", "2\n", "1\n", "2\n":
        Path("in.txt").write_text(value)
        computed.append(execute(run()))
        assert Path(OUT).read_text() == f"made of {value}"
    assert computed == [True, True, False, False]


def test_run__with_the_cache_off_finds_keys_and_keeps_nothing(run, checkout):
    kept = run()
    execute(kept)
    off = run(cache=None)
    assert execute(off)
    assert off.keys == kept.keys
    off.adopt({"a" * 64: {OUT: sha256(Path(OUT))}})
    off.close()
    assert len(list((checkout / "cache").iterdir())) == 1


@pytest.mark.parametrize(
    "edit",
    [
        lambda: CODE.write_text("edited"),
        CODE.unlink,
        lambda: Path("in.txt").write_text("2\n"),
        Path("in.txt").unlink,
    ],
)
def test_run__keeps_nothing_of_a_job_during_which_something_was_edited(run, edit):
    edited = run()
    assert execute(edited, before_it_ends=edit)
    assert edited.keys == {}
    CODE.write_text("")
    Path("in.txt").write_text("1\n")
    assert execute(run())


def test_run__watches_files_of_the_users_own(run):
    own = Path("mine.py")
    own.write_text("")
    edited = run()
    edited.watch([own])
    execute(edited, before_it_ends=lambda: own.write_text("edited"))
    assert edited.keys == {}


def test_run__takes_no_notice_of_compiled_files(run):
    cached = CODE.parent / "__pycache__"
    cached.mkdir()
    (cached / "model.pyc").write_text("")
    quiet = run()
    execute(quiet, before_it_ends=lambda: (cached / "model.pyc").write_text("new"))
    assert quiet.keys


def test_run__a_damaged_entry_is_told_and_the_job_is_run(run, said):
    execute(first := run())
    (key,) = first.keys.values()
    Path(f"cache/{key}/files/{OUT}").write_text("damaged")
    assert execute(run())
    assert said == [f"out: what the cache had is damaged ({OUT} was changed); it is made anew"]
    assert not execute(run())


def test_run__a_cache_that_cannot_be_written_is_told_once(run, said, checkout):
    (checkout / "cache").write_text("a file")
    broken = run()
    assert execute(broken)
    assert execute(broken)
    broken.close()
    (line,) = said
    assert line.startswith("Nothing more is kept in the cache cache: ")


def test_run__a_job_whose_key_cannot_be_told_is_run(run, said):
    strange = Job("out", {}, {"settings": {1, 2}}, (OUT,), ("in.txt",))
    odd = run()
    assert execute(odd, strange)
    assert odd.keys == {}
    assert said == ["out: not looked for in the cache: {1, 2} is a set, which is no plain value"]


def test_run__a_result_too_large_is_not_kept(run, said):
    small = run(limit=1.0)
    assert execute(small)
    assert execute(run())
    assert said == []


def test_close__keeps_the_limit(run):
    execute(run())
    again = run(limit=1.0)
    again.close()
    assert not list(Path("cache").iterdir())


def test_adopt__keeps_what_the_manifest_knows(run):
    first = run(cache=None)
    execute(first)
    manifest.enter(Path("results"), [JOB], first.keys)
    second = run()
    second.adopt(manifest.forget(Path("results"), [JOB]))
    assert not execute(second)
    assert Path(OUT).read_text() == "made of 1\n"


def test_adopt__leaves_out_what_was_changed_since(run):
    first = run(cache=None)
    execute(first)
    manifest.enter(Path("results"), [JOB], first.keys)
    Path(OUT).write_text("changed\n")
    second = run()
    second.adopt(manifest.forget(Path("results"), [JOB]))
    assert execute(second)
    assert Path(OUT).read_text() == "made of 1\n"


@pytest.mark.parametrize("key", ["../../outside", "A" * 64, "3", "None"])
def test_adopt__takes_no_key_that_is_none(run, checkout, key):
    execute(run(cache=None))
    run().adopt({key: {OUT: sha256(Path(OUT))}})
    assert not (checkout / "cache").exists()


RESULTS = Path("results")


def test_enter__has_the_keys_of_a_run_that_was_killed(run):
    execute(killed := run())
    (key,) = killed.keys.values()
    run().enter(RESULTS, [JOB])
    assert manifest.keys(RESULTS) == {"out": key}
    assert run().keys == {}


def test_outdated__an_input_of_other_content_shows_whatever_its_time_stamp(run):
    made = run()
    execute(made)
    made.enter(RESULTS, [JOB])
    assert not run().outdated(JOB, RESULTS)
    os.utime("in.txt", (0, 0))
    assert not run().outdated(JOB, RESULTS)
    Path("in.txt").write_text("2\n")
    os.utime("in.txt", (0, 0))
    assert run().outdated(JOB, RESULTS)


def test_outdated__what_is_not_known_or_not_there_is_left_to_time_stamps(run):
    assert not run().outdated(JOB, RESULTS)
    made = run()
    execute(made)
    made.enter(RESULTS, [JOB])
    Path("in.txt").unlink()
    assert not run().outdated(JOB, RESULTS)
    (RESULTS / manifest.NAME).write_text("{")
    assert not run().outdated(JOB, RESULTS)
