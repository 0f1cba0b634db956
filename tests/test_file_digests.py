"""Digests of files, as sha256sum writes and checks them."""

import subprocess

import pytest

from pipeline.file_digests import (
    CONTENT,
    LIST,
    differences,
    read_list,
    sha256,
    write_content,
    write_list,
)


@pytest.fixture
def folder(tmp_path):
    """A folder with files in it and below, and its list."""
    (tmp_path / "c/0").mkdir(parents=True)
    (tmp_path / "zarr.json").write_text("{}")
    (tmp_path / "c/0/1").write_bytes(bytes(range(256)) * 5000)
    (tmp_path / ".snakemake_timestamp").touch()
    write_list(tmp_path)
    return tmp_path


def test_write_list__is_what_sha256sum_checks(folder):
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", LIST],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "c/0/1: OK\nzarr.json: OK\n"
    assert read_list(folder)["c/0/1"] == sha256(folder / "c/0/1")


def test_differences__of_what_was_left_alone_there_are_none(folder):
    (folder / ".snakemake_timestamp").write_text("later")
    assert differences(folder) == []


def test_differences__names_each_file(folder):
    (folder / "zarr.json").write_text("{ }")
    (folder / "c/0/1").unlink()
    (folder / "c/0/2").touch()
    assert differences(folder) == [
        "c/0/1 is missing",
        "c/0/2 does not belong there",
        "zarr.json was changed",
    ]


def test_differences__without_a_list_there_is_nothing_to_compare(tmp_path):
    with pytest.raises(OSError, match=LIST):
        differences(tmp_path)


def test_write_content__is_the_digest_of_the_list_and_listed_itself(folder):
    before = sha256(folder / LIST)
    write_content(folder)
    write_list(folder)
    assert (folder / CONTENT).read_text() == f"{before}\n"
    (folder / CONTENT).write_text(f"{'0' * 64}\n")
    assert differences(folder) == [f"{CONTENT} was changed"]
