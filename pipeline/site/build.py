"""The site: every page in every language, and what the pages need, as names and contents."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import jinja2
import xarray as xr

from pipeline.site.material import Material
from pipeline.site.svg import Shapes
from pipeline.site.tile_explorer import tile_data
from pipeline.site.timeline_explorer import timeline_data
from pipeline.site.views import artifact_view, claim_views, explorer_view, gpu_views, side_by_side
from pipeline.words import Say, message, speaker

EXPLORERS = {"tile_sweep": "tiles", "timeline_sweep": "timeline"}
"""Artifacts that can be explored in the page, and the data they explore."""

LECTURES = {
    "lecture10": message("Matrix multiplication, step by step"),
    "lecture11": message("One decode step: a hundred kernels, or one"),
}

LANGUAGE_NAMES = {"en": "English", "zh": "中文"}
HTML_LANGUAGES = {"en": "en", "zh": "zh-Hans"}

_SINGLE = ("index", "gpus", "claims")
"""Pages besides those of the lectures."""

_ASSETS = ("site.css", "site.js", "explore.js")


@dataclass(frozen=True)
class Contents:
    """Everything that the site is made of.

    Attributes
    ----------
    lectures
        ``"lecture10"`` -> its artifacts, in the order in which they are shown.
    claims
        As ``results/claims.json`` holds them.
    gpus
        The store ``gpus``.
    tiles, warp_tiles, timelines
        The sweeps ``sweeps/tiles``, ``sweeps/warp_tiles`` and ``sweeps/timeline``.
    """

    lectures: Mapping[str, Sequence[Material]]
    claims: Mapping[str, Any]
    gpus: xr.Dataset
    tiles: xr.Dataset
    warp_tiles: xr.Dataset
    timelines: xr.Dataset


def site(contents: Contents, languages: Sequence[str]) -> dict[str, bytes]:
    """Make every file of the site.

    Parameters
    ----------
    contents
        What it shows.
    languages
        Pages of the first one lie at the top, those of another one in a folder of its name.

    Returns
    -------
    dict
        Name below the site's folder -> content.
    """
    made = {name: _part("assets", name).encode() for name in _ASSETS}
    made |= _explorer_files(contents)
    for lecture, artifacts in contents.lectures.items():
        for one in artifacts:
            for language in languages:
                downloads = one.downloads(language).items()
                made |= {f"files/{lecture}/{name}": text.encode() for name, text in downloads}
    for language in languages:
        made |= _pages(contents, language, languages)
    return made


def _explorer_files(contents: Contents) -> dict[str, bytes]:
    data = {
        "tiles": [tile_data(contents.tiles), tile_data(contents.warp_tiles)],
        "timeline": timeline_data(contents.timelines),
    }
    return {f"data/{name}.js": _script(name, held) for name, held in data.items()}


def _script(name: str, held: Any) -> bytes:
    """Write data as a script: pages that were opened from a disk may load no other kind of file."""
    text = json.dumps(held, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"(window.paperGpu = window.paperGpu || {{}}).{name} = {text};\n".encode()


def _pages(contents: Contents, language: str, languages: Sequence[str]) -> dict[str, bytes]:
    """Make the pages of one language."""
    say = speaker(language)
    folder = "" if language == languages[0] else f"{language}/"
    claims = claim_views(contents.claims, language, say)
    common = _common(contents, language, say) | {"claims": claims, "root": "../" if folder else ""}
    environment = _environment()

    def page(name: str, template: str, **held: Any) -> bytes:
        switches = _switches(name, language, languages)
        text = environment.get_template(template).render(
            **common, **held, page=name, switches=switches
        )
        return text.encode()

    made = {f"{folder}{name}.html": page(name, f"{name}.jinja") for name in _SINGLE}
    for lecture, artifacts in contents.lectures.items():
        shapes = Shapes()
        beside = [claim for claim in claims if lecture == f"lecture{claim['lecture']}"]
        views = [artifact_view(one, language, shapes, beside) for one in artifacts]
        made[f"{folder}{lecture}.html"] = page(
            lecture, "lecture.jinja", artifacts=views, shapes=shapes.markup()
        )
    return made


def _common(contents: Contents, language: str, say: Say) -> dict[str, Any]:
    """Collect what every page may show."""
    gpus = gpu_views(contents.gpus, say)
    titles = {
        lecture: {one.id: one.words["words"][language]["title"] for one in artifacts}
        for lecture, artifacts in contents.lectures.items()
    }
    return {
        "say": say,
        "language": language,
        "html_language": HTML_LANGUAGES[language],
        "lectures": {name: LECTURES[name] for name in contents.lectures},
        "titles": titles,
        "counts": contents.claims["counts"],
        "summary": contents.claims["summary"][language],
        "gpus": gpus,
        "compared": side_by_side(gpus),
        "explorers": EXPLORERS,
        "explored": explorer_view(contents.tiles, contents.timelines, say),
    }


def _switches(page: str, language: str, languages: Sequence[str]) -> list[tuple[str, str, str]]:
    """Give the page in every other language: its language, the language's name, where it is."""
    up = "" if language == languages[0] else "../"
    return [
        (
            HTML_LANGUAGES[other],
            LANGUAGE_NAMES[other],
            f"{up}{'' if other == languages[0] else f'{other}/'}{page}.html",
        )
        for other in languages
        if other != language
    ]


def _part(folder: str, name: str) -> str:
    return files("pipeline.site").joinpath(folder, name).read_text(encoding="utf-8")


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _part("templates", name)),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    return environment
