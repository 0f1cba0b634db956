"""Compiled kernels of the user's own, as the configuration names them, held against their files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.compiled import elf
from pipeline.config.own_choice import Choice, Where, WrongError
from pipeline.config.own_cuda_entry import ARCHITECTURES, CudaArgumentEntry, CudaEntry
from pipeline.config.problem import Problem, key_path, nearest, shown
from pipeline.counting.own_cuda import FILLS, RANDOM, CudaArgument, OwnCuda
from pipeline.errors import ConfigError, MachineCodeError
from pipeline.listing_files import SOURCES, read_listing
from pipeline.user_file import CHECKOUT, Function, declared

SECTION = "own_cuda"

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def choose_cuda(
    given: Mapping[Any, object], taken: Sequence[str], checkout: Path = CHECKOUT
) -> tuple[dict[str, CudaEntry], list[Problem]]:
    """Check the compiled kernels that the configuration names.

    Parameters
    ----------
    given
        Kernel id to its entry; ``False`` leaves it out.
    taken
        Ids of other kernels.
    checkout
        The project folder, from which files are looked up.

    Returns
    -------
    chosen
        The kernels that are right, in the order given, with a label and architectures.
    problems
        What is wrong with the others.
    """
    completed = partial(_completed, checkout=checkout)
    return Choice(SECTION, CudaEntry, taken, "another kernel", completed).choose(given)


def own_cuda(name: str, entry: CudaEntry) -> OwnCuda:
    """Take from an entry what a launch needs."""
    arguments = tuple(_argument(key, one) for key, one in entry.arguments.items())
    fields = set(OwnCuda.__dataclass_fields__) - {"id", "arguments"}
    return OwnCuda(name, arguments=arguments, **{one: getattr(entry, one) for one in fields})


def sources(file: str, checkout: Path = CHECKOUT) -> list[str]:
    """List a file with those that it includes with quotes, as far as they are there."""
    # By where they lie: files that include each other through ``..`` have names without end.
    found: dict[Path, Path] = {}
    waiting = [Path(file)]
    while waiting:
        path = waiting.pop()
        if _is_there(checkout / path) and (place := (checkout / path).resolve()) not in found:
            found[place] = path
            if path.suffix in SOURCES:
                text = place.read_text(encoding="utf-8", errors="replace")
                named = filter(str.isprintable, _INCLUDE.findall(text))
                waiting += [path.parent / name for name in named]
    return sorted(map(str, found.values()))


def functions(entry: CudaEntry) -> list[str]:
    """List the functions that an entry names, as ``file.py:function``."""
    fills = [one.fill for one in entry.arguments.values() if isinstance(one.fill, str)]
    named = [entry.specification, *(one for one in fills if one not in FILLS)]
    return list(dict.fromkeys(filter(None, named)))


def function_files(entry: CudaEntry) -> list[str]:
    """List the files of these functions."""
    return list(dict.fromkeys(label.rpartition(":")[0] for label in functions(entry)))


def _argument(name: str, entry: CudaArgumentEntry) -> CudaArgument:
    fill = entry.fill if entry.value is None else entry.value
    if fill is None:
        fill = (0,) if entry.output else RANDOM
    return CudaArgument(name, entry.type, entry.shape or (), fill, entry.output)


def _completed(where: Where, entry: CudaEntry, checkout: Path) -> CudaEntry:
    there, problems = _architectures(where, entry, checkout)
    if not problems:
        problems += _architecture_problems(where, entry, there)
    problems += _function_problems(where, entry, checkout)
    if problems:
        raise WrongError(problems)
    return entry.model_copy(
        update={"label": entry.label or where[1], "architectures": entry.architectures or there}
    )


def _architectures(
    where: Where, entry: CudaEntry, checkout: Path
) -> tuple[tuple[str, ...], list[Problem]]:
    """Find out which architectures a file has code for; all that are known, if it is a source."""
    path, place = checkout / entry.file, key_path((*where, "file"))
    if not (entry.file.isprintable() and _is_there(path)):
        return (), [
            Problem(
                place,
                f"given {shown(entry.file)}; there is no such file; give a path relative to the "
                f"project folder, or an absolute one",
            )
        ]
    if path.suffix == ".cu":
        return ARCHITECTURES, []
    try:
        there = _compiled_for(path)
    except MachineCodeError as error:
        return (), [Problem(place, f"given {shown(entry.file)}; {error}")]
    if not there:
        return (), [
            Problem(
                place,
                f"given {shown(entry.file)}; holds no machine code that can be read, for any of "
                f"{', '.join(ARCHITECTURES)}; compile it with nvcc -arch=sm_86 -no-compress",
            )
        ]
    return there, []


def _is_there(path: Path) -> bool:
    """Say whether a file can be looked at; one whose name is too long for any file cannot."""
    try:
        return path.is_file()
    except OSError:
        return False


def _compiled_for(path: Path) -> tuple[str, ...]:
    if path.suffix == ".sass":
        return (read_listing(path).architecture,)
    found = {f"sm_{elf.architecture(one)}" for one in elf.embedded(path.read_bytes())}
    return tuple(name for name in ARCHITECTURES if name in found)


def _architecture_problems(
    where: Where, entry: CudaEntry, there: Sequence[str]
) -> Iterator[Problem]:
    for position, name in enumerate(entry.architectures):
        if name not in there:
            yield Problem(
                key_path((*where, "architectures", position)),
                f"given {name}; {entry.file} has code for {', '.join(there)} only",
            )


def _function_problems(where: Where, entry: CudaEntry, checkout: Path) -> Iterator[Problem]:
    if entry.specification:
        place = (*where, "specification")
        found = _declared(place, entry.specification, checkout)
        yield from [found] if isinstance(found, Problem) else _specified(place, entry, found)
        if not any(one.output for one in entry.arguments.values()):
            yield Problem(
                key_path((*where, "arguments")),
                "no argument is an output, so that the specification has nothing to say; state "
                "output: true for arrays that the kernel writes",
            )
    for name, one in entry.arguments.items():
        if isinstance(one.fill, str) and one.fill not in FILLS:
            found = _declared((*where, "arguments", name, "fill"), one.fill, checkout)
            if isinstance(found, Problem):
                yield found


def _declared(place: tuple[str, ...], label: str, checkout: Path) -> Function | Problem:
    """Look a function up, ``file.py:function``."""
    file, _, name = label.rpartition(":")
    if not file:
        return Problem(
            key_path(place), f"given {shown(label)}; must be file.py:function, such as mine.py:spec"
        )
    try:
        there = declared(file, checkout)
    except ConfigError as error:
        return Problem(key_path(place), f"given {shown(label)}; {error}")
    if name not in there:
        return Problem(
            key_path(place),
            f"given {shown(label)}; {file} defines no such function; {nearest(name, tuple(there))}",
        )
    return there[name]


def _specified(place: tuple[str, ...], entry: CudaEntry, function: Function) -> Iterator[Problem]:
    """Require that the parameters of a specification are names of arguments."""
    names = function.required
    for name in names:
        if name not in entry.arguments:
            yield Problem(
                key_path(place),
                f"given {shown(entry.specification)}; it takes {name}, which is no argument of the "
                f"kernel; {nearest(name, tuple(entry.arguments))}",
            )
