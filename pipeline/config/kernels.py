"""Kernels and their options, as the configuration names them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from pipeline.config.problem import Problem, from_pydantic, key_path, shown, unknown
from pipeline.config.section import Number, Whole
from pipeline.errors import LaunchError
from pipeline.kernels.kernel import Kernel, Launch

# Options arrive as text from a command line, and as numbers that YAML took for text.
_LENIENT = {int: Whole, float: Number}

_LEFT_OUT = ("false", "False")


@dataclass(frozen=True)
class Chosen:
    """A kernel that takes part.

    Attributes
    ----------
    options
        Value of every option, defaults included.
    launch
        How the kernel is launched with them.
    """

    options: dict[str, Any]
    launch: Launch


def choose(
    given: Mapping[str, object], ladder: Mapping[str, Kernel]
) -> tuple[dict[str, Chosen], list[Problem]]:
    """Check the kernels that the configuration names, and complete their options.

    Parameters
    ----------
    given
        Kernel id to options; ``None`` and ``{}`` take the defaults, ``False`` leaves it out.
    ladder
        Every kernel there is, in the order of the ladder.

    Returns
    -------
    chosen
        The kernels that are right, in the order of the ladder.
    problems
        What is wrong with the others.
    """
    problems = [
        unknown(("kernels", name), tuple(ladder), "kernel") for name in given if name not in ladder
    ]
    chosen = {}
    for name, kernel in ladder.items():
        if name not in given or _left_out(given[name]):
            continue
        found = _choose_one(kernel, given[name])
        if isinstance(found, Chosen):
            chosen[name] = found
        else:
            problems += found
    if not chosen and not problems:
        problems = [Problem("kernels", f"no kernel takes part; allowed: {', '.join(ladder)}")]
    return chosen, problems


def _left_out(value: object) -> bool:
    return value is False or value in _LEFT_OUT


def _choose_one(kernel: Kernel, given: object) -> Chosen | list[Problem]:
    where = ("kernels", kernel.id)
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        allowed = "must be a group of options; {} for the defaults, false to leave the kernel out"
        return [Problem(key_path(where), f"given {shown(given)}; {allowed}")]
    values, problems = _read_options(kernel, given)
    if problems:
        return problems
    options = kernel.options(**values)
    try:
        return Chosen(asdict(options), kernel.launch(options))
    except LaunchError as error:
        return [Problem(key_path(where), str(error))]


def _read_options(
    kernel: Kernel, given: Mapping[Any, object]
) -> tuple[dict[str, Any], list[Problem]]:
    """Read each option by the type that the kernel states for it."""
    hints = get_type_hints(kernel.options)
    values: dict[str, Any] = {}
    problems = []
    for name, value in given.items():
        where = ("kernels", kernel.id, name)
        if name not in kernel.option_names:
            problems.append(unknown(where, kernel.option_names, "option"))
            continue
        hint = hints[name]
        try:
            values[name] = TypeAdapter(_LENIENT.get(hint, hint)).validate_python(value)
        except ValidationError as error:
            problems += from_pydantic(error, where)
    return values, problems
