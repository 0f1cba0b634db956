"""What made a result: a digest of the code and the versions of the libraries.

Snakemake sees an edit of a rule, but not an edit of a module that the rule's script imports. So
each rule carries :func:`code_digest` and :func:`library_versions` among its parameters. The digest
is taken from the syntax tree: comments, docstrings and layout do not change it, any other edit
does.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from pipeline.source_files import Source, read

ROOT_PACKAGE = "pipeline"

# The libraries whose numbers, or whose bytes in a store, may differ from one release to the next.
NUMERIC_LIBRARIES = ("numba", "numpy", "xarray", "zarr")

CODE, VERSIONS = "code", "versions"
"""Parameters of a rule that hold these; all others are settings."""

_LONG = 10_000
_CHECKOUT = Path(__file__).resolve().parent.parent


def library_versions(*extra: str) -> dict[str, str]:
    """Installed versions of the libraries that compute and store results.

    Parameters
    ----------
    extra
        Further distributions to list, ``"matplotlib"`` for figures.

    Returns
    -------
    dict
        Distribution name to version, sorted by name.
    """
    return {name: _version(name) for name in sorted({*NUMERIC_LIBRARIES, *extra})}


@cache
def _version(name: str) -> str:
    """Version of a distribution; to find one out, its folder is searched for and read."""
    return version(name)


def imported_distributions(*files: str, checkout: Path = _CHECKOUT) -> list[str]:
    """Name the installed distributions that files of the user's own import.

    Parameters
    ----------
    files
        Paths of files in Python, relative to ``checkout``.
    checkout
        The project folder.

    Returns
    -------
    list of str
        Sorted, for :func:`library_versions`; what they import of Python itself, of this package and
        of the libraries that are listed anyway is left out.

    Raises
    ------
    ValueError
        As :func:`code_digest`.
    """
    names = {name.partition(".")[0] for file in files for name in _source(checkout / file).imports}
    foreign = names - {ROOT_PACKAGE, *NUMERIC_LIBRARIES} - sys.stdlib_module_names
    # Looks at every installed package.
    owners = packages_distributions() if foreign else {}
    return sorted({owner for name in foreign for owner in owners.get(name, ())})


def parts(params: Mapping[str, Any]) -> dict[str, Any]:
    """Sort the parameters of a rule into digest of the code, versions and settings."""
    code = {name: params[name] for name in (CODE, VERSIONS) if name in params}
    return code | {"settings": {key: each for key, each in params.items() if key not in code}}


def told(params: Mapping[str, Any]) -> str:
    """Write down what made a result, without time and place.

    Parameters
    ----------
    params
        Parameters of the rule: plain values by name.

    Returns
    -------
    str
        JSON in one line, in ASCII. In place of a setting of more than 10 000 letters, all sheets of
        GPUs say, stands the SHA-256 of its JSON.
    """
    made_by = parts(dict(params.items()))
    made_by["settings"] = {name: _short(value) for name, value in made_by["settings"].items()}
    return _as_json(made_by)


def _short(value: Any) -> Any:
    text = _as_json(value)
    return value if len(text) <= _LONG else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def code_digest(*targets: str, checkout: Path = _CHECKOUT) -> str:
    """Digest of the code that a rule runs.

    Parameters
    ----------
    targets
        Modules of the package by dotted name (``"pipeline.store"``) and scripts by path, relative
        to ``checkout``. Everything of ours that they import counts as well.
    checkout
        Folder that holds the package.

    Returns
    -------
    str
        SHA-256 in hexadecimal. It is the same on every machine and does not depend on the order of
        ``targets``.

    Raises
    ------
    ValueError
        If a target does not exist, does not parse, or imports relatively: a relative import is
        refused so that every import can be read off the source.
    """
    files = _files_behind(targets, checkout)
    total = hashlib.sha256()
    for name in sorted(files):
        total.update(f"{name} {_source(files[name]).digest}\n".encode())
    return total.hexdigest()


def texts(*targets: str, checkout: Path = _CHECKOUT) -> set[str]:
    """Collect every text that is written in the code behind some modules.

    Parameters
    ----------
    targets, checkout
        As in :func:`code_digest`.

    Returns
    -------
    set of str
        String constants; of formatted strings, their fixed parts.
    """
    files = _files_behind(targets, checkout)
    return set().union(*(_source(path).texts for path in files.values()))


def _files_behind(targets: Iterable[str], checkout: Path) -> dict[str, Path]:
    """Files of the targets and of everything of ours that they import, by name."""
    files: dict[str, Path] = {}
    waiting = [_locate(target, checkout) for target in targets]
    while waiting:
        name, path = waiting.pop()
        if name not in files:
            files[name] = path
            waiting += _modules_behind(name, path, checkout)
    return files


def _locate(target: str, checkout: Path) -> tuple[str, Path]:
    """Name under which ``target`` enters the digest, and its file."""
    if not target.endswith(".py"):
        path = _module_file(target, checkout)
        if path is None:
            raise ValueError(
                f"code digest: no module {target!r} under {ROOT_PACKAGE}/; "
                f"name a module with dots or a script by its path"
            )
        return target, path
    path = checkout / target
    if not path.is_file():
        raise ValueError(f"code digest: there is no script {target}")
    return target, path


@cache
def _module_file(name: str, checkout: Path) -> Path | None:
    """File of a module of the package, or None where ``name`` is not one."""
    if name.partition(".")[0] != ROOT_PACKAGE:
        return None
    base = checkout.joinpath(*name.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


@cache
def _modules_behind(name: str, path: Path, checkout: Path) -> list[tuple[str, Path]]:
    """Modules of the package that run when this one does: its imports, and all their packages."""
    used = (name, *_source(path).imports)
    names = {parent for each in used for parent in _with_parents(each)}
    found = ((each, _module_file(each, checkout)) for each in sorted(names))
    return [(each, file) for each, file in found if file is not None]


def _with_parents(name: str) -> Iterator[str]:
    """``a.b.c`` gives ``a``, ``a.b`` and ``a.b.c``: importing the last runs all three."""
    parts = name.split(".")
    return (".".join(parts[: depth + 1]) for depth in range(len(parts)))


@cache
def _source(path: Path) -> Source:
    return read(path)
