"""A key changes with everything that a job's outputs depend on, and with nothing else."""

import os
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import file_digests
from pipeline.cache import keys
from pipeline.cache.keys import Digests, key_of
from pipeline.manifest import Job

STORE = "results/gpus.zarr"
TABLE = "data/measured/rates.csv"


class Rule(StrEnum):
    LECTURE = "lecture"


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A job that reads a store and a table, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in (f"{STORE}/zarr.json", f"{STORE}/x/c/0", TABLE):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(name)
    file_digests.write_content(Path(STORE))
    file_digests.write_list(Path(STORE))
    return Job(
        "validation",
        {"kernel": "k01"},
        {"settings": {"n": 64, "rule": "lecture"}, "code": "c0de", "versions": {"numpy": "2"}},
        ("results/validation.zarr",),
        (STORE, TABLE),
        {"input": {"gpus": STORE, "rates": TABLE}, "output": {}},
    )


def key(job):
    return key_of(job, Digests())


def test_key__is_the_same_for_the_same_job_elsewhere(job, tmp_path, monkeypatch):
    before = key(job)
    other = tmp_path / "another folder"
    other.mkdir()
    Path("data").rename(other / "data")
    Path("results").rename(other / "results")
    monkeypatch.chdir(other)
    Path(f"{STORE}/.snakemake_timestamp").touch()
    Path(TABLE).touch()
    assert key(job) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": "other"},
        {"wildcards": {"kernel": "k02"}},
        {"outputs": ("results/other.zarr",)},
        {"outputs": ("results/validation.zarr", "results/more.zarr")},
        {"inputs": (STORE,)},
        {"inputs": (TABLE, STORE)},
        {"names": {"input": {"rates": STORE, "gpus": TABLE}, "output": {}}},
        {"params": {"settings": {"n": 64.0, "rule": "lecture"}}},
        {"params": {"settings": {"rule": "lecture", "n": 64}}},
        {"params": {"settings": {"n": True, "rule": "lecture"}}},
        {"params": {"settings": {"n": "64", "rule": "lecture"}}},
        {"params": {"settings": {"n": [64], "rule": "lecture"}}},
        {"params": {"code": "c0de2"}},
        {"params": {"versions": {"numpy": "2.1"}}},
    ],
    ids=str,
)
def test_key__changes_with_the_job(job, changes):
    if "params" in changes:
        changes = {"params": dict(job.params) | changes["params"]}
    assert key(replace(job, **changes)) != key(job)


@pytest.mark.parametrize("name", [f"{STORE}/{file_digests.CONTENT}", TABLE])
def test_key__changes_with_the_contents_of_an_input_whatever_its_times_are(job, name):
    digests = Digests()
    before, stat = key_of(job, digests), Path(name).stat()
    held = Path(name).read_bytes()
    Path(name).write_bytes(held[:-2] + bytes([held[-2] ^ 1]) + held[-1:])
    os.utime(name, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert key_of(job, digests) != before
    Path(name).write_bytes(held)
    assert key_of(job, digests) == before


@pytest.mark.parametrize("name", ["python_version", "machine", "python_implementation"])
def test_key__changes_with_python_and_the_machine(job, monkeypatch, name):
    before = key(job)
    monkeypatch.setattr(keys.platform, name, lambda: "another")
    assert key(job) != before


def test_key__does_not_change_with_what_made_the_content_of_a_store(job):
    before = key(job)
    Path(f"{STORE}/zarr.json").write_text("made by other code")
    file_digests.write_list(Path(STORE))
    assert key(job) == before
    Path(f"{STORE}/{file_digests.CONTENT}").unlink()
    assert (listed := key(job)) != before
    Path(f"{STORE}/zarr.json").write_text("made by the old code")
    file_digests.write_list(Path(STORE))
    assert key(job) != listed


def test_key__of_a_folder_without_a_list_is_that_of_all_its_files(job):
    folder = replace(job, inputs=("data",))
    before = key(folder)
    Path("data/measured/more.csv").write_text("")
    assert key(folder) != before


@pytest.mark.parametrize(
    "value",
    [{1, 2}, np.arange(3), object(), np.int64(3), Path("a")],
    ids=lambda value: type(value).__name__,
)
def test_key__refuses_a_parameter_that_is_no_plain_value(job, value):
    with pytest.raises(TypeError, match="no plain value"):
        key(replace(job, params={"settings": {"n": [value]}}))


def test_key__takes_values_that_are_plain_below(job):
    def settings(**values):
        return key(replace(job, params={"settings": values}))

    assert settings(rule=Rule.LECTURE, share=np.float64(0.5)) == settings(rule="lecture", share=0.5)


def test_key__of_an_input_that_is_not_there(job):
    Path(TABLE).unlink()
    with pytest.raises(FileNotFoundError):
        key(job)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(PLAIN, PLAIN)
def test_key__tells_any_two_values_apart(one, other):
    found = [key_of(Job("r", {}, {"settings": value}, ()), Digests()) for value in (one, other)]
    assert (found[0] == found[1]) == (repr(one) == repr(other))
