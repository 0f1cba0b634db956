"""Figures as svg and png, with the numbers drawn as csv."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.style import context
from matplotlib.transforms import Bbox
from numpy.typing import NDArray
from pylopdf_fonts_zh_cn import sans_path

from pipeline import provenance
from pipeline.render.column import Legend
from pipeline.render.files import as_csv, publish
from pipeline.render.labels import drawable

# 7.3 inches are 700 CSS pixels of 1/96 inch: the width of a column of text.
WIDTH_INCHES = 7.3
PNG_DPI = 200
# Of shares of the figure: far less than a pixel.
PLACE_DIGITS = 6

# Matplotlib writes these unless told not to: the day, and its own version.
_LEFT_OUT = {".svg": ("Date", "Creator"), ".png": ("Software",)}


def render_figure(
    frame: pd.DataFrame,
    draw: Callable[[pd.DataFrame, Figure], None],
    legend: Legend,
    style: Mapping[str, Any],
    outputs: Iterable[str | Path],
    made_by: Mapping[str, Any] | None = None,
) -> None:
    """Draw a figure and write it; the suffix of each path says how.

    Parameters
    ----------
    frame
        The numbers drawn, in SI units. Labels that no picture can show are shortened in it.
    draw
        Puts ``frame`` on an empty figure of the width of a column of text; it may set the height.
    legend
        Title and caption; they go into the files for those who cannot see the picture.
    style
        Matplotlib settings. Those of the user's own ``matplotlibrc`` have no effect.
    outputs
        Paths that end in svg, png or csv.
    made_by
        Parameters of the rule that draws it; they go into the metadata of pictures, as ``Source``.
    """
    paths = [Path(path) for path in outputs]
    contents = {path: as_csv(frame) for path in paths if path.suffix == ".csv"}
    # Ids in an svg are random without a salt; outlines look the same whatever fonts there are.
    fixed = {"svg.hashsalt": legend.id, "svg.fonttype": "path"}
    source = provenance.told(made_by) if made_by else ""
    with lettering(legend.language, {**style, **fixed}):
        figure = Figure(figsize=(WIDTH_INCHES, 4), layout="constrained")
        draw(drawable(frame), figure)
        _settle(figure)
        for path in paths:
            if path.suffix != ".csv":
                contents[path] = _picture(figure, path.suffix, legend, source)
    publish(contents)


@contextmanager
def lettering(language: str, style: Mapping[str, Any]) -> Iterator[None]:
    """Set type of a language, for as long as the block runs.

    Chinese is set in Noto Sans SC, which the package of that font brings: the same on every
    machine. It has one weight, so that titles are not bold.

    Parameters
    ----------
    language
        Of the text.
    style
        Other settings of matplotlib.
    """
    if language != "zh":
        with context(dict(style), after_reset=True):
            yield
        return
    fonts = font_manager.fontManager
    before = list(fonts.ttflist)
    fonts.addfont(sans_path())
    # Bold text finds it as well, without a warning.
    face = fonts.ttflist[-1]
    fonts.ttflist.append(replace(face, weight=700))
    letters = {"font.family": [face.name, "DejaVu Sans"], "axes.titleweight": "normal"}
    try:
        with context({**style, **letters}, after_reset=True):
            yield
    finally:
        fonts.ttflist = before


def _settle(figure: Figure) -> None:
    """Lay the figure out, and round the places of its parts.

    The last digits that the solver of the layout leaves differ from run to run where a figure has
    parts of its own, and so would the ids in an svg that are made from them.
    """
    layout = figure.get_layout_engine()
    assert layout is not None
    # As in a drawing: the solver warns of a figure that has nothing to lay out.
    if figure.axes:
        layout.execute(figure)
    # With a layout of any kind, also one that does nothing, every file is drawn twice.
    figure.set_layout_engine(None)
    for part in figure.findobj(SubFigure):
        part.bbox_relative.set_points(_rounded(part.bbox_relative))
    for axes in figure.findobj(Axes):
        axes.set_position(Bbox(_rounded(axes.get_position(original=True))))


def _rounded(place: Bbox) -> NDArray[np.float64]:
    return np.round(place.get_points(), PLACE_DIGITS)


def _picture(figure: Figure, suffix: str, legend: Legend, source: str) -> bytes:
    words = {"Title": legend.title, "Description": legend.caption}
    if source:
        words["Source"] = source
    buffer = io.BytesIO()
    figure.savefig(
        buffer,
        format=suffix.removeprefix("."),
        dpi=PNG_DPI if suffix == ".png" else "figure",
        metadata={**words, **dict.fromkeys(_LEFT_OUT[suffix])},
    )
    return buffer.getvalue()
