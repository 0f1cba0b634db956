"""What the workflow makes of the catalog: which files, from which stores, with which settings."""

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from pipeline.artifacts.catalog import CATALOG
from pipeline.config.models import Config

TABLE_FORMATS = (".csv", ".md", ".html", ".tex")
FIGURE_FORMATS = (".svg", ".png", ".csv")

_DRAWN = {"table": "table", "figure": "draw"}


def module_name(lecture: str, artifact: str) -> str:
    """Name the module of an artifact; ``lecture`` as in its files, ``"lecture10"``."""
    return CATALOG[int(lecture.removeprefix("lecture"))][artifact]


def needs(lecture: str, artifact: str) -> dict[str, str]:
    """List the stores that an artifact takes, by the names under which it does."""
    wanted = _module(lecture, artifact).ARTIFACT.needs
    return {name: f"results/{store}.zarr" for name, store in wanted.items()}


def settings(config: Config, lecture: str, artifact: str) -> dict[str, Any]:
    """Those settings of the lecture that the artifact takes."""
    wanted = _module(lecture, artifact).ARTIFACT.parameters
    return {name: getattr(getattr(config, lecture), name) for name in wanted}


def ids(kind: str, lecture: str | None = None) -> list[str]:
    """Artifacts that have a ``"table"`` or a ``"figure"``, of one lecture or of all."""
    return [
        artifact
        for name in ([lecture] if lecture else _lectures())
        for artifact in CATALOG.get(int(name.removeprefix("lecture")), {})
        if hasattr(_module(name, artifact), _DRAWN[kind])
    ]


def files(lecture: str) -> list[str]:
    """Every file of a lecture."""
    return [
        f"results/{lecture}/{kind}s/{artifact}{suffix}"
        for kind, formats in (("table", TABLE_FORMATS), ("figure", FIGURE_FORMATS))
        for artifact in ids(kind, lecture)
        for suffix in formats
    ]


def summary(lecture: str) -> str:
    """Say what a lecture's target builds; a lecture without artifacts says that it has none."""
    tables, figures = len(ids("table", lecture)), len(ids("figure", lecture))
    if not tables + figures:
        complete = ", ".join(_lectures())
        return (
            f"{lecture} has no tables or figures in this version, so nothing is built for it. "
            f"There are artifacts of: {complete}."
        )
    return f"{lecture}: {tables} tables and {figures} figures are in results/{lecture}/."


def _lectures() -> Iterator[str]:
    return (f"lecture{number}" for number, artifacts in CATALOG.items() if artifacts)


def _module(lecture: str, artifact: str) -> ModuleType:
    return import_module(module_name(lecture, artifact))
