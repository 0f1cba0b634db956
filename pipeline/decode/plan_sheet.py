"""Sheets of fusion plans: one file per plan."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints

from pipeline.decode.fusion_plan import FusionPlan, plan_problems
from pipeline.sheets.figures import Name, Record
from pipeline.sheets.folder import read_entry, require_none, sheet_paths

KIND = "fusion plan"

Group = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$", max_length=40)]


class PlanEntry(Record):
    """What one sheet holds."""

    name: Name
    layer: dict[Group, list[str]]
    head: dict[Group, list[str]]


def load_plans(folder: Path, ids: Sequence[str] | None = None) -> dict[str, FusionPlan]:
    """Read fusion plans.

    Parameters
    ----------
    folder
        Holds one ``<id>.yaml`` per plan.
    ids
        Plans to read, in this order; all of the folder in alphabetical order if left out.

    Returns
    -------
    dict
        Id -> plan.

    Raises
    ------
    DataError
        With every problem found, one a line.
    """
    problems: list[str] = []
    plans = {}
    for path in sheet_paths(folder, KIND, ids, problems):
        plan = _plan(path, problems)
        if plan:
            plans[plan.id] = plan
    require_none(problems, KIND)
    return plans


def _plan(path: Path, problems: list[str]) -> FusionPlan | None:
    entry = read_entry(path, KIND, PlanEntry, problems)
    if entry is None:
        return None
    layer, head = (
        {group: tuple(names) for group, names in groups.items()}
        for groups in (entry.layer, entry.head)
    )
    found = plan_problems(layer, head)
    problems += [f"{path}: {problem}" for problem in found]
    return None if found else FusionPlan(path.stem, entry.name, layer, head)
