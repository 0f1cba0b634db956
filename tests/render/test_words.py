import json

from docutils.core import publish_parts

from pipeline.render.words import render_words

ABOUT = {
    "id": "toy",
    "words": {
        "en": {
            "title": "A *toy*",
            "caption": "Half `of` a_b_ <i>.",
            "reading": "",
            "alt": "A toy.",
        },
        "zh": {"title": "玩具", "caption": "一半。", "reading": "看图。", "alt": "玩具。"},
    },
}


def written(tmp_path):
    render_words(ABOUT, [tmp_path / "toy.json", tmp_path / "toy.rst"])
    return tmp_path


def test_render_words__json_reads_back(tmp_path):
    text = (written(tmp_path) / "toy.json").read_text()
    assert json.loads(text) == ABOUT
    assert "玩具" in text


def test_render_words__a_report_takes_one_language_out_as_it_is_written(tmp_path):
    path = written(tmp_path) / "toy.rst"
    body = {
        language: publish_parts(
            f".. include:: {path}\n"
            f"   :start-after: .. begin {language}\n"
            f"   :end-before: .. end {language}\n",
            writer="html",
        )["body"]
        for language in ("en", "zh")
    }
    assert "<strong>A *toy*</strong>" in body["en"]
    assert "Half `of` a_b_ &lt;i&gt;." in body["en"]
    assert "玩具" not in body["en"]
    assert "看图。" in body["zh"]
    assert "toy" not in body["zh"]
