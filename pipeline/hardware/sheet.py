"""GPU sheets: one file per GPU, and one table of what a compute capability fixes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pipeline.errors import DataError
from pipeline.hardware.complaints import complaints, nearest
from pipeline.hardware.figures import CapabilityEntry, Figure, SheetEntry
from pipeline.hardware.strict_yaml import parse

CAPABILITIES_FILE = "compute_capabilities.yaml"
_ID = re.compile(r"[a-z0-9_]+")
_CAPABILITY = re.compile(r"[0-9]+\.[0-9]+")
_Entry = TypeVar("_Entry", bound=BaseModel)


@dataclass(frozen=True)
class Sheet:
    """One GPU with all its figures, those of its compute capability included.

    Attributes
    ----------
    id, name
        Identity in stores, and the name as shown to readers.
    compute_capability
        Such as ``"8.6"``.
    figures
        Name -> figure, for every name of ``pipeline.vocab.gpus.FIGURES``.
    """

    id: str
    name: str
    compute_capability: str
    figures: Mapping[str, Figure]


def load_sheets(
    folder: Path, ids: Sequence[str] | None = None, capabilities: Path | None = None
) -> dict[str, Sheet]:
    """Read GPU sheets and the figures of their compute capabilities.

    Parameters
    ----------
    folder
        Holds one ``<id>.yaml`` per GPU.
    ids
        GPUs to read, in this order; all of the folder in alphabetical order if left out.
    capabilities
        Table of compute capabilities; ``compute_capabilities.yaml`` beside the folder if left out.

    Returns
    -------
    dict
        Id -> sheet.

    Raises
    ------
    DataError
        With every problem found, one a line: file, field, what is wrong and what was allowed.
    """
    problems: list[str] = []
    table = _capabilities(capabilities or folder.parent / CAPABILITIES_FILE, problems)
    sheets = {}
    for path in _paths(folder, ids, problems):
        sheet = _sheet(path, table, problems)
        if sheet:
            sheets[sheet.id] = sheet
    if problems:
        heading = "" if len(problems) == 1 else f"{len(problems)} problems in the GPU data:\n  "
        raise DataError(heading + "\n  ".join(problems))
    return sheets


def _paths(folder: Path, ids: Sequence[str] | None, problems: list[str]) -> list[Path]:
    """Find the files to read; what is wrong with the ids goes into ``problems``."""
    if not folder.is_dir():
        problems.append(f"{folder}: is not a folder; GPU sheets are files <id>.yaml in one")
        return []
    found = {p.stem: p for p in sorted(folder.iterdir()) if p.suffix in (".yaml", ".yml")}
    if not found:
        problems.append(f"{folder}: holds no GPU sheet; add a file <id>.yaml")
        return []
    wanted = list(found) if ids is None else list(ids)
    for name in dict.fromkeys(wanted):
        if name not in found:
            problems.append(f"{folder}: there is no GPU {name!r}; {nearest(name, found)}")
        elif wanted.count(name) > 1:
            problems.append(f"{folder}: GPU {name!r} was asked for {wanted.count(name)} times")
    return [found[name] for name in dict.fromkeys(wanted) if name in found]


def _sheet(path: Path, table: Mapping[str, CapabilityEntry], problems: list[str]) -> Sheet | None:
    """Read one GPU, or give None with the reasons in ``problems``."""
    if path.suffix != ".yaml" or not _ID.fullmatch(path.stem):
        problems.append(
            f"{path}: a GPU sheet is named <id>.yaml, the id of lower-case letters, digits and _"
        )
        return None
    raw = _mapping(path, problems)
    entry = None if raw is None else _validated(raw, SheetEntry, f"{path}: ", "", problems)
    if entry is None:
        return None
    limits = table.get(entry.compute_capability)
    if limits is None:
        if table:
            problems.append(
                f"{path}: compute_capability: {entry.compute_capability!r} is not in the table of "
                f"compute capabilities; {nearest(entry.compute_capability, table)}"
            )
        return None
    return Sheet(
        path.stem, entry.name, entry.compute_capability, _figures(limits) | _figures(entry)
    )


def _figures(entry: BaseModel) -> dict[str, Figure]:
    """Pick the fields of ``entry`` that are figures and were given."""
    return {name: value for name, value in entry if isinstance(value, Figure)}


def _capabilities(path: Path, problems: list[str]) -> dict[str, CapabilityEntry]:
    """Read the table of compute capabilities; entries with problems are left out."""
    table = {}
    for key, raw in (_mapping(path, problems) or {}).items():
        if not (isinstance(key, str) and _CAPABILITY.fullmatch(key)):
            problems.append(
                f'{path}: {key}: a compute capability is written in quotes, as in "8.6"'
            )
            continue
        entry = _validated(raw, CapabilityEntry, f"{path}: ", f'"{key}"', problems)
        if entry:
            table[key] = entry
    return table


def _validated(
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


def _mapping(path: Path, problems: list[str]) -> dict[Any, Any] | None:
    """Read the mapping in a YAML file, or give None with the reason in ``problems``."""
    try:
        raw = parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        problems.append(f"{path}: cannot be read ({error.strerror})")
    except UnicodeDecodeError:
        problems.append(f"{path}: is not UTF-8 text")
    except ValueError as error:
        problems.append(f"{path}: is not valid YAML: {error}")
    else:
        if isinstance(raw, dict) and raw:
            return raw
        what = "is empty" if not raw else "does not hold a mapping"
        problems.append(f"{path}: {what}; it must hold lines 'name: figure'")
    return None
