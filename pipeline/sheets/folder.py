"""A folder of data sheets: one YAML file for each thing, named by its id.

Whatever is wrong is collected as lines of text, so that one message tells everything.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pipeline.errors import DataError
from pipeline.sheets import small_text
from pipeline.sheets.complaints import complaints, nearest
from pipeline.sheets.strict_yaml import parse

_ID = re.compile(r"[a-z0-9_]{1,60}")
_Entry = TypeVar("_Entry", bound=BaseModel)


def sheet_paths(
    folder: Path, kind: str, ids: Sequence[str] | None, problems: list[str]
) -> list[Path]:
    """Find the files to read.

    Parameters
    ----------
    folder
        Holds one ``<id>.yaml`` for each thing.
    kind
        What a sheet describes, such as ``"GPU"``, for messages.
    ids
        Which to read, in this order; all of the folder in alphabetical order if None.
    problems
        What is wrong with folder and ids is added here.
    """
    if not folder.is_dir():
        problems.append(f"{folder}: is not a folder; {kind} sheets are files <id>.yaml in one")
        return []
    found = {p.stem: p for p in sorted(folder.iterdir()) if p.suffix in (".yaml", ".yml")}
    if not found:
        problems.append(f"{folder}: holds no {kind} sheet; add a file <id>.yaml")
        return []
    wanted = list(found) if ids is None else list(ids)
    for name in dict.fromkeys(wanted):
        if name not in found:
            problems.append(f"{folder}: there is no {kind} {name!r}; {nearest(name, found)}")
        elif wanted.count(name) > 1:
            problems.append(f"{folder}: {kind} {name!r} was asked for {wanted.count(name)} times")
    return [found[name] for name in dict.fromkeys(wanted) if name in found]


def read_entry(path: Path, kind: str, model: type[_Entry], problems: list[str]) -> _Entry | None:
    """Read one sheet as ``model``, or give None with the reasons in ``problems``."""
    if path.suffix != ".yaml" or not _ID.fullmatch(path.stem):
        problems.append(
            f"{path}: a {kind} sheet is named <id>.yaml, the id of at most 60 lower-case "
            f"letters, digits and _"
        )
        return None
    raw = read_mapping(path, problems)
    return None if raw is None else validated(raw, model, f"{path}: ", "", problems)


def validated(
    raw: Any, model: type[_Entry], prefix: str, parent: str, problems: list[str]
) -> _Entry | None:
    """Make a ``model`` of ``raw``, or give None with the reasons in ``problems``."""
    if not isinstance(raw, dict):
        problems.append(f"{prefix}{parent}: is {raw!r}; it must be a mapping of names to figures")
        return None
    named = {key: value for key, value in raw.items() if isinstance(key, str)}
    lines = [f"{key!r}: a field name must be text" for key in raw if not isinstance(key, str)]
    entry = None
    try:
        entry = model.model_validate(named)
    except ValidationError as error:
        lines += complaints(error, model)
    problems += [prefix + (f"{parent}." if parent else "") + line for line in lines]
    return None if lines else entry


def read_mapping(path: Path, problems: list[str]) -> dict[Any, Any] | None:
    """Read the mapping in a YAML file, or give None with the reason in ``problems``."""
    try:
        text = small_text.read(path)
    except ValueError as error:
        problems.append(f"{path}: {error}")
        return None
    try:
        raw = parse(text)
    except ValueError as error:
        problems.append(f"{path}: is not valid YAML: {error}")
        return None
    if isinstance(raw, dict) and raw:
        return raw
    what = "is empty" if not raw else "does not hold a mapping"
    problems.append(f"{path}: {what}; it must hold lines 'name: figure'")
    return None


def require_none(problems: Sequence[str], kind: str) -> None:
    """Raise everything that was found at once.

    Raises
    ------
    DataError
        If ``problems`` holds any, one a line.
    """
    if problems:
        heading = "" if len(problems) == 1 else f"{len(problems)} problems in the {kind} data:\n  "
        raise DataError(heading + "\n  ".join(problems))
