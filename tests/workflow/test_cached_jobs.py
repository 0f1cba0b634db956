"""Going back is free: what was made before is restored, and never the wrong thing.

Each row is a way back on the real workflow, with a chain of three jobs.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from pipeline.cache.run import RESTORED
from tests.workflow.scratch import copy_checkout, digests

pytestmark = pytest.mark.workflow

TARGET = "results/lecture10/words/tile_order.json"
LOGS = {"gpus": "gpus.log", "tile_order": "tile_order.log", "artifact": "lecture10/tile_order.log"}
# What the second and the third job depend on.
OTHER = {"tile_order": {"largest_group": 4}}
THIRD = {"tile_order": {"largest_group": 2}}
SCRIPT = "workflow/scripts/tile_order.py"


def run(scratch):
    """Run the chain; gives exit code, the jobs that were computed, and what was said."""
    logs = {name: scratch.folder / "logs" / log for name, log in LOGS.items()}
    for log in logs.values():
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(RESTORED)
    code, shown = scratch.snakemake(TARGET)
    return code, {name for name, log in logs.items() if log.read_text() != RESTORED}, shown


def results(scratch):
    """Digest of every result."""
    return digests(scratch.folder / "results")


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """A checkout with a cache that knows two configurations, and their results by name."""
    scratch = replace(copy_checkout(tmp_path_factory.mktemp("cached")), cache=".cache")
    code, computed, shown = run(scratch)
    assert (code, computed) == (0, set(LOGS)), shown
    first = results(scratch)
    shutil.copytree(scratch.folder / "results", scratch.folder.parent / "first")
    with scratch.configured(**OTHER):
        code, computed, shown = run(scratch)
    assert (code, computed) == (0, {"tile_order", "artifact"}), shown
    second = results(scratch)
    assert first["tile_order.zarr/.sha256"] != second["tile_order.zarr/.sha256"]
    return scratch, first, second


@pytest.fixture
def row(record_property):
    record_property("table", "ways back without computing")


def forget(scratch, *names):
    for name in names:
        shutil.rmtree(scratch.folder / name)


@pytest.mark.parametrize("lost", [(), ("results",), (".snakemake",), ("results", ".snakemake")])
def test_back__to_what_was_made_before(chain, row, lost):
    scratch, first, second = chain
    other = results(scratch) == first
    forget(scratch, *lost)
    with scratch.configured(**OTHER if other else {}):
        code, computed, shown = run(scratch)
    assert (code, computed, results(scratch)) == (0, set(), second if other else first), shown
    assert f"{3 if lost else 2} jobs taken from the cache, not run." in shown


def test_back__after_a_rebuild_that_failed(chain, row):
    scratch, first, _ = chain
    with scratch.edited(SCRIPT, "runlog.start", "raise SystemExit(1)\nrunlog.start"):
        code, _, shown = run(scratch)
    assert code == 1, shown
    assert not (scratch.folder / "results/tile_order.zarr").exists()
    code, computed, shown = run(scratch)
    assert (code, computed, results(scratch)) == (0, set(), first), shown


def test_back__what_is_damaged_in_the_cache_is_made_anew(chain, row):
    scratch, first, _ = chain
    (entry,) = scratch.folder.glob(".cache/results/*/files/results/gpus.zarr/zarr.json")
    entry.write_bytes(entry.read_bytes().replace(b"H100", b"H200"))
    forget(scratch, "results")
    code, computed, shown = run(scratch)
    assert (code, computed, results(scratch)) == (0, {"gpus"}, first), shown
    assert "gpus: what the cache had is damaged (results/gpus.zarr/zarr.json was changed)" in shown


def test_back__an_edit_that_changes_no_content_stops_there(chain, row):
    scratch, first, _ = chain
    with scratch.edited("workflow/scripts/gpus.py", "runlog.start", "unused = 1\nrunlog.start"):
        code, computed, shown = run(scratch)
        assert (code, computed) == (0, {"gpus"}), shown
        found = results(scratch)
    # These say which code it was.
    noted = {"manifest.json", "gpus.zarr/.sha256", "gpus.zarr/zarr.json"}
    assert {name for name in first if found[name] != first[name]} == noted


def test_copy__results_without_records_are_taken_over_if_they_are_what_is_asked_for(
    chain, row, tmp_path
):
    scratch, first, _ = chain
    copy = replace(copy_checkout(tmp_path), cache=".cache")
    shutil.copytree(scratch.folder.parent / "first", copy.folder / "results")
    with copy.configured(**THIRD):
        code, computed, shown = run(copy)
    assert (code, computed) == (0, {"tile_order", "artifact"}), shown
    code, computed, shown = run(copy)
    assert (code, computed, results(copy)) == (0, set(), first), shown


def test_two_checkouts__share_a_cache_at_once(chain, row, tmp_path):
    _, first, _ = chain
    places = [tmp_path / name for name in ("one", "other")]
    for place in places:
        place.mkdir()
    both = [replace(copy_checkout(place), cache=str(tmp_path / "shared")) for place in places]
    with ThreadPoolExecutor() as pool:
        for code, _, shown in pool.map(run, both):
            assert code == 0, shown
    assert [results(copy) for copy in both] == [first, first]
    assert len(list((tmp_path / "shared/results").iterdir())) == len(LOGS)


def test_off__computes_all_and_gives_the_same_manifest(chain, row):
    scratch, first, _ = chain
    forget(scratch, "results")
    code, computed, shown = run(replace(scratch, cache="off"))
    assert (code, computed, results(scratch)) == (0, set(LOGS), first), shown


def test_record__one_that_is_lost_is_noticed(chain, row):
    scratch, first, second = chain
    other = results(scratch) == first
    for record in (scratch.folder / ".snakemake/metadata").rglob("*"):
        if record.is_file() and '"rule": "tile_order"' in record.read_text():
            record.unlink()
    with scratch.configured(**OTHER if other else {}):
        code, computed, shown = run(scratch)
    assert (code, computed, results(scratch)) == (0, set(), second if other else first), shown


def test_job__that_a_cluster_runs_asks_the_cache_too(chain, row):
    scratch, _, _ = chain
    log = scratch.folder / "logs/gpus.log"
    log.unlink(missing_ok=True)
    # As an executor starts it on a node, where no profile is read.
    node = ("--mode", "remote", "--no-hooks", "--nolock", "--cores", "1")
    job = ("--force", "--allowed-rules", "gpus", "--target-jobs", "gpus:")
    code, shown = scratch.snakemake(*node, *job)
    assert code == 0, shown
    assert log.read_text() == RESTORED
