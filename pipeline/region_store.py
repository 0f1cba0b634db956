"""A store that is written region by region, resumed after a stop, and there whole or not at all.

While it grows it is a hidden folder beside its place: the store, and a journal with a line for each
finished region. The journal begins with the digest of everything that the result depends on, so
that nothing of another sweep is ever taken over. A line holds a digest of the region's files: what
a crash has torn does not count as finished.

A region is exactly one chunk of every variable. Two writers of one chunk would undo each other's
work without a word, so a region that is none is refused.
"""

import fcntl
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray

from pipeline import provenance, store
from pipeline.errors import DataError
from pipeline.sweep.execute import Limits, run
from pipeline.sweep.layout import Region, Sweep, digest
from pipeline.sweep.progress import Progress

GROWING = "store"
JOURNAL = "journal"
LOCK = "lock"

Axes = tuple[tuple[str, int, int], ...]
"""Name, length and chunk of each dimension."""


def sweep_to(
    path: str | Path,
    sweep: Sweep,
    depends_on: Iterable[Any],
    limits: Limits,
    terminal: TextIO | None,
    made_by: Mapping[str, Any] | None = None,
) -> None:
    """Run a sweep into the store ``path``; its progress goes to standard output as well.

    Parameters
    ----------
    path
        Folder to make.
    sweep
        What to compute.
    depends_on
        Datasets and plain values that decide the result; with them unchanged, a sweep that was
        stopped goes on.
    limits
        Where to compute, and the most that it may take.
    terminal
        Where a person looks on, if one does.
    made_by
        As in :func:`pipeline.store.write`.

    Raises
    ------
    SweepError
        As :func:`pipeline.sweep.execute.run`.
    """
    progress = Progress(sys.stdout, terminal)
    target = RegionStore(Path(path), provenance.told(made_by) if made_by else "")
    run(sweep, target, digest(*depends_on), limits, progress)


