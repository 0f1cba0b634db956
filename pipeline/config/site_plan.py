"""What the reading copy is made of: which artifacts in which order, and which of their files."""

from pathlib import PurePath

from pipeline.artifacts.catalog import CATALOG
from pipeline.config import artifact_plan
from pipeline.config.models import Config
from pipeline.user_file import CHECKOUT

READ = (".csv", ".html", ".json", ".svg", ".tex")
"""Endings of the files of artifacts that pages are made of."""

PARTS = ("pipeline/site/assets", "pipeline/site/templates")


def lectures() -> dict[str, list[str]]:
    """List the artifacts of every lecture in the order in which they are shown."""
    return {f"lecture{number}": list(artifacts) for number, artifacts in CATALOG.items()}


def files(config: Config) -> list[str]:
    """List the files of the artifacts that pages are made of."""
    every = (file for lecture in lectures() for file in artifact_plan.files(lecture, config))
    return [file for file in every if PurePath(file).suffix in READ]


def parts() -> list[str]:
    """List the templates, styles and scripts that pages are made with."""
    found = (path for folder in PARTS for path in (CHECKOUT / folder).iterdir())
    return sorted(path.relative_to(CHECKOUT).as_posix() for path in found)
