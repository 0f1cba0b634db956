import io
import os
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from pipeline.provenance import told
from pipeline.render.column import Legend
from pipeline.render.figure import render_figure

ROOT = Path(__file__).parents[2]
LEGEND = Legend("toy", "A toy", "A line that <rises> & falls.")
FRAME = pd.DataFrame({"x": [0.0, 1.0, 2.0], "y": [1 / 3, np.nan, np.inf], "name": ["a", "b", "c"]})
STYLE = {"font.size": 9}


def draw(frame, figure):
    axes = figure.subplots()
    axes.plot(frame["x"], [1, 3, 2], label="a line")
    axes.scatter(frame["x"], [1, 2, 3], clip_on=True)
    axes.legend()


def written(folder, legend=LEGEND, style=STYLE):
    paths = [folder / f"toy.{suffix}" for suffix in ("svg", "png", "csv")]
    render_figure(FRAME, draw, legend, style, paths)
    return {path.suffix: path.read_bytes() for path in paths}


def test_render_figure__same_bytes_each_time(tmp_path):
    assert written(tmp_path / "a") == written(tmp_path / "b")


def test_render_figure__hash_seed_and_the_users_own_settings_do_not_matter(tmp_path):
    code = """
        import sys
        from pathlib import Path
        from tests.render.test_figure import written
        written(Path(sys.argv[1]))
    """
    (tmp_path / "matplotlibrc").write_text(
        "font.size: 30\naxes.facecolor: red\nsvg.fonttype: none\nfigure.dpi: 50\nlines.color: red\n"
    )
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(code), tmp_path / seed],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed, "MATPLOTLIBRC": str(tmp_path)},
            check=True,
        )
    plain = written(tmp_path / "plain")
    for seed in ("1", "2"):
        for suffix, content in plain.items():
            assert (tmp_path / seed / f"toy{suffix}").read_bytes() == content, suffix


def test_render_figure__settings_are_put_back(tmp_path):
    with matplotlib.rc_context({"font.size": 17}):
        written(tmp_path)
        assert matplotlib.rcParams["font.size"] == 17


def test_render_figure__style_changes_the_picture(tmp_path):
    assert written(tmp_path)[".png"] != written(tmp_path, style={"font.size": 12})[".png"]


def test_render_figure__svg_is_well_formed_and_describes_itself(tmp_path):
    svg = written(tmp_path)[".svg"].decode()
    words = [element.text for element in ET.fromstring(svg).iter() if element.text]
    assert "A toy" in words
    assert "A line that <rises> & falls." in words
    assert "<dc:date>" not in svg
    assert "Matplotlib" not in svg
    assert "<text" not in svg


def test_render_figure__png_is_twice_the_width_of_a_column_of_text(tmp_path):
    image = Image.open(io.BytesIO(written(tmp_path)[".png"]))
    assert image.width == 1460
    assert image.text["Title"] == "A toy"
    assert "Software" not in image.text


def test_render_figure__csv_holds_what_is_drawn_to_the_last_digit(tmp_path):
    text = written(tmp_path)[".csv"].decode()
    assert text.splitlines() == ["x,y,name", f"0.0,{1 / 3!r},a", "1.0,NaN,b", "2.0,inf,c"]
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(text)), FRAME, check_exact=True)


def test_render_figure__failure_leaves_the_older_files(tmp_path):
    before = written(tmp_path)

    def broken(frame, figure):
        raise ValueError("no ink")

    with pytest.raises(ValueError, match="no ink"):
        render_figure(FRAME, broken, LEGEND, STYLE, [tmp_path / "toy.svg", tmp_path / "toy.csv"])
    assert {f".{s}": (tmp_path / f"toy.{s}").read_bytes() for s in ("svg", "png", "csv")} == before
    assert len(list(tmp_path.iterdir())) == 3


def draw_in_parts(frame, figure):
    for part in figure.subfigures(2, 1, height_ratios=[2, 1]):
        panels = part.subplots(2, 3, sharex=True)
        for axes in panels.flat:
            axes.plot(frame["x"], frame["y"], label="a line")
            axes.set_ylabel("y (1)")
            axes.grid(True)
        part.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper left")


def test_render_figure__parts_of_a_figure_stand_at_the_same_place_each_time(tmp_path):
    # Without rounding, the last digits of the layout differ now and then.
    frame = pd.DataFrame({"x": [1.0, 3.0], "y": [2.0, 7.0]})
    paths = [tmp_path / f"{number}.svg" for number in range(8)]
    for path in paths:
        render_figure(frame, draw_in_parts, LEGEND, {}, [path])
    assert len({path.read_bytes() for path in paths}) == 1


def test_render_figure__pictures_say_what_made_them_and_look_the_same(tmp_path):
    made_by = {"settings": {"n": 4096}, "code": "<&>", "versions": {"matplotlib": "3.11.2"}}
    paths = [tmp_path / f"toy.{suffix}" for suffix in ("svg", "png", "csv")]
    render_figure(FRAME, draw, LEGEND, STYLE, paths, made_by)
    plain = written(tmp_path / "plain")
    source = ET.parse(paths[0]).find(".//{http://purl.org/dc/elements/1.1/}source").text
    with Image.open(paths[1]) as picture, Image.open(io.BytesIO(plain[".png"])) as other:
        assert picture.text["Source"] == source == told(made_by)
        assert picture.tobytes() == other.tobytes()
    assert paths[2].read_bytes() == plain[".csv"]
