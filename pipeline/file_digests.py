"""Digests of files: a folder carries a list of what it holds, and can be held against it.

The list is what ``sha256sum`` writes, and checks: ``sha256sum -c .sha256`` in the folder.
"""

import hashlib
from pathlib import Path

LIST = ".sha256"
"""The list of a folder, in the folder itself."""

CONTENT = ".content"
"""Digest of what a folder holds, without what made it; it lies in the folder itself."""

FOREIGN = (".snakemake_timestamp",)
"""What Snakemake puts into a folder after it was made."""

_AT_ONCE = 1 << 20


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    total = hashlib.sha256()
    with path.open("rb") as opened:
        while part := opened.read(_AT_ONCE):
            total.update(part)
    return total.hexdigest()


def write_list(folder: Path) -> None:
    """List the digest of every file below ``folder``, sorted by name."""
    (folder / LIST).write_text(_list(folder), encoding="utf-8")


def write_content(folder: Path) -> None:
    """Write one digest of all files below ``folder``; call it before it is noted what made them.

    It tells whether two folders hold the same, whatever made them. It is listed as any other file.
    """
    digest = hashlib.sha256(_list(folder).encode()).hexdigest()
    (folder / CONTENT).write_text(f"{digest}\n", encoding="utf-8")


def _list(folder: Path) -> str:
    lines = (f"{sha256(path)}  {name}\n" for name, path in sorted(files(folder).items()))
    return "".join(lines)


def read_list(folder: Path) -> dict[str, str]:
    """Digest of each file, by its name in ``folder``, as the list of the folder has it.

    Raises
    ------
    OSError, ValueError
        If there is no such list, or it is none.
    """
    lines = (folder / LIST).read_text(encoding="utf-8").splitlines()
    found = (line.partition("  ") for line in lines)
    return {name: digest for digest, _, name in found}


def differences(folder: Path) -> list[str]:
    """Say what of ``folder`` is not as its list has it: one line for each file.

    Raises
    ------
    OSError, ValueError
        As :func:`read_list`.
    """
    listed, there = read_list(folder), files(folder)
    lines = [f"{name} is missing" for name in listed if name not in there]
    lines += [f"{name} does not belong there" for name in there if name not in listed]
    both = (name for name in listed if name in there)
    lines += [f"{name} was changed" for name in both if sha256(there[name]) != listed[name]]
    return sorted(lines)


def files(folder: Path) -> dict[str, Path]:
    """Every file below ``folder`` that its maker wrote, by its name there."""
    return {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and path.name not in (LIST, *FOREIGN)
    }
