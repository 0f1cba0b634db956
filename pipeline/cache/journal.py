"""Keys of finished jobs, on disk until the manifest has them: a run that is killed loses none."""

import json
from collections.abc import Iterable
from pathlib import Path


class Journal:
    """A file with a line for each job, of runs that were killed and of this one.

    Parameters
    ----------
    path
        The file; it and its folder are made where they are not there.

    Attributes
    ----------
    keys
        Key of each finished job, by its name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.keys: dict[str, str] = {}
        self.read()

    def read(self) -> None:
        """Take up what other processes have noted, those on the nodes of a cluster say."""
        there = self._path.exists()
        text = self._path.read_text(encoding="utf-8", errors="replace") if there else ""
        lines = dict(filter(None, map(_entry, text.splitlines())))
        self.keys = {name: key for name, key in lines.items() if key}

    def note(self, name: str, key: str) -> None:
        """Note that a job is finished; or that it begins anew, by an empty key."""
        if key or name in self.keys:
            self._write(name, key)
        self.keys.pop(name, None)
        if key:
            self.keys[name] = key

    def settle(self, names: Iterable[str]) -> None:
        """Drop the keys of jobs that the manifest has."""
        left, self.keys = {name: self.keys[name] for name in self.keys.keys() - set(names)}, {}
        if self._path.exists():
            self._path.unlink()
        for name in sorted(left):
            self.note(name, left[name])

    def _write(self, name: str, key: str) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as journal:
            # A line that a kill has cut off must not take this one with it.
            journal.write(f"\n{json.dumps([name, key])}\n")


def _entry(line: str) -> tuple[str, str] | None:
    """Read a line; None if it is empty, or was cut off."""
    try:
        name, key = json.loads(line)
    except ValueError:
        return None
    return str(name), str(key)
