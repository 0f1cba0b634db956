"""``results/manifest.json``: the digest of every result, and what made it.

It holds at any time, also after a run that was killed: a run first takes out what it is about to
make, and at its end enters what is finished. A result that was not made anew keeps the entry that
it has, so what was changed afterwards shows.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline import provenance
from pipeline.errors import DataError
from pipeline.file_digests import LIST, files, sha256

NAME = "manifest.json"

Entries = dict[str, dict[str, Any]]
"""Name of a job -> what made its outputs, and under ``outputs`` their digests by path."""

KEY = "key"
"""Under it, the key that the outputs have in the cache, where a run knows it."""

_OUTPUTS = "outputs"


@dataclass(frozen=True)
class Job:
    """A rule with what it depends on, and what it makes.

    Attributes
    ----------
    rule, wildcards
        Which job of the workflow.
    params
        By name: settings, and digest and versions of the code.
    outputs, inputs
        Paths of files and folders.
    names
        Names by which the rule's script knows some of these paths, under ``output`` and ``input``.
    """

    rule: str
    wildcards: Mapping[str, str]
    params: Mapping[str, Any]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    names: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, job: Any) -> "Job":
        """Take it from a job as the workflow knows it."""
        names = {"output": dict(job.output.items()), "input": dict(job.input.items())}
        paths = (tuple(map(str, job.output)), tuple(map(str, job.input)))
        return cls(str(job.rule), job.wildcards_dict, dict(job.params.items()), *paths, names)

    @property
    def name(self) -> str:
        """Rule, and what tells the job from others of the rule."""
        return " ".join([self.rule, *(f"{key}={self.wildcards[key]}" for key in self.wildcards)])

    def entry(self) -> dict[str, Any]:
        """Say what made the outputs, and what they are, in plain values."""
        outputs = {path: digest for each in self.outputs for path, digest in _digests(Path(each))}
        return provenance.parts(self.params) | {_OUTPUTS: outputs}


def read(folder: Path) -> Entries:
    """Read the manifest of ``folder``; without one there are no entries.

    Raises
    ------
    DataError
        If the manifest is damaged.
    """
    path = folder / NAME
    if not path.exists():
        return {}
    try:
        entries: Entries = json.loads(path.read_text(encoding="utf-8"))
        outputs(entries)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path}: this is no manifest ({error!r}); delete it: the next run that makes "
            f"something writes it anew"
        ) from error
    return entries


def outputs(entries: Entries) -> dict[str, str]:
    """Digest of each output, by its path; of a store, that of the list of its files."""
    return {path: digest for entry in entries.values() for path, digest in entry[_OUTPUTS].items()}


def keys(folder: Path) -> dict[str, str]:
    """Key of each job that has one, by the job's name; none where the manifest is damaged."""
    entries = _read_or_nothing(folder)
    return {name: str(entry[KEY]) for name, entry in entries.items() if KEY in entry}


def forget(folder: Path, jobs: Iterable[Job]) -> dict[str, dict[str, str]]:
    """Take out what is about to be made, whatever made it before.

    Returns
    -------
    Of each job of which all outputs were taken out: its key -> the digests that they had, by path.
    """
    made = {output for job in jobs for output in job.outputs}
    entries, forgotten = {}, {}
    for name, entry in _read_or_nothing(folder).items():
        before = entry[_OUTPUTS]
        kept = {path: digest for path, digest in before.items() if not _within(path, made)}
        # A key speaks of all outputs.
        key = "" if kept == before else entry.pop(KEY, "")
        if kept:
            entries[name] = entry | {_OUTPUTS: kept}
        elif key:
            forgotten[str(key)] = before
    _write(folder, entries)
    return forgotten


def enter(folder: Path, jobs: Iterable[Job], keys: Mapping[str, str]) -> None:
    """Enter what is finished and has no entry; take out jobs of which nothing is left.

    Parameters
    ----------
    folder
        Where the results are.
    jobs
        What is finished.
    keys
        Key of each that was made or restored in this run, by the job's name.
    """
    before = _read_or_nothing(folder)
    entries = dict(before)
    for job in jobs:
        # What only led to a result may have been deleted since, and nobody asks for it.
        if job.outputs and job.name not in entries and all(Path(p).exists() for p in job.outputs):
            key = {KEY: keys[job.name]} if job.name in keys else {}
            entries[job.name] = job.entry() | key
    entries = {name: entry for name, entry in entries.items() if _is_there(entry)}
    if entries != before:
        _write(folder, entries)


def _within(path: str, outputs: set[str]) -> bool:
    """Whether a path is an output, or lies in a folder that is one."""
    return not outputs.isdisjoint([path, *map(str, Path(path).parents)])


def _is_there(entry: Mapping[str, Any]) -> bool:
    return any(Path(path).exists() for path in entry[_OUTPUTS])


def _digests(output: Path) -> Iterable[tuple[str, str]]:
    """Path and digest of an output; of each file of a folder that has no list."""
    if output.is_dir() and not (output / LIST).exists():
        return [(path.as_posix(), sha256(path)) for path in files(output).values()]
    return [(output.as_posix(), sha256(output / LIST if output.is_dir() else output))]


def _read_or_nothing(folder: Path) -> Entries:
    """Begin anew where the manifest is damaged."""
    try:
        return read(folder)
    except DataError:
        return {}


def _write(folder: Path, entries: Entries) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{NAME}.partial"
    text = json.dumps(entries, indent=1, sort_keys=True, ensure_ascii=False, default=str)
    partial.write_text(f"{text}\n", encoding="utf-8")
    partial.replace(folder / NAME)
