"""The key of a job: a digest of everything that its outputs depend on.

Inputs enter with the digest of their contents, not with what made them. So an edit that leaves the
content of a result as it was stops there: what reads the result has the key that it had.
"""

import hashlib
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.file_digests import CONTENT, LIST, files, sha256
from pipeline.manifest import Job

_FORMAT = 1
"""Counts up when keys are made of something else, or entries are laid out in another way."""

Signature = tuple[int, int, int, int]


class Digests:
    """Digests of files, each computed once for as long as the file stands still."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Signature, str]] = {}

    def of(self, path: Path) -> str:
        """Digest of a file; of a store, that of its content, whatever made it; else of all files.

        Raises
        ------
        OSError
            If there is no such file.
        """
        if not path.is_dir():
            return self._of_file(path)
        for summary in (path / CONTENT, path / LIST):
            if summary.exists():
                return self._of_file(summary)
        listed = sorted((name, self._of_file(file)) for name, file in files(path).items())
        return hashlib.sha256(repr(listed).encode()).hexdigest()

    def _of_file(self, path: Path) -> str:
        # Before the contents: a file that changes meanwhile has another signature next time.
        now = signature(path)
        known = self._known.get(path)
        if known is None or known[0] != now:
            known = self._known[path] = (now, sha256(path))
        return known[1]


def signature(path: Path) -> Signature:
    """Tell a file from any other that may stand in its place later, without a look inside."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def key_of(job: Job, digests: Digests) -> str:
    """Digest of rule, wildcards, paths, parameters, contents of inputs, Python and machine type.

    Parameters hold settings, the digest of the code and the versions of the libraries; the order
    of what is in them counts, as it may count for the job.

    Raises
    ------
    OSError
        If an input is not there.
    TypeError
        If a parameter is not a plain value, so that its text may not tell it from another.
    """
    parts = {
        "format": _FORMAT,
        "python": (platform.python_implementation(), platform.python_version()),
        "machine": (sys.platform, platform.machine()),
        "rule": job.rule,
        "wildcards": job.wildcards,
        "outputs": job.outputs,
        "names": job.names,
        "params": job.params,
        "inputs": [(path, digests.of(Path(path))) for path in job.inputs],
    }
    text = repr(_plain(parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any) -> Any:
    """Bring a value to Python's own types, whose text tells any two of them apart."""
    if value is None or isinstance(value, bool):
        return value
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, Mapping):
        return {_plain(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, list):
        return list(map(_plain, value))
    raise TypeError(f"{value!r} is a {type(value).__name__}, which is no plain value")
