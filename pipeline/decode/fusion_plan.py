"""Fusion plans: which primitive operations run together, as one kernel or one instruction."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pipeline.decode.primitives import HEAD, LAYER, PRIMITIVES, behind
from pipeline.sheets.complaints import nearest

Groups = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class FusionPlan:
    """Groups of primitives, in the order in which they run.

    Attributes
    ----------
    id, name
        Identity in the configuration, and the name as shown to readers.
    layer
        Group id -> its primitives; these groups run once in every layer.
    head
        The same for the groups that run once, after the last layer.
    """

    id: str
    name: str
    layer: Groups
    head: Groups


def plan_problems(layer: Groups, head: Groups) -> list[str]:
    """Say what is wrong with a plan: place, what is wrong, what to do.

    Parameters
    ----------
    layer, head
        As in :class:`FusionPlan`, not checked.

    Returns
    -------
    list
        Empty if every primitive stands there once, after what it needs, and no group asks of its
        blocks to wait for one another.
    """
    stages = {LAYER: layer, HEAD: head}
    problems = list(_unknown(stages)) or [*_each_once(stages), *_twice_named(stages)]
    return problems or [*_order(stages), *_barriers(stages)]


def _members(stages: Mapping[str, Groups]) -> Iterator[tuple[str, str, str]]:
    """Every place of a plan: path of the group, stage, primitive."""
    for stage, groups in stages.items():
        for group, names in groups.items():
            for name in names:
                yield f"{stage}.{group}", stage, name


def _unknown(stages: Mapping[str, Groups]) -> Iterator[str]:
    for stage, groups in stages.items():
        if not groups:
            yield f"{stage}: is empty; it must hold lines 'group: [operation, ...]'"
        for group, names in groups.items():
            if not names:
                yield f"{stage}.{group}: is empty; name its operations, or leave the group out"
    for place, stage, name in _members(stages):
        if name not in PRIMITIVES:
            yield f"{place}: there is no operation {name!r}; {nearest(name, PRIMITIVES)}"
        elif PRIMITIVES[name].stage != stage:
            yield f"{place}: {name} belongs to a group of {PRIMITIVES[name].stage}, not of {stage}"


def _each_once(stages: Mapping[str, Groups]) -> Iterator[str]:
    places: dict[str, list[str]] = {name: [] for name in PRIMITIVES}
    for place, _, name in _members(stages):
        places[name].append(place)
    for name, found in places.items():
        if not found:
            stage = PRIMITIVES[name].stage
            yield f"{stage}: {name} is missing; every operation must stand in one group"
        elif len(found) > 1:
            yield f"{found[1]}: {name} stands in {found[0]} as well; every operation runs once"


def _twice_named(stages: Mapping[str, Groups]) -> Iterator[str]:
    for group in stages[HEAD]:
        if group in stages[LAYER]:
            yield f"{HEAD}.{group}: a group of {LAYER} has the same name; choose another"


def _order(stages: Mapping[str, Groups]) -> Iterator[str]:
    done: set[str] = set()
    for place, _, name in _members(stages):
        late = [needed for needed in PRIMITIVES[name].needs if needed not in done]
        if late:
            yield f"{place}: {name} needs {', '.join(late)}, which must come before it"
        done.add(name)


def _barriers(stages: Mapping[str, Groups]) -> Iterator[str]:
    """Blocks of one kernel do not wait for each other, so none may need what others make."""
    for stage, groups in stages.items():
        for group, names in groups.items():
            for name in names:
                spread = [one for one in names if one in behind(name) and PRIMITIVES[one].is_spread]
                if spread and PRIMITIVES[name].needs_all:
                    yield (
                        f"{stage}.{group}: {name} needs all of what {', '.join(spread)} "
                        f"{'make' if len(spread) > 1 else 'makes'}, and the blocks of a group do "
                        f"not wait for each other; begin a new group at {name}"
                    )
