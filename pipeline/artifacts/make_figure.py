"""Make the figure of one artifact from its module and the datasets it needs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from pipeline.artifacts.artifact import Words
from pipeline.artifacts.make import arguments, by_language, call, words_of
from pipeline.artifacts.style import STYLE
from pipeline.render.figure import render_figure
from pipeline.words import ENGLISH, Say


def make_figures(
    module: ModuleType,
    datasets: Mapping[str, xr.Dataset],
    parameters: Mapping[str, Any],
    outputs: Sequence[str | Path],
    made_by: Mapping[str, Any] | None = None,
    told: Mapping[str, Words] = MappingProxyType({}),
) -> None:
    """Write the figure of an artifact in every language.

    Parameters
    ----------
    module, datasets, parameters, outputs
        As in :func:`pipeline.artifacts.make.make_tables`; only figures are made.
    made_by
        Parameters of the rule; pictures say what they are.
    told
        Words of the artifact that are known already, by language.
    """
    for language, wanted in by_language("figures", outputs):
        make_figure(module, datasets, parameters, wanted, language, made_by, told.get(language))


def make_figure(
    module: ModuleType,
    datasets: Mapping[str, xr.Dataset],
    parameters: Mapping[str, Any],
    outputs: Iterable[str | Path],
    language: str = ENGLISH,
    made_by: Mapping[str, Any] | None = None,
    told: Words | None = None,
) -> None:
    """Write the figure of an artifact in one language.

    Parameters
    ----------
    module, datasets, parameters
        As in :func:`pipeline.artifacts.make.make_tables`.
    outputs
        Paths that end in svg, png or csv.
    language
        Of words and names.
    made_by
        As in :func:`make_figures`.
    told
        The artifact's words in that language, where they are known already.
    """
    given = arguments(datasets, parameters, language)
    words = told or words_of(module, given, language)
    legend = module.ARTIFACT.legend(words, "figure", language)
    frame = call(module.drawn, given)
    render_figure(frame, drawing(module, given["say"]), legend, STYLE, outputs, made_by)


def drawing(module: ModuleType, say: Say) -> Callable[[pd.DataFrame, Figure], None]:
    """Give what draws a frame of an artifact on a figure, in the language of ``say``."""
    return lambda frame, figure: call(module.draw, {"frame": frame, "figure": figure, "say": say})
