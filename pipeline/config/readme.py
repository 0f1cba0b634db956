"""The manual of the configuration, written from the models that check it."""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from inspect import getdoc
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo

from pipeline.config.models import Config
from pipeline.config.own_cuda_entry import CudaArgumentEntry, CudaEntry
from pipeline.config.own_entry import OwnEntry
from pipeline.config.section import Section
from pipeline.kernels.kernel import Kernel

_DEFAULTS_IN_WORDS = {
    "inputs": "all n by n",
    "label": "the kernel's id",
    "architectures": "all of them; those that the file has code for",
    "specification": "none: nothing is compared",
    "arguments": "none",
    "shape": "none",
    "fill": "see there",
    "value": "none",
}

HEAD = """\
# Configuration

`config.yaml` holds every number that you may change. This page is written from the models that
check it (`python -m pipeline.config`); a test fails when it is out of date.

Change a value in the file, or for one run only:

    snakemake all --config counting='{seed: 7}'
    snakemake all --configfile my.yaml

`my.yaml` needs only the keys that differ. Lists are replaced as a whole, groups are merged; a
kernel is left out with `false`. Whatever a change does not touch is not made again, and what was
made before with the same values is restored, not computed. A mistake is reported before anything
runs, with the key, what was given and what is allowed.

A value inside a group is given with its group, and a space after each colon: `counting.seed=7` is
refused by Snakemake itself, with `Invalid config definition`. So is a file after `--configfile`
that is not there (`FileNotFoundError`), not UTF-8 (`UnicodeDecodeError`) or no YAML (`Config file
is not valid JSON or YAML`): Snakemake reads it before this project does.

A run that was killed leaves nothing to clean up: start the next one. It waits for jobs that are
still at work. A second run beside one that is at work is refused.
"""


def readme(ladder: Mapping[str, Kernel]) -> str:
    """Write the page.

    Parameters
    ----------
    ladder
        Every kernel there is, in order.
    """
    parts = [*_settings(Config), *_own_kernels(), *_own_cuda(), "## Options of the kernels", ""]
    return "\n".join([HEAD, *parts, *_options(ladder)])


def _settings(section: type[Section], path: str = "") -> Iterator[str]:
    """One table for the plain settings of a section, then one part for each group in it."""
    groups = {
        name: field.annotation
        for name, field in section.model_fields.items()
        if field.json_schema_extra is None
        and isinstance(field.annotation, type)
        and issubclass(field.annotation, Section)
    }
    plain = {name: one for name, one in section.model_fields.items() if name not in groups}
    yield from _rows({f"{path}{name}": field for name, field in plain.items()})
    for entry, paths in _entries(plain, path).items():
        places = ", ".join(f"`{one}`" for one in paths)
        yield from (f"### {places}", "", str(getdoc(entry)), "")
        yield from _rows(
            {
                "`, `".join(f"{one}.{name}" for one in paths): field
                for name, field in entry.model_fields.items()
            }
        )
    for name, inner in groups.items():
        yield from (f"## `{name}`", "", str(getdoc(inner)), "")
        yield from _settings(inner, f"{path}{name}.")


def _rows(described: Mapping[str, FieldInfo]) -> Iterator[str]:
    """Write a table of settings by their key paths."""
    yield from ("| key | meaning | unit | allowed |", "|---|---|---|---|")
    for path, field in described.items():
        extra: Any = field.json_schema_extra
        about = (f"`{path}`", field.description, extra["unit"], extra["allowed"])
        yield "| " + " | ".join(map(str, about)) + " |"
    yield ""


def _entries(plain: Mapping[str, FieldInfo], path: str) -> dict[type[Section], list[str]]:
    """Kinds of groups that settings hold, and where each kind stands."""
    found: dict[type[Section], list[str]] = {}
    for name, field in plain.items():
        by_id = get_origin(field.annotation) is dict
        kind = get_args(field.annotation)[1] if by_id else field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            found.setdefault(kind, []).append(f"{path}{name}{'.<id>' * by_id}")
    return found


def _own_kernels() -> Iterator[str]:
    """Keys of a kernel of the user's own, with their defaults."""
    yield from ("## `own_kernels`", "", str(getdoc(OwnEntry)), "")
    yield from ("| key | meaning | unit | allowed | default |", "|---|---|---|---|---|")
    for name, field in OwnEntry.model_fields.items():
        extra: Any = field.json_schema_extra
        cells = (f"`own_kernels.<id>.{name}`", field.description, extra["unit"], extra["allowed"])
        yield "| " + " | ".join([*map(str, cells), _entry_default(name, field)]) + " |"
    yield ""


def _own_cuda() -> Iterator[str]:
    """Keys of a compiled kernel of the user's own, and of its arguments."""
    for path, entry in (("", CudaEntry), (".arguments.<name>", CudaArgumentEntry)):
        yield from (f"{'###' if path else '##'} `own_cuda{'.<id>' * bool(path)}{path}`", "")
        yield from (str(getdoc(entry)), "")
        yield from ("| key | meaning | unit | allowed | default |", "|---|---|---|---|---|")
        for name, field in entry.model_fields.items():
            extra: Any = field.json_schema_extra
            cells = (f"`own_cuda.<id>{path}.{name}`", field.description, *extra.values())
            yield "| " + " | ".join([*map(str, cells), _entry_default(name, field)]) + " |"
        yield ""


def _entry_default(name: str, field: FieldInfo) -> str:
    if field.is_required():
        return "must be given"
    value = field.get_default(call_default_factory=True)
    if name in _DEFAULTS_IN_WORDS:
        return _DEFAULTS_IN_WORDS[name]
    return f"`[{', '.join(value)}]`" if isinstance(value, tuple) else f"`{value}`"


def _options(ladder: Mapping[str, Kernel]) -> Iterator[str]:
    """One part for each kernel: its lesson and its options with their defaults."""
    for name, kernel in ladder.items():
        yield from (f"### `{name}`: {kernel.label}", "", kernel.lifts, "")
        hints = get_type_hints(kernel.options)
        rows = [
            f"| `kernels.{name}.{field.name}` | {_type(hints[field.name])} | {_default(field)} |"
            for field in fields(kernel.options)
        ]
        yield from ("| key | allowed | default |", "|---|---|---|", *rows, "")
        yield from (str(getdoc(kernel.options)).replace("``", "`"), "")


def _type(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(hint))
    return {int: "whole number", bool: "true or false", float: "number", str: "text"}[hint]


def _default(field: Any) -> str:
    value = field.default
    if value is MISSING:
        raise TypeError(f"option {field.name} has no default; every option of a kernel needs one")
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
