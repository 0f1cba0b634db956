"""Kernels of the user's own, as the configuration names them, held against their files."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.config.own_choice import Choice, Where, WrongError
from pipeline.config.own_entry import OwnEntry
from pipeline.config.problem import Problem, key_path, nearest, shown, unknown
from pipeline.errors import ConfigError
from pipeline.kernels.own_kernel import SIZE, OwnKernel
from pipeline.user_file import CHECKOUT, Function, declared

SECTION = "own_kernels"


def choose_own(
    given: Mapping[Any, object], ladder: Sequence[str], checkout: Path = CHECKOUT
) -> tuple[dict[str, OwnEntry], list[Problem]]:
    """Check the kernels that the configuration adds to the ladder.

    Parameters
    ----------
    given
        Kernel id to its entry; ``False`` leaves it out.
    ladder
        Ids that are taken.
    checkout
        The project folder, from which files are looked up.

    Returns
    -------
    chosen
        The kernels that are right, in the order given, with a label and the shape of every input.
    problems
        What is wrong with the others.
    """
    completed = partial(_completed, checkout=checkout)
    return Choice(SECTION, OwnEntry, ladder, "a kernel of the ladder", completed).choose(given)


def own_kernel(name: str, entry: OwnEntry) -> OwnKernel:
    """Take from an entry what a launch needs."""
    fields = OwnKernel.__dataclass_fields__
    return OwnKernel(name, **{field: getattr(entry, field) for field in fields if field != "id"})


def _require(problems: Iterator[Problem] | list[Problem]) -> None:
    found = list(problems)
    if found:
        raise WrongError(found)


def _completed(where: Where, entry: OwnEntry, checkout: Path) -> OwnEntry:
    try:
        there = declared(entry.file, checkout)
    except ConfigError as error:
        path = key_path((*where, "file"))
        raise WrongError([Problem(path, f"given {shown(entry.file)}; {error}")]) from None
    _require(_axis_problems(where, entry))
    _require(_function_problems(where, entry, there))
    kernel, specification = there[entry.kernel], there[entry.specification]
    _require(_mixed_up(where, entry, kernel, specification))
    _require(_specification_problems(where, entry, specification))
    _require(_signature_problems(where, entry, kernel, specification))
    shapes = {one: entry.inputs.get(one, (SIZE, SIZE)) for one in specification.required}
    return entry.model_copy(update={"label": entry.label or where[1], "inputs": shapes})


def _axis_problems(where: Where, entry: OwnEntry) -> Iterator[Problem]:
    if len(entry.tile) != len(entry.space):
        yield Problem(
            key_path((*where, "tile")),
            f"given {shown(list(entry.tile))}; must have one entry for each of the "
            f"{len(entry.space)} axes of space, {shown(list(entry.space))}",
        )


def _function_problems(
    where: Where, entry: OwnEntry, there: Mapping[str, Function]
) -> Iterator[Problem]:
    for key in ("kernel", "specification"):
        wanted = getattr(entry, key)
        if wanted not in there:
            yield Problem(
                key_path((*where, key)),
                f"given {shown(wanted)}; {entry.file} defines no such function; "
                f"{nearest(wanted, tuple(there))}",
            )


def _mixed_up(
    where: Where, entry: OwnEntry, kernel: Function, specification: Function
) -> Iterator[Problem]:
    first = specification.required[:1]
    if first and first in (("blk",), kernel.required[:1]):
        yield Problem(
            key_path((*where, "specification")),
            f"given {shown(entry.specification)}; line {specification.line} of {entry.file} "
            f"defines {specification}, which looks like a kernel: its first argument is "
            f"{first[0]}; name the numpy function that gives what the output must hold",
        )


def _specification_problems(
    where: Where, entry: OwnEntry, specification: Function
) -> Iterator[Problem]:
    must = [name for name, needed in specification.keywords.items() if needed]
    if not specification.required or specification.any_position or must:
        yield Problem(
            key_path((*where, "specification")),
            f"line {specification.line} of {entry.file} defines {specification}; its parameters "
            f"without a default are the input arrays: at least one, each by name, no *args",
        )
    for name in entry.inputs:
        if name not in specification.required:
            yield unknown((*where, "inputs", name), specification.required, "input")


def _signature_problems(
    where: Where, entry: OwnEntry, kernel: Function, specification: Function
) -> Iterator[Problem]:
    by_position = (*kernel.required, *kernel.optional)
    fixed = len(specification.required) + 3
    if len(by_position) < fixed or kernel.any_position:
        inputs = ", ".join(specification.required)
        yield Problem(
            key_path((*where, "kernel")),
            f"line {kernel.line} of {entry.file} defines {kernel}; it must take {fixed} arguments "
            f"by position, (blk, {inputs}, output, n), and options by name after them",
        )
        return
    options = {**dict.fromkeys(by_position[fixed:], False), **kernel.keywords}
    must = [*kernel.required[fixed:], *(name for name, needed in kernel.keywords.items() if needed)]
    for name in entry.options:
        if name not in options and (not kernel.any_keyword or name in by_position):
            yield unknown((*where, "options", name), tuple(options), "option")
    for name in must:
        if name not in entry.options:
            yield Problem(
                key_path((*where, "options", name)),
                f"is missing; {kernel} has no default for it",
            )
