"""The languages: what is said, and which results a translation reaches."""

import re
from collections import Counter
from string import Formatter

import pytest
from babel.messages.pofile import read_po

from pipeline.words import (
    TRANSLATIONS,
    catalogue_file,
    digest,
    english,
    named_together,
    retold,
    spaced,
    speaker,
    together,
    translations,
)


def test_english__is_what_the_source_says():
    assert speaker("en") is english
    assert english("any text, {n} of it") == "any text, {n} of it"


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_speaker__gives_translations_and_leaves_what_it_does_not_know(language):
    say = speaker(language)
    for text, translated in translations(language).items():
        assert say(text) == translated
    assert say("NVIDIA H100 SXM5 80GB, as on its sheet") == "NVIDIA H100 SXM5 80GB, as on its sheet"


def test_speaker__of_a_language_without_a_catalogue_fails():
    with pytest.raises(FileNotFoundError, match=r"xx\.po"):
        speaker("xx")


def test_digest__changes_with_the_words_that_are_used_and_no_others(monkeypatch):
    held = {"time": "时间", "rate": "速率"}
    monkeypatch.setattr("pipeline.words.translations", lambda language: held)
    before = digest("zh", ["time", "a GPU"])
    assert before == digest("zh", {"a GPU", "time", "another GPU"})
    held["rate"] = "吞吐"
    assert digest("zh", ["time"]) == before
    held["time"] = "用时"
    assert digest("zh", ["time"]) != before
    assert digest("en", ["time"]) == digest("en", ["rate"])


def placeholders(text):
    return Counter((name, spec) for _, name, spec, _ in Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_catalogue__has_the_placeholders_of_the_source(language):
    different = {
        text: translated
        for text, translated in translations(language).items()
        if set(placeholders(text)) != set(placeholders(translated))
    }
    assert different == {}


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_catalogue__has_nothing_fuzzy_and_nothing_obsolete(language):
    with catalogue_file(language).open("rb") as file:
        catalogue = read_po(file, locale=language)
    assert [entry.id for entry in catalogue if entry.id and entry.fuzzy] == []
    assert list(catalogue.obsolete) == []


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_catalogue__sentences_end_as_the_language_ends_them(language):
    for text, translated in translations(language).items():
        assert text.endswith(".") == bool(re.search(r"[。.…]$", translated)), text
        assert translated == translated.strip() or text != text.strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("从 k01 朴素 到 k13 Tensor Core，", "从 k01 朴素到 k13 Tensor Core，"),
        ("n = 128（k11 为 256） 和 n = 256", "n = 128（k11 为 256）和 n = 256"),
        ("省下84%流量", "省下 84% 流量"),
        ("头2 层", "头 2 层"),
        ("", ""),
    ],
)
def test_spaced__where_scripts_meet(text, expected):
    assert spaced(text, "zh") == expected
    assert spaced(expected, "zh") == expected
    assert spaced(text, "en") == text


def test_retold__finds_the_template_and_what_was_filled_in():
    held = {
        "{off} than needed: {share:.1%} of all.": "比需要的{off}，占 {share:.1%}。",
        "{amount:,} more": "多 {amount:,}",
    }
    text = "{off} than needed: {share:.1%} of all.".format(off="1,024 more", share=0.5)

    def say(text):
        return held.get(text, text)

    assert retold(text, held, say) == "比需要的多 1,024，占 50.0%。"
    assert retold(text, held, english) == text
    assert retold("Said in no template.", held, say) == "Said in no template."


def test_together_and_lists__as_the_language_joins():
    say = speaker("zh")
    assert together(["One.", "", "Two."], english) == "One. Two."
    assert together(["一。", "二。"], say) == "一。二。"
    assert together([], say) == ""
    assert named_together(["A"], english) == "A"
    assert named_together(["A", "B", "C"], english) == "A, B and C"
    assert named_together(["甲", "乙", "丙"], say) == "甲、乙和丙"


HAN = "[\u4e00-\u9fff]"


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_catalogue__is_punctuated_as_chinese_is(language):
    for text, translated in translations(language).items():
        for fixed, *_ in Formatter().parse(translated):
            assert spaced(fixed, language) == fixed.strip(), text
        assert not re.search(rf"{HAN}[,;:!?.]|[,;:!?]{HAN}|{HAN}\(|\){HAN}", translated), text
