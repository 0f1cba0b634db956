"""Configuration files as text: what a YAML reader would swallow without a word."""

from collections.abc import Iterable
from pathlib import Path

from pipeline.errors import ConfigError
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
        held = parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        return [f"{path}: cannot be read ({error.strerror})"]
    except UnicodeDecodeError:
        return [f"{path}: is not UTF-8 text; save it as UTF-8"]
    except ValueError as error:
        return [f"{path}: {error}"]
    if not isinstance(held, dict):
        return [f"{path}: does not hold a mapping; it must hold lines 'key: value'"]
    return []
