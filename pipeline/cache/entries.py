"""Kept results on disk: one folder per key, with the files and their digests.

An entry is made beside its place and renamed, so it is there whole or not at all; results are
copies of its files and never links, so what befalls one does not reach the other. Several
checkouts may use one folder at once: who loses a race finds that the entry is there already, and
who reads one that another removes finds nothing.
"""

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pipeline.cache import index
from pipeline.cache.index import DamagedError
from pipeline.file_digests import FOREIGN
from pipeline.workplace import workplace

KEY = re.compile("[0-9a-f]{64}")

_FILES = "files"
_PARTIAL = ".partial."
_LEFT = 24 * 3600.0
"""Age (s) of a partial entry that nobody can still be writing."""

_AT_MOST = 4
"""An entry takes at most this part of the limit, so that no single one pushes out all others."""

_OF_FREE = 10
"""An entry takes at most this part of the space that is left on the disk."""

_AT_ONCE = 1 << 20


class TooLargeError(Exception):
    """Results are too large to be kept."""


@dataclass(frozen=True)
class Entries:
    """A folder of kept results.

    Attributes
    ----------
    folder
        Where they are; made when the first is kept.
    limit
        What all of them may take together (bytes).
    """

    folder: Path
    limit: float

    def holds(self, key: str) -> bool:
        """Whether there is an entry for a key."""
        return (self.folder / key).exists()

    def keep(
        self, key: str, outputs: Iterable[Path], expected: Mapping[str, str] | None = None
    ) -> None:
        """Copy results into an entry.

        Parameters
        ----------
        key
            What made them.
        outputs
            Relative paths of files and folders.
        expected
            Digest of each of them, of a folder with a list that of the list, where it is known
            from before.

        Raises
        ------
        DamagedError
            If they are not as they were made.
        TooLargeError
            If they take more than their part of the limit, or of the disk.
        OSError
            If they, or the folder of the cache, cannot be read or written.
        """
        if self.holds(key):
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        sources = {file.as_posix(): file for output in outputs for file in _files(output)}
        size = sum(file.stat().st_size for file in sources.values())
        if size > min(self.limit / _AT_MOST, shutil.disk_usage(self.folder).free / _OF_FREE):
            raise TooLargeError(f"{size} bytes")
        new = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=self.folder))
        try:
            digests = {
                name: _copy(file, new / _FILES / name) for name, file in sorted(sources.items())
            }
            index.check_whole(new / _FILES, digests, expected or {})
            (new / index.NAME).write_text(index.text_of(digests, size), encoding="utf-8")
            self._put(new, key)
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def restore(self, key: str, outputs: Iterable[Path]) -> bool:
        """Put the files of an entry in the places of ``outputs``; false if there is no entry.

        Raises
        ------
        DamagedError
            If the entry is not as it was made; it is removed, and ``outputs`` are as they were.
        OSError
            If the entry cannot be read, or results cannot be written.
        """
        entry = self.folder / key
        try:
            listed = index.read(entry)
            with ExitStack() as places:
                staged = [(_stage(entry, each, listed, places), each) for each in outputs]
                for new, output in staged:
                    if output.exists():
                        output.rename(new.with_name("old"))
                    new.rename(output)
        except (FileNotFoundError, NotADirectoryError):
            # Also where another run removes the entry while it is read here.
            if not entry.exists():
                return False
            self._remove(entry)
            raise DamagedError("a file is missing") from None
        except DamagedError:
            self._remove(entry)
            raise
        _mark_used(entry)
        return True

    def evict(self) -> None:
        """Remove the entries that were used longest ago until the rest keeps the limit."""
        found = sorted(self._found())
        total = sum(size for _, size, _ in found)
        for _, size, entry in found:
            if total <= self.limit:
                break
            self._remove(entry)
            total -= size
        self._sweep(_LEFT)

    def clear(self) -> tuple[int, int]:
        """Remove all entries; gives their number and bytes. Other files are left alone."""
        found = list(self._found())
        for _, _, entry in found:
            self._remove(entry)
        self._sweep(0.0)
        return len(found), sum(size for _, size, _ in found)

    def _found(self) -> Iterable[tuple[float, int, Path]]:
        """When each entry was last used, what it takes, and where it is."""
        there = self.folder.iterdir() if self.folder.is_dir() else ()
        for entry in there:
            if KEY.fullmatch(entry.name):
                yield *index.used_and_size(entry), entry

    def _put(self, new: Path, key: str) -> None:
        try:
            new.rename(self.folder / key)
        except OSError:
            # Another run has kept the same just now.
            if not self.holds(key):
                raise

    def _remove(self, entry: Path) -> None:
        """Take an entry out in one step, then delete it; another run may do the same."""
        try:
            gone = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=self.folder))
            entry.rename(gone / "entry")
        except OSError:
            return
        shutil.rmtree(gone, ignore_errors=True)

    def _sweep(self, age: float) -> None:
        """Remove what was left of entries by runs that were killed."""
        there = self.folder.iterdir() if self.folder.is_dir() else ()
        for left in there:
            if left.name.startswith(_PARTIAL) and time.time() - left.stat().st_mtime >= age:
                shutil.rmtree(left, ignore_errors=True)


def _files(output: Path) -> list[Path]:
    """Every file of an output but what Snakemake put there."""
    if not output.is_dir():
        return [output]
    found = (path for path in output.rglob("*") if path.is_file())
    return [path for path in found if path.name not in FOREIGN]


def _copy(source: Path, target: Path) -> str:
    """Copy a file; gives the digest of what was copied."""
    target.parent.mkdir(parents=True, exist_ok=True)
    total = hashlib.sha256()
    with source.open("rb") as read, target.open("xb") as written:
        while part := read.read(_AT_ONCE):
            total.update(part)
            written.write(part)
    return total.hexdigest()


def _stage(entry: Path, output: Path, listed: Mapping[str, str], places: ExitStack) -> Path:
    """Copy one output beside its place, and check what was copied."""
    output.parent.mkdir(parents=True, exist_ok=True)
    new = places.enter_context(workplace(output)) / "new"
    path = output.as_posix()
    names = [name for name in listed if name == path or name.startswith(f"{path}/")]
    if not names:
        raise DamagedError(f"{path} is not in it")
    for name in names:
        if _copy(entry / _FILES / name, new / Path(name).relative_to(output)) != listed[name]:
            raise DamagedError(f"{name} was changed")
    return new


def _mark_used(entry: Path) -> None:
    """Note when an entry was used, where that can be written."""
    try:
        os.utime(entry / index.NAME)
    except OSError:
        return
