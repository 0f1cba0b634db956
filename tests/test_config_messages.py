"""Which texts there are to translate, and whether the catalogues have them."""

from importlib import import_module
from pathlib import Path

import pytest
import yaml

from pipeline.artifacts.catalog import CATALOG
from pipeline.claims.catalog import CLAIMS
from pipeline.config import messages
from pipeline.config.load import load
from pipeline.words import TRANSLATIONS, catalogue_file, translations

CHECKOUT = Path(__file__).resolve().parent.parent
UPDATE = "; python -m pipeline.config.messages brings them up to date"


@pytest.fixture(scope="module")
def config():
    return load(yaml.safe_load((CHECKOUT / "config/config.yaml").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def every():
    return messages.every()


def test_every__holds_captions_headings_names_and_marked_texts(every):
    roofline = import_module(CATALOG[10]["roofline"])
    assert every[roofline.ARTIFACT.caption] == "pipeline/artifacts/lecture10/roofline.py"
    assert every["{title}."] == "pipeline/artifacts/artifact.py"
    assert every["FP32 lanes per SM"] == "pipeline/artifacts/lecture10/gpus.py"
    assert every["k03 shared memory"] == "pipeline/kernels/k03_smem.py"
    assert every["7 kernels in a graph"] == "config/config.yaml"
    assert "" not in every


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_catalogue__is_what_the_command_writes(language):
    held = catalogue_file(language).read_bytes()
    assert messages.renewed(language, held) == held, f"{language}.po is out of date{UPDATE}"


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_catalogue__translates_every_text(every, language):
    missing = sorted(set(every) - set(translations(language)))
    assert missing == [], f"{language}.po lacks translations"


def test_renewed__keeps_translations_and_drops_what_is_gone(every):
    kept, *_ = every
    old = f'msgid "{kept}"\nmsgstr "X"\n\nmsgid "no such text"\nmsgstr "Y"\n'.encode()
    written = messages.renewed("zh", old).decode()
    assert written.count(f'msgid "{kept}"\nmsgstr "X"\n') == 1
    assert "no such text" not in written
    assert written.count("\nmsgid ") == len(every) + 1


def reached(config, monkeypatch, text):
    """Artifacts that are made again when the translation of a text changes."""
    every = [
        (f"lecture{number}", artifact) for number, held in CATALOG.items() for artifact in held
    ]
    before = {artifact: messages.used(config, *artifact) for artifact in every}
    changed = dict(translations("zh")) | {text: "另一个说法"}
    monkeypatch.setattr("pipeline.words.translations", lambda language: changed)
    return {one[1] for one in every if messages.used(config, *one) != before[one]}


def test_used__a_caption_reaches_its_artifact_alone(config, monkeypatch):
    caption = import_module(CATALOG[10]["roofline"]).ARTIFACT.caption
    assert reached(config, monkeypatch, caption) == {"roofline"}


def test_used__the_name_of_a_kernel_reaches_those_that_show_kernels(config, monkeypatch):
    found = reached(config, monkeypatch, "k03 shared memory")
    assert {"kernels", "counters", "roofline"} <= found
    assert not found & {"gpus", "ledger", "ideal", "timeline", "mma_fragments"}


def test_used__the_name_of_an_execution_reaches_those_that_show_executions(config, monkeypatch):
    found = reached(config, monkeypatch, "7 kernels in a graph")
    assert {"timeline", "timeline_parts", "sensitivity"} <= found
    assert not found & {"gpus", "kernels", "roofline"}


@pytest.mark.parametrize("language", ["en", "zh", "both"])
def test_used__names_the_languages_that_are_made(config, language):
    chosen = config.model_copy(update={"language": language})
    used = messages.used(chosen, "lecture10", "gpus")
    assert list(used) == (["en", "zh"] if language == "both" else [language])


def test_used_by_claims__a_statement_and_a_name_reach_them(config, monkeypatch):
    before = messages.used_by_claims(config)
    assert list(before) == ["zh"]
    for text, reaches in (
        (CLAIMS[0].statement, True),
        ("k03 shared memory", True),
        (import_module(CATALOG[10]["roofline"]).ARTIFACT.caption, False),
    ):
        changed = dict(translations("zh")) | {text: "另一个说法"}
        monkeypatch.setattr("pipeline.words.translations", lambda language, held=changed: held)
        assert (messages.used_by_claims(config) != before) == reaches
        monkeypatch.undo()


def test_used_by_site__words_of_pages_and_names_reach_it(config, monkeypatch):
    before = messages.used_by_site(config)
    assert list(before) == ["en", "zh"]
    for text, reaches in (
        ("How to read", True),
        ("7 kernels in a graph", True),
        ("a block has between 1 and 1024 threads", True),
        ("k03 shared memory", False),
        (import_module(CATALOG[10]["roofline"]).ARTIFACT.caption, False),
    ):
        changed = dict(translations("zh")) | {text: "另一个说法"}
        monkeypatch.setattr("pipeline.words.translations", lambda language, held=changed: held)
        assert (messages.used_by_site(config) != before) == reaches, text
        monkeypatch.undo()
