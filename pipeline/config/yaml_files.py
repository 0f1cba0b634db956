"""Configuration files as text: what a YAML reader would swallow without a word."""

from collections.abc import Iterable
from pathlib import Path

from pipeline.errors import ConfigError
from pipeline.sheets import small_text
from pipeline.sheets.strict_yaml import parse


def require_clean(paths: Iterable[Path]) -> None:
    """Refuse configuration files that cannot be read, or in which a key stands twice.

    Raises
    ------
    ConfigError
        Lists every file with a problem, and the line where one is known.
    """
    problems = [problem for path in paths for problem in _problems(path)]
    if problems:
        raise ConfigError("\n".join(problems))


def _problems(path: Path) -> list[str]:
    try:
        held = parse(small_text.read(path))
    except ValueError as error:
        return [f"{path}: {error}"]
    if not isinstance(held, dict):
        return [f"{path}: does not hold a mapping; it must hold lines 'key: value'"]
    return []
