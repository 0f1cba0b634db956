"""All files of an artifact in one go, in every language."""

import json
import warnings

import matplotlib as mpl
import pytest
from matplotlib import font_manager

from pipeline.artifacts import make, make_figure
from pipeline.artifacts.lecture10 import bottlenecks, gpus, mma_fragments
from pipeline.artifacts.style import STYLE
from pipeline.render.figure import lettering
from pipeline.words import translations
from tests.artifacts.test_artifacts import arguments

TABLE = ("csv", "md", "html", "tex", "zh.md", "zh.html", "zh.tex")
FIGURE = ("csv", "svg", "png", "zh.svg", "zh.png")


def outputs(folder, key):
    return [
        *(folder / f"tables/{key}.{ending}" for ending in TABLE),
        *(folder / f"figures/{key}.{ending}" for ending in FIGURE),
        *(folder / f"words/{key}.{ending}" for ending in ("json", "rst")),
    ]


def test_make__writes_every_file_in_every_language(tmp_path):
    paths = outputs(tmp_path, "bottlenecks")
    make.make_tables(bottlenecks, *arguments("bottlenecks"), ["en", "zh"], paths)
    assert not (tmp_path / "figures").exists()
    make_figure.make_figures(bottlenecks, *arguments("bottlenecks"), paths)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(paths)
    assert 'lang="zh"' in (tmp_path / "tables/bottlenecks.zh.html").read_text()
    assert 'lang="en"' in (tmp_path / "tables/bottlenecks.html").read_text()
    assert "ctex" in (tmp_path / "tables/bottlenecks.zh.tex").read_text()
    about = json.loads((tmp_path / "words/bottlenecks.json").read_text())
    assert about["kinds"] == ["table", "figure"]
    assert about["needs"] == dict(bottlenecks.ARTIFACT.needs)
    assert about["parameters"] == {"gpu": "rtx_a6000", "large_n": 4096}
    assert list(about["words"]) == ["en", "zh"]
    for words in about["words"].values():
        assert list(words) == ["title", "caption", "reading", "alt"]


def test_make_tables__in_one_language_the_numbers_stay(tmp_path):
    whole, chinese = tmp_path / "whole", tmp_path / "chinese"
    for folder, endings, languages in (
        (whole, TABLE, ["en", "zh"]),
        (chinese, [TABLE[0], *TABLE[4:]], ["zh"]),
    ):
        paths = [folder / f"tables/gpus.{ending}" for ending in endings]
        make.make_tables(gpus, *arguments("gpus"), languages, [*paths, folder / "words/gpus.json"])
    for path in (chinese / "tables").iterdir():
        assert path.read_bytes() == (whole / "tables" / path.name).read_bytes()
    assert list(json.loads((chinese / "words/gpus.json").read_text())["words"]) == ["zh"]


def test_make_figure__the_same_bytes_each_time_in_chinese(tmp_path):
    for name in ("a.svg", "b.svg"):
        make_figure.make_figure(mma_fragments, *arguments("mma_fragments"), [tmp_path / name], "zh")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_lettering__is_put_back():
    fonts, family = list(font_manager.fontManager.ttflist), mpl.rcParams["font.family"]
    with lettering("zh", STYLE):
        assert mpl.rcParams["font.family"][0] == "Noto Sans SC"
    assert font_manager.fontManager.ttflist == fonts
    assert mpl.rcParams["font.family"] == family


def test_lettering__has_every_letter_of_the_catalogue():
    with lettering("zh", STYLE), warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = mpl.figure.Figure()
        for said in translations("zh").values():
            figure.text(0, 0, said)
        figure.draw_without_rendering()


def test_lettering__a_letter_that_no_font_has_is_noticed():
    figure = mpl.figure.Figure()
    with lettering("zh", STYLE):
        figure.text(0, 0, "\N{EGYPTIAN HIEROGLYPH A001}")
        with pytest.warns(UserWarning, match="missing from font"):
            figure.draw_without_rendering()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_lettering__draws_the_signs_of_results(language):
    signs = (
        "0.5 µs ≥ 1 \N{MULTIPLICATION SIGN} 2 \N{MINUS SIGN}3 ∞ \N{EN DASH} %"
        + {"en": "", "zh": "线程束、扇区。"}[language]
    )
    with lettering(language, STYLE), warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = mpl.figure.Figure()
        figure.text(0.5, 0.5, signs)
        figure.draw_without_rendering()
