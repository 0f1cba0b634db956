"""Where the cache is, and how it is emptied."""

from pathlib import Path

import pytest

from pipeline.cache import clean
from pipeline.cache.entries import Entries
from pipeline.cache.place import from_environment
from pipeline.errors import ConfigError


def test_from_environment__by_itself_is_in_the_checkout():
    assert from_environment({}) == Entries(Path(".cache/results"), 2e9)
    assert from_environment({"PAPER_GPU_CACHE": "", "PAPER_GPU_CACHE_GB": ""}) == from_environment(
        {}
    )


def test_from_environment__names_a_folder_and_a_limit(monkeypatch):
    monkeypatch.setenv("HOME", "/home/reader")
    named = {"PAPER_GPU_CACHE": "~/kept", "PAPER_GPU_CACHE_GB": "0.5"}
    assert from_environment(named) == Entries(Path("/home/reader/kept/results"), 5e8)


@pytest.mark.parametrize("word", ["off", "OFF"])
def test_from_environment__switches_it_off(word):
    assert from_environment({"PAPER_GPU_CACHE": word}) is None


@pytest.mark.parametrize("given", ["0", "-1", "nan", "inf", "2 GB", "much"])
def test_from_environment__refuses_a_limit_that_is_none(given):
    with pytest.raises(ConfigError, match=r"PAPER_GPU_CACHE_GB \(environment\): .* above 0"):
        from_environment({"PAPER_GPU_CACHE_GB": given, "PAPER_GPU_CACHE": "off"})


def test_from_environment__refuses_a_home_of_nobody():
    with pytest.raises(ConfigError, match=r"PAPER_GPU_CACHE .* '~nobody at all/x' is no folder"):
        from_environment({"PAPER_GPU_CACHE": "~nobody at all/x"})


def test_clean__says_what_it_removed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAPER_GPU_CACHE", str(tmp_path / "kept"))
    Path("result").write_bytes(bytes(2_000_000))
    from_environment({"PAPER_GPU_CACHE": str(tmp_path / "kept")}).keep("a" * 64, [Path("result")])
    (tmp_path / "kept/mine.txt").write_text("mine")
    assert clean.main() == 0
    said = f"1 kept results removed from {tmp_path}/kept/results, 2 MB.\n"
    assert capsys.readouterr().out == said
    assert (tmp_path / "kept/mine.txt").exists()
    monkeypatch.setenv("PAPER_GPU_CACHE", "off")
    assert clean.main() == 0
    assert capsys.readouterr().out == "The cache is off.\n"
    monkeypatch.setenv("PAPER_GPU_CACHE_GB", "much")
    assert clean.main() == 1
    assert "no size" in capsys.readouterr().err
