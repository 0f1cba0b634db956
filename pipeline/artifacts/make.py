"""Make the files of one artifact from its module and the datasets it needs."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from pipeline.artifacts.artifact import Words
from pipeline.artifacts.style import STYLE
from pipeline.render.column import Column
from pipeline.render.figure import render_figure
from pipeline.render.table import render_table
from pipeline.render.words import render_words
from pipeline.words import ENGLISH, Say, spaced, speaker

MAKERS = {"table": "table", "figure": "draw"}
"""Kind of an artifact -> the function that a module has if it is of this kind."""


def make_artifact(
    module: ModuleType,
    datasets: Mapping[str, xr.Dataset],
    parameters: Mapping[str, Any],
    languages: Sequence[str],
    outputs: Iterable[str | Path],
    made_by: Mapping[str, Any] | None = None,
) -> None:
    """Write every file of an artifact.

    Parameters
    ----------
    module
        The artifact, as :mod:`pipeline.artifacts.artifact` describes it.
    datasets
        By the keys of the artifact's ``needs``.
    parameters
        By the names in the artifact's ``parameters``.
    languages
        Those whose words go into the json.
    outputs
        Paths below a folder ``tables``, ``figures`` or ``words``. ``roofline.zh.svg`` is in
        Chinese; a name without a language is English, or numbers in none.
    made_by
        Parameters of the rule; pictures say what they are.
    """
    paths = [Path(path) for path in outputs]
    for language in dict.fromkeys([ENGLISH, *languages]):
        mine = [path for path in paths if language_of(path) == language]
        if wanted := [path for path in mine if path.parent.name == "tables"]:
            make_table(module, datasets, parameters, wanted, language)
        if wanted := [path for path in mine if path.parent.name == "figures"]:
            make_figure(module, datasets, parameters, wanted, language, made_by)
    if wanted := [path for path in paths if path.parent.name == "words"]:
        render_words(about(module, datasets, parameters, languages), wanted)


def make_table(
    module: ModuleType,
    datasets: Mapping[str, xr.Dataset],
    parameters: Mapping[str, Any],
    outputs: Iterable[str | Path],
    language: str = ENGLISH,
) -> None:
    """Write the table of an artifact in one language.

    Parameters
    ----------
    module, datasets, parameters
        As in :func:`make_artifact`.
    outputs
        Paths that end in csv, md, html or tex.
    language
        Of words and names.
    """
    say = speaker(language)
    arguments = {**datasets, **parameters, "say": say}
    legend = module.ARTIFACT.legend(_words(module, arguments, language), "table", language)
    columns = [spoken(column, say) for column in module.COLUMNS]
    render_table(_call(module.table, arguments), columns, legend, outputs)


def make_figure(
    module: ModuleType,
    datasets: Mapping[str, xr.Dataset],
    parameters: Mapping[str, Any],
    outputs: Iterable[str | Path],
    language: str = ENGLISH,
    made_by: Mapping[str, Any] | None = None,
) -> None:
    """Write the figure of an artifact in one language.

    Parameters
    ----------
    module, datasets, parameters
        As in :func:`make_artifact`.
    outputs
        Paths that end in svg, png or csv.
    language
        Of words and names.
    made_by
        As in :func:`make_artifact`.
    """
    say = speaker(language)
    arguments = {**datasets, **parameters, "say": say}
    legend = module.ARTIFACT.legend(_words(module, arguments, language), "figure", language)
    frame = _call(module.drawn, arguments)
    render_figure(frame, drawing(module, say), legend, STYLE, outputs, made_by)


def drawing(module: ModuleType, say: Say) -> Callable[[pd.DataFrame, Figure], None]:
    """Give what draws a frame of an artifact on a figure, in the language of ``say``."""
    return lambda frame, figure: _call(module.draw, {"frame": frame, "figure": figure, "say": say})


def about(
    module: ModuleType,
    datasets: Mapping[str, xr.Dataset],
    parameters: Mapping[str, Any],
    languages: Sequence[str],
) -> dict[str, Any]:
    """Say what an artifact is, what it depends on, and what is to be seen, in each language.

    Parameters
    ----------
    module, datasets, parameters, languages
        As in :func:`make_artifact`.
    """
    artifact = module.ARTIFACT
    written = {}
    for language in languages:
        arguments = {**datasets, **parameters, "say": speaker(language)}
        words = _words(module, arguments, language)
        written[language] = {
            name: getattr(words, name) for name in ("title", "caption", "reading", "alt")
        }
    return {
        "id": artifact.id,
        "lecture": artifact.lecture,
        "kinds": [kind for kind, function in MAKERS.items() if hasattr(module, function)],
        "needs": dict(artifact.needs),
        "parameters": dict(parameters),
        "words": written,
    }


def _words(module: ModuleType, arguments: Mapping[str, Any], language: str) -> Words:
    words: Words = module.ARTIFACT.words(_call(module.facts, arguments), arguments["say"])
    return Words(**{name: spaced(text, language) for name, text in asdict(words).items()})


def language_of(path: str | Path) -> str:
    """Find the language in a name such as ``roofline.zh.svg``; English in one without."""
    *_, language = [ENGLISH, *Path(path).suffixes[:-1]]
    return language.removeprefix(".")


def spoken(column: Column, say: Say) -> Column:
    """Give a column in the language: heading, unit, and its cells if they are text."""
    spoken = replace(column, heading=say(column.heading), unit=say(column.unit))
    if not column.is_text:
        return spoken
    convert = column.convert or str
    return replace(spoken, convert=lambda value: say(convert(value)))


def _call(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function with those arguments that it names."""
    return function(**{name: arguments[name] for name in inspect.signature(function).parameters})
