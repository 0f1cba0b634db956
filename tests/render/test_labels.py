import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.font_manager import get_font

from pipeline.render.figure import lettering
from pipeline.render.labels import ELLIPSIS, LABEL_CHARACTERS, UNKNOWN, drawable


def drawn(text, language="en"):
    with lettering(language, {}):
        return drawable(pd.DataFrame({"label": [text]}))["label"].item()


@pytest.mark.parametrize("text", ["", "H100 SXM", "a <b> & $x$ {y}", "x" * LABEL_CHARACTERS])
def test_drawable__short_labels_stay(text):
    assert drawn(text) == text


def test_drawable__long_labels_keep_both_ends():
    short = drawn("first part " + "x" * 200 + " last")
    assert short.startswith("first part")
    assert short.endswith(f"{ELLIPSIS}xxx last")
    assert len(short) < LABEL_CHARACTERS / 1.5


@pytest.mark.parametrize(("language", "shown"), [("en", UNKNOWN), ("zh", "中")])
def test_drawable__signs_without_a_shape_are_replaced(language, shown):
    assert drawn("a \N{ROCKET} 中", language) == f"a {UNKNOWN} {shown}"


def test_drawable__replacement_has_a_shape():
    shapes = get_font(matplotlib.get_data_path() + "/fonts/ttf/DejaVuSans.ttf").get_charmap()
    assert {ord(UNKNOWN), ord(ELLIPSIS)} <= set(shapes)


def test_drawable__numbers_missing_values_and_types_stay():
    frame = pd.DataFrame(
        {
            "whole": [1, 2],
            "share": [0.5, np.nan],
            "flag": [True, False],
            "text": ["a", None],
            "mixed": pd.Series([1, "b"], dtype=object),
        }
    )
    pd.testing.assert_frame_equal(drawable(frame), frame)


def test_drawable__an_empty_frame_stays():
    frame = pd.DataFrame({"label": pd.Series([], dtype=str), "rate": pd.Series([], dtype=float)})
    assert list(drawable(frame)) == ["label", "rate"]
