"""The manifest holds at any time, and every damage on disk is named."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline import check_results, manifest, store
from pipeline.check_results import check
from pipeline.errors import DataError
from pipeline.manifest import Job

LABEL = {"units": "1", "long_name": "number"}
STORE = "results/counts.zarr"
TABLE = "results/lecture10/tables/gpus.csv"


def job(rule, *outputs, **params):
    return Job(rule, {}, params, outputs)


def make(output, content):
    if output.endswith(".zarr"):
        store.write(xr.Dataset({"x": ("n", np.full(4, content), LABEL)}), output)
    else:
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        Path(output).write_text(f"{content}\n")


COUNTS = job("counts", STORE, settings={"seed": 0}, code="c0de", versions={"numpy": "2"})
GPUS = job("table", TABLE, "results/lecture10/tables/gpus.md")


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Results of a finished run, in the current folder."""
    monkeypatch.chdir(tmp_path)
    folder = check_results.FOLDER
    manifest.forget(folder, [COUNTS, GPUS])
    for output in (*COUNTS.outputs, *GPUS.outputs):
        make(output, 1)
    manifest.enter(folder, [COUNTS, GPUS, job("all")], {})
    return folder


def damaged(results):
    return check(results).damaged


def test_check__results_as_made(results, capsys):
    found = check(results)
    assert (found.whole, found.damaged, found.unknown) == (3, [], [])
    assert check_results.main() == 0
    assert capsys.readouterr().out == "3 results as made.\n"


def test_manifest__says_what_made_each_result(results):
    held = json.loads((results / manifest.NAME).read_text())
    assert held["counts"]["settings"] == {"settings": {"seed": 0}}
    assert (held["counts"]["code"], held["counts"]["versions"]) == ("c0de", {"numpy": "2"})
    assert list(held["counts"]["outputs"]) == [STORE]
    assert set(held) == {"counts", "table"}


def test_manifest__names_jobs_of_one_rule_apart():
    one, other = (Job("simulate", {"kernel": name}, {}, ()) for name in ("k01", "k02"))
    assert (one.name, other.name) == ("simulate kernel=k01", "simulate kernel=k02")


def flipped(name):
    path = Path(name)
    held = bytearray(path.read_bytes())
    held[len(held) // 2] ^= 1
    path.write_bytes(held)


@pytest.mark.parametrize("name", [f"{STORE}/zarr.json", f"{STORE}/x/c/0", f"{STORE}/x/zarr.json"])
def test_check__a_flipped_bit_of_a_store_is_named(results, name):
    flipped(name)
    assert damaged(results) == [f"{STORE}: {name.removeprefix(f'{STORE}/')} was changed"]


def test_check__a_deleted_chunk_is_named(results, capsys):
    Path(f"{STORE}/x/c/0").unlink()
    assert damaged(results) == [f"{STORE}: x/c/0 is missing"]
    assert check_results.main() == 1
    assert "Delete what is named here, then `snakemake all`" in capsys.readouterr().out


def test_check__a_changed_or_truncated_table_is_named(results):
    flipped(TABLE)
    assert damaged(results) == [f"{TABLE}: was changed"]
    Path(TABLE).write_text("")
    assert damaged(results) == [f"{TABLE}: was changed"]


def test_check__a_result_that_is_gone_is_named(results):
    shutil.rmtree(STORE)
    Path(TABLE).unlink()
    assert damaged(results) == [f"{STORE}: is missing", f"{TABLE}: is missing"]


def test_check__a_store_of_another_run_is_not_taken_for_the_one_that_was_made(results):
    make(STORE, 2)
    assert damaged(results) == [f"{STORE}: was changed"]


def test_check__a_store_whose_list_is_gone_cannot_be_verified(results):
    Path(f"{STORE}/.sha256").unlink()
    (line,) = damaged(results)
    assert line.startswith(f"{STORE}: cannot be verified")


def test_check__files_that_nobody_made_are_named(results):
    make("results/mine.txt", 1)
    make("results/.tiles.zarr.growing/journal", 1)
    found = check(results)
    assert (found.damaged, found.unknown) == ([], ["results/mine.txt"])
    assert check_results.main() == 1


def test_check__without_results(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert check_results.main() == 1
    assert "run `snakemake all`" in capsys.readouterr().err


@pytest.mark.parametrize("held", ["", "{", "[]", '{"counts": {}}', '{"counts": {"outputs": 3}}'])
def test_manifest__that_is_damaged_is_named_and_written_anew(results, held):
    (results / manifest.NAME).write_text(held)
    assert "this is no manifest" in damaged(results)[0]
    with pytest.raises(DataError, match="delete it"):
        manifest.read(results)
    manifest.enter(results, [COUNTS, GPUS], {})
    assert check(results).whole == 3


def test_manifest__a_run_that_was_killed_leaves_no_wrong_digest(results):
    manifest.forget(results, [COUNTS])
    make(STORE, 2)
    # Here the run is killed.
    assert check(results).unknown == [STORE]
    manifest.enter(results, [COUNTS, GPUS], {})
    assert check(results).whole == 3


def test_manifest__a_later_run_does_not_bless_what_was_changed(results):
    make(TABLE, 2)
    manifest.forget(results, [COUNTS])
    manifest.enter(results, [COUNTS, GPUS], {})
    assert damaged(results) == [f"{TABLE}: was changed"]


def test_manifest__forgets_what_is_no_longer_there(results):
    shutil.rmtree(STORE)
    manifest.enter(results, [GPUS], {})
    assert damaged(results) == []


def test_manifest__a_part_that_was_deleted_is_missed_by_a_later_run_too(results):
    Path(TABLE).unlink()
    manifest.forget(results, [COUNTS])
    manifest.enter(results, [COUNTS, GPUS], {})
    assert damaged(results) == [f"{TABLE}: is missing"]


def test_manifest__a_rule_with_another_name_takes_over_what_it_makes(results):
    artifact = job("artifact", *GPUS.outputs)
    manifest.forget(results, [artifact])
    make(TABLE, 2)
    manifest.enter(results, [COUNTS, artifact], {})
    assert check(results).whole == 3
    assert set(manifest.read(results)) == {"counts", "artifact"}


def test_manifest__does_not_depend_on_the_order_of_the_jobs(results):
    before = (results / manifest.NAME).read_bytes()
    (results / manifest.NAME).unlink()
    manifest.enter(results, [job("all"), GPUS, COUNTS], {})
    assert (results / manifest.NAME).read_bytes() == before


def test_manifest__a_folder_without_a_list_is_entered_file_by_file(results):
    site = job("site", "results/site")
    make("results/site/index.html", 1)
    manifest.enter(results, [site], {})
    assert check(results).whole == 4
    flipped("results/site/index.html")
    assert damaged(results) == ["results/site/index.html: was changed"]
    manifest.forget(results, [site])
    manifest.enter(results, [site], {})
    assert damaged(results) == []


def test_manifest__a_key_stays_for_as_long_as_all_that_it_speaks_of(results):
    manifest.forget(results, [COUNTS, GPUS])
    manifest.enter(results, [COUNTS, GPUS], {"table": "k"})
    assert manifest.forget(results, [COUNTS]) == {}
    held = manifest.read(results)["table"]
    assert held["key"] == "k"
    # The rule has fewer outputs now: of one of them nothing is said.
    assert manifest.forget(results, [job("table", TABLE)]) == {}
    (rest,) = manifest.read(results).values()
    assert "key" not in rest
    manifest.forget(results, [GPUS])
    manifest.enter(results, [GPUS], {"table": "k"})
    assert manifest.forget(results, [GPUS]) == {"k": held["outputs"]}