@dataclass
class RegionStore:
    """A store under way.

    Attributes
    ----------
    path
        Where the finished store goes.
    made_by
        As in :func:`pipeline.store.replace`.
    """

    path: Path
    made_by: str = ""
    _axes: dict[str, Axes] = field(default_factory=dict, repr=False)
    _lock: int | None = field(default=None, repr=False)

    @property
    def workplace(self) -> Path:
        """The hidden folder in which the store grows."""
        return self.path.parent / f".{self.path.name}.growing"

    def prepare(self, template: xr.Dataset, identity: str) -> dict[int, str]:
        """Lay the store out, or take up what an earlier run of the same sweep has finished.

        Parameters
        ----------
        template
            All coordinates, and lazy variables whose chunks are the regions.
        identity
            Digest of what the result depends on.

        Returns
        -------
        dict
            Digest of each finished region, by its number.

        Raises
        ------
        DataError
            If another process is writing the same store, or as :func:`pipeline.store.write`.
        """
        encoding = store.encodings(template, self.path)
        self._axes = {str(name): _axes(value) for name, value in template.data_vars.items()}
        self.workplace.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        lines = self._journal_lines()
        if lines[:1] == [identity]:
            return self._take_over(identity, lines[1:])
        for left in (GROWING, "old"):
            shutil.rmtree(self.workplace / left, ignore_errors=True)
        with store.quiet_about_metadata():
            template.drop_encoding().to_zarr(
                self.workplace / GROWING,
                compute=False,
                consolidated=True,
                encoding=encoding,
                write_empty_chunks=True,
            )
        self._begin(identity, [])
        return {}

    def write(self, region: Region, dataset: xr.Dataset) -> str:
        """Store the variables of a region; may be called in several threads and processes at once.

        Parameters
        ----------
        region
            Where; one chunk of every variable.
        dataset
            All variables of the template, there.

        Returns
        -------
        str
            Digest of the files written.

        Raises
        ------
        DataError
            If the region is not one chunk, or the dataset not what the template promised.
        """
        given = sorted(map(str, dataset.data_vars))
        if given != sorted(self._axes):
            raise DataError(
                f"{self.path}: a region brings {', '.join(given)}; the store has "
                f"{', '.join(sorted(self._axes))}"
            )
        group = zarr.open_group(self.workplace / GROWING, mode="r+", use_consolidated=False)
        for name in given:
            array = group[name].with_config({"write_empty_chunks": True})  # type: ignore[union-attr]
            array[self._slices(name, region)] = self._values(name, dataset[name], region, array)
        return self._digest(region)

    def finish(self, number: int, region: Region, digest: str) -> None:
        """Note that a region is stored."""
        cuts = {dim: [cut.start, cut.stop] for dim, cut in region.items()}
        with (self.workplace / JOURNAL).open("a", encoding="utf-8") as journal:
            journal.write(_line(number, cuts, digest))

    def publish(self) -> None:
        """Put the finished store in its place, in one step."""
        store.replace(self.workplace / GROWING, self.path, self.made_by)
        shutil.rmtree(self.workplace)

    def release(self) -> None:
        """Let others write the store."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the lock here: it belongs to one process."""
        return self.__dict__ | {"_lock": None}

    def _take_lock(self) -> None:
        """Keep others out; the lock goes with the process, however that ends."""
        self._lock = os.open(self.workplace / LOCK, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise DataError(
                f"{self.path}: another process is writing this store; wait for it or stop it"
            ) from None

    def _journal_lines(self) -> list[str]:
        path = self.workplace / JOURNAL
        if not (path.exists() and (self.workplace / GROWING / "zarr.json").exists()):
            return []
        return path.read_text(encoding="utf-8", errors="replace").splitlines()

    def _take_over(self, identity: str, lines: list[str]) -> dict[int, str]:
        """Keep of an earlier run the regions whose files are as they were written."""
        for torn in (self.workplace / GROWING).rglob("*.partial"):
            torn.unlink()
        whole = {}
        for line in lines:
            entry = _entry(line)
            if entry and self._digest({d: slice(*cut) for d, cut in entry[1].items()}) == entry[2]:
                whole[entry[0]] = entry
        self._begin(identity, [_line(*entry) for entry in whole.values()])
        return {number: digest for number, _, digest in whole.values()}

    def _begin(self, identity: str, lines: list[str]) -> None:
        """Write the journal anew, in one step."""
        fresh = self.workplace / f"{JOURNAL}.new"
        fresh.write_text("".join([f"{identity}\n", *lines]), encoding="utf-8")
        fresh.replace(self.workplace / JOURNAL)

    def _slices(self, name: str, region: Region) -> tuple[slice, ...]:
        """Place of a region in a variable, after a check that it is one chunk of it."""
        axes = self._axes[name]
        missing = set(region) - {dim for dim, _, _ in axes}
        cuts = [(region.get(dim, slice(0, size)), size, chunk) for dim, size, chunk in axes]
        fits = all(
            cut.start % chunk == 0 and cut.stop == min(cut.start + chunk, size)
            for cut, size, chunk in cuts
        )
        if missing or not fits:
            asked = ", ".join(f"{dim} {cut.start}:{cut.stop}" for dim, cut in region.items())
            chunks = ", ".join(f"{dim} {chunk}" for dim, _, chunk in axes)
            raise DataError(
                f"{self.path}: region {asked} is not one chunk of {name}, whose chunks are "
                f"{chunks}; parts of a chunk that are written at the same time undo each other, so "
                f"write whole chunks"
            )
        return tuple(cut for cut, _, _ in cuts)

    def _values(
        self, name: str, variable: xr.DataArray, region: Region, array: "zarr.Array[Any]"
    ) -> NDArray[Any]:
        """Values as they are stored, after a check of their shape and type."""
        shape = tuple(cut.stop - cut.start for cut in self._slices(name, region))
        dims = tuple(dim for dim, _, _ in self._axes[name])
        values = variable.to_numpy()
        if values.dtype.kind in "OUT":
            # The codec of text takes elements as they lie in memory.
            values = values.astype(np.dtypes.StringDType(), order="C")
        if (variable.dims, values.shape, values.dtype) != (dims, shape, array.dtype):
            raise DataError(
                f"{self.path}: a region brings {name} as {values.dtype} of shape {values.shape} "
                f"over {variable.dims}; the store takes {array.dtype} of {shape} over {dims}"
            )
        return values

    def _digest(self, region: Region) -> str:
        """Digest of the files of a region; of what is missing there is none."""
        total = hashlib.sha256()
        for name, axes in sorted(self._axes.items()):
            starts = (region[dim].start // chunk if dim in region else 0 for dim, _, chunk in axes)
            path = self.workplace.joinpath(GROWING, name, "c", *map(str, starts))
            total.update(path.read_bytes() if path.is_file() else b"")
        return total.hexdigest()


def _axes(variable: xr.DataArray) -> Axes:
    chunks = [sizes[0] for sizes in variable.chunks or ()]
    return tuple(
        (str(dim), size, chunk)
        for dim, size, chunk in zip(variable.dims, variable.shape, chunks, strict=True)
    )


def _line(number: int, cuts: Mapping[str, list[int]], digest: str) -> str:
    return f"{json.dumps([number, cuts, digest])}\n"


def _entry(line: str) -> tuple[int, dict[str, list[int]], str] | None:
    """Read a line of the journal; None if it was cut off."""
    try:
        number, cuts, digest = json.loads(line)
    except ValueError:
        return None
    return number, cuts, digest
