"""The index of an entry of the cache: the digest of each of its files, and of all that together."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from pipeline.file_digests import LIST, read_list

NAME = "digests.json"

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What reading an index raises that is none."""


class DamagedError(Exception):
    """An entry, or what was to become one, is not as it was made."""


def text_of(digests: Mapping[str, str], size: int) -> str:
    """Write an index.

    Parameters
    ----------
    digests
        Digest of each file, by its path as a result.
    size
        What all of them take (bytes).
    """
    index = {"bytes": size, "digest": _summary(digests), "files": dict(digests)}
    return json.dumps(index, indent=1) + "\n"


def used_and_size(entry: Path) -> tuple[float, int]:
    """Tell when an entry was last used (s since 1970) and what it takes (bytes); else zeros."""
    try:
        used = (entry / NAME).stat().st_mtime
        return used, int(json.loads((entry / NAME).read_bytes())["bytes"])
    except (OSError, *UNREADABLE):
        return 0.0, 0


def check_whole(folder: Path, digests: Mapping[str, str], expected: Mapping[str, str]) -> None:
    """Hold copies against the lists of their folders, and against what is known of them."""
    for name in digests:
        path = PurePosixPath(name)
        if path.name == LIST:
            inside = f"{path.parent.as_posix()}/"
            held = {
                other.removeprefix(inside): digest
                for other, digest in digests.items()
                if other.startswith(inside) and other != name
            }
            if _listed(folder / path.parent) != held:
                raise DamagedError(f"{path.parent} is not as its list has it")
    for name, digest in expected.items():
        if digest not in (digests.get(name), digests.get(f"{name}/{LIST}")):
            raise DamagedError(f"{name} is not as it was made")


def _listed(folder: Path) -> dict[str, str] | None:
    """Read the list of a folder; none if it cannot be read."""
    try:
        return read_list(folder)
    except ValueError:
        return None


def _summary(digests: Mapping[str, str]) -> str:
    """One digest of all of an index: no line of it can be lost or changed."""
    return hashlib.sha256(repr(sorted(digests.items())).encode()).hexdigest()


def read(entry: Path) -> dict[str, str]:
    """Digest of each file of an entry, by its path as a result."""
    try:
        index = json.loads((entry / NAME).read_bytes())
        listed: dict[str, str] = index["files"]
        sound = index["digest"] == _summary(listed)
        paths = [PurePosixPath(name) for name in listed]
    except UNREADABLE as error:
        raise DamagedError(f"{NAME} cannot be read") from error
    if not sound or any(path.is_absolute() or ".." in path.parts for path in paths):
        raise DamagedError(f"{NAME} was changed")
    return listed
