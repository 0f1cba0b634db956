"""GPU sheets: one file per GPU, and one table of what a compute capability fixes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from pipeline.hardware.figures import CapabilityEntry, SheetEntry
from pipeline.sheets.complaints import nearest
from pipeline.sheets.figures import Figure, Sizes
from pipeline.sheets.folder import (
    read_entry,
    read_mapping,
    require_none,
    sheet_paths,
    validated,
)

CAPABILITIES_FILE = "compute_capabilities.yaml"
_CAPABILITY = re.compile(r"[0-9]+\.[0-9]+")


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
    replay
        Figures for the replay of an SM, with those of the compute capability; empty where sheet or
        capability have none.
    """

    id: str
    name: str
    compute_capability: str
    figures: Mapping[str, Figure]
    replay: Mapping[str, Sizes | Figure] = field(default_factory=dict)


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
    for path in sheet_paths(folder, "GPU", ids, problems):
        sheet = _sheet(path, table, problems)
        if sheet:
            sheets[sheet.id] = sheet
    require_none(problems, "GPU")
    return sheets


def _sheet(path: Path, table: Mapping[str, CapabilityEntry], problems: list[str]) -> Sheet | None:
    """Read one GPU, or give None with the reasons in ``problems``."""
    entry = read_entry(path, "GPU", SheetEntry, problems)
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
    replay = {}
    if limits.replay and entry.replay:
        replay = {
            name: figure
            for part in (limits.replay, entry.replay)
            for name, figure in part
            if figure is not None
        }
    return Sheet(
        path.stem, entry.name, entry.compute_capability, _figures(limits) | _figures(entry), replay
    )


def _figures(entry: BaseModel) -> dict[str, Figure]:
    """Pick the fields of ``entry`` that are figures and were given."""
    return {name: value for name, value in entry if isinstance(value, Figure)}


def _capabilities(path: Path, problems: list[str]) -> dict[str, CapabilityEntry]:
    """Read the table of compute capabilities; entries with problems are left out."""
    table = {}
    for key, raw in (read_mapping(path, problems) or {}).items():
        if not (isinstance(key, str) and _CAPABILITY.fullmatch(key)):
            problems.append(
                f'{path}: {key}: a compute capability is written in quotes, as in "8.6"'
            )
            continue
        entry = validated(raw, CapabilityEntry, f"{path}: ", f'"{key}"', problems)
        if entry:
            table[key] = entry
    return table
