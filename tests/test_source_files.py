"""What is kept of a source file is taken while it is right, and never when it is not."""

import os
import sys

import pytest

from pipeline import source_files
from pipeline.source_files import read

TEXT = 'import os\nfrom a.b import c\n\nSAID = "text"\n'


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "one.py"
    path.write_text(TEXT)
    return path


@pytest.fixture
def parsed(monkeypatch):
    """Names of the files that are parsed."""
    names, parse = [], source_files._parsed

    def noted(content, name):
        names.append(name)
        return parse(content, name)

    monkeypatch.setattr(source_files, "_parsed", noted)
    return names


def kept(source):
    (path,) = (source.parent / "__pycache__").iterdir()
    return path


def test_read__gives_imports_and_texts(source):
    found = read(source)
    assert found.imports == ["a.b.c", "os"]
    assert found.texts == ["text"]
    assert len(found.digest) == 64


def test_read__parses_a_file_once(source, parsed):
    assert read(source) == read(source)
    assert parsed == ["one.py"]
    assert kept(source).name == f"one.{sys.implementation.cache_tag}.source"


@pytest.mark.parametrize("at", [0.01, 0.3, 0.6, 0.99], ids=str)
def test_read__what_was_kept_and_then_damaged_is_not_believed(source, parsed, at):
    found = read(source)
    whole = kept(source).read_bytes()
    place = int(at * len(whole))
    for damaged in (
        whole[:place],
        whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :],
        b"",
    ):
        kept(source).write_bytes(damaged)
        assert read(source) == found
        assert kept(source).read_bytes() == whole
    assert len(parsed) == 4


def test_read__another_content_of_the_same_size_and_age_is_read(source, parsed):
    before, stat = read(source), source.stat()
    source.write_text(TEXT.replace("text", "tact"))
    os.utime(source, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert read(source).texts == ["tact"]
    source.write_text(TEXT)
    assert read(source) == before
    assert len(parsed) == 3


def test_read__another_version_of_the_reader_reads_again(source, parsed, monkeypatch):
    read(source)
    monkeypatch.setattr(source_files, "_reader", lambda: b"another")
    read(source)
    assert len(parsed) == 2


def test_read__keeps_nothing_where_it_may_not_or_cannot_write(source, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    read(source)
    assert not (source.parent / "__pycache__").exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (source.parent / "__pycache__").write_text("in the way")
    assert read(source).texts == ["text"]


def test_read__mistakes_are_told_again(source):
    source.write_text("from . import x\n")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"one\.py, line 1: relative import"):
            read(source)
