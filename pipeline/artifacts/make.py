"""Make the table of one artifact, and its words, from its module and the datasets it needs.

Its figure is made by :mod:`pipeline.artifacts.make_figure`: what only draws is no business of
tables.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import xarray as xr

from pipeline.artifacts.artifact import Words
from pipeline.render.column import Column
from pipeline.render.table import render_table
from pipeline.render.words import render_words
from pipeline.words import ENGLISH, Say, spaced, speaker

MAKERS = {"table": "table", "figure": "draw"}
"""Kind of an artifact -> the function that a module has if it is of this kind."""

_WRITTEN = ("title", "caption", "reading", "alt")


def make_tables(
    module: ModuleType,
    datasets: Mapping[str, xr.Dataset],
    parameters: Mapping[str, Any],
    languages: Sequence[str],
    outputs: Sequence[str | Path],
) -> dict[str, Words]:
    """Write the table of an artifact in every language, and the words of the artifact.

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
        Paths below a folder ``tables``, ``figures`` or ``words``. ``roofline.zh.html`` is in
        Chinese; a name without a language is English, or numbers in none. Figures are left out.

    Returns
    -------
    dict
        Language -> words, for the figure: the facts in them take as long as a drawing.
    """
    told = {
        language: words_of(module, arguments(datasets, parameters, language), language)
        for language in languages
    }
    for language, wanted in by_language("tables", outputs):
        make_table(module, datasets, parameters, wanted, language, told.get(language))
    if wanted := [path for path in map(Path, outputs) if path.parent.name == "words"]:
        render_words(about(module, parameters, told), wanted)
    return told


def by_language(folder: str, outputs: Sequence[str | Path]) -> Iterator[tuple[str, list[Path]]]:
    """Give the paths below one of the folders of artifacts by their languages."""
    paths = [path for path in map(Path, outputs) if path.parent.name == folder]
    for language in dict.fromkeys(map(language_of, paths)):
        yield language, [path for path in paths if language_of(path) == language]


def make_table(
    module: ModuleType,
    datasets: Mapping[str, xr.Dataset],
    parameters: Mapping[str, Any],
    outputs: Iterable[str | Path],
    language: str = ENGLISH,
    told: Words | None = None,
) -> None:
    """Write the table of an artifact in one language.

    Parameters
    ----------
    module, datasets, parameters
        As in :func:`make_tables`.
    outputs
        Paths that end in csv, md, html or tex.
    language
        Of words and names.
    told
        The artifact's words in that language, where they are known already.
    """
    given = arguments(datasets, parameters, language)
    words = told or words_of(module, given, language)
    legend = module.ARTIFACT.legend(words, "table", language)
    columns = [spoken(column, given["say"]) for column in module.COLUMNS]
    render_table(call(module.table, given), columns, legend, outputs)


def about(
    module: ModuleType, parameters: Mapping[str, Any], told: Mapping[str, Words]
) -> dict[str, Any]:
    """Say what an artifact is, what it depends on, and what is to be seen, in each language.

    Parameters
    ----------
    module, parameters
        As in :func:`make_tables`.
    told
        Language -> words.
    """
    artifact = module.ARTIFACT
    return {
        "id": artifact.id,
        "lecture": artifact.lecture,
        "kinds": [kind for kind, function in MAKERS.items() if hasattr(module, function)],
        "needs": dict(artifact.needs),
        "parameters": dict(parameters),
        "words": {
            language: {name: getattr(words, name) for name in _WRITTEN}
            for language, words in told.items()
        },
    }


def arguments(
    datasets: Mapping[str, xr.Dataset], parameters: Mapping[str, Any], language: str
) -> dict[str, Any]:
    """Give what the functions of an artifact may name, in a language."""
    return {**datasets, **parameters, "say": speaker(language)}


def words_of(module: ModuleType, given: Mapping[str, Any], language: str) -> Words:
    """Give the words of an artifact in a language, with the facts in them."""
    words: Words = module.ARTIFACT.words(call(module.facts, given), given["say"])
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


def call(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Call a function with those arguments that it names."""
    return function(**{name: given[name] for name in inspect.signature(function).parameters})
