"""Results on disk: every dataset is one zarr folder, written whole or not at all.

A store opens with plain ``xarray.open_zarr(path)`` and without a warning, also after Snakemake has
put its ``.snakemake_timestamp`` inside: its metadata is consolidated and its text is of a type that
the zarr specification knows. The same dataset gives the same bytes.

A zarr folder that lost a chunk reads without an error, as zeros or NaN. So :func:`write` stores
every chunk, also one that holds nothing but the fill value; then a chunk that is not there is a
chunk that is missing, and :func:`read` and :func:`open_results` say so. A chunk ends with its
CRC-32C, which every reader of zarr verifies. The digests of all files, which :func:`read` verifies
too, are listed in the store itself (:mod:`pipeline.file_digests`).

The attribute ``provenance`` of a store says what made it. Stages do not see it.
"""

import json
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.errors import ZarrUserWarning

from pipeline import file_digests, provenance
from pipeline.errors import DataError
from pipeline.workplace import workplace

INTERMEDIATE = ("simulated",)
"""Folders below ``results/`` whose stores only feed other stages."""

PROVENANCE = "provenance"
"""Attribute of a store: JSON that says what made it."""

# The checksum of zstd is of the contents and leaves some bits of a chunk out; this one is of the
# chunk's bytes.
_CODECS = (ZstdCodec(level=3, checksum=False), Crc32cCodec())
_METADATA = "zarr.json"
_MOST_NAMED = 3
_TEXT = np.dtypes.StringDType()
_NUMBERS = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
_BROKEN = (OSError, ValueError, KeyError, TypeError, RuntimeError)
"""What zarr and its codecs raise for a folder that is not a sound store."""


def write(dataset: xr.Dataset, path: str | Path, made_by: Mapping[str, Any] | None = None) -> None:
    """Write ``dataset`` to the zarr folder ``path``, replacing what is there.

    The store is written beside the target and renamed at the end, so no reader ever sees half of
    it; what a killed write left behind is removed by the next one.

    Parameters
    ----------
    dataset
        Any dimensions; may be lazy. Every variable and coordinate must have the attributes
        ``units`` and ``long_name`` and hold booleans, integers, 32- or 64-bit floats or text.
    path
        Folder to make; parents are made too.
    made_by
        Parameters of the rule that makes it: settings, digest of the code and versions.

    Raises
    ------
    DataError
        If a variable is unlabelled or of another type, or an attribute is not a plain value.
    """
    path = Path(path)
    encoding = encodings(dataset, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with workplace(path) as folder:
        with quiet_about_metadata():
            _in_order(dataset).drop_encoding().to_zarr(
                folder / "new",
                mode="w-",
                consolidated=True,
                encoding=encoding,
                write_empty_chunks=True,
            )
        replace(folder / "new", path, provenance.told(made_by) if made_by else "")


def replace(new: Path, path: Path, made_by: str = "") -> None:
    """Put the finished store ``new`` in the place of ``path``, which is kept beside ``new``.

    Parameters
    ----------
    new
        Store in a folder of its own that the caller removes.
    path
        Where it goes, on the same disk.
    made_by
        What :func:`pipeline.provenance.told` gives; empty for nothing.

    Raises
    ------
    DataError
        If chunks are missing in ``new``.
    """
    _check_complete(new)
    file_digests.write_content(new)
    if made_by:
        _mark(new / _METADATA, made_by)
    file_digests.write_list(new)
    if path.exists():
        path.rename(new.with_name("old"))
    new.rename(path)


def _mark(metadata: Path, made_by: str) -> None:
    """Add what made a store to its attributes, which every reader of zarr shows."""
    held = json.loads(metadata.read_text(encoding="utf-8"))
    held["attributes"][PROVENANCE] = made_by
    metadata.write_text(json.dumps(held, indent=2), encoding="utf-8")


def read(path: str | Path, variables: Collection[str] = ()) -> xr.Dataset:
    """Read the store ``path`` into memory, whole or some of its variables.

    Parameters
    ----------
    path
        Its folder; every file in it is looked at, also those of variables that are left out.
    variables
        Names of those that are read, with their coordinates; none stands for all.

    Raises
    ------
    DataError
        If there is no store at ``path``, or a file of it is missing or not as it was written.
    """
    path = Path(path)
    # All of it is wanted: without chunks no scheduler of dask is loaded.
    dataset = _sound(path, lazy=False)
    try:
        wanted = dataset[list(variables)] if variables else dataset
        return wanted.load().drop_encoding()
    except _BROKEN as error:
        raise _broken(path, str(error)) from error


def open_results(folder: str | Path = "results") -> xr.DataTree:
    """Open every store below ``folder`` as one lazy tree.

    ``results/predictions.zarr`` becomes the node ``predictions`` and ``results/decode/ledger.zarr``
    the node ``decode/ledger``. Coordinates are loaded, variables are read when they are used.
    A damaged chunk shows only then, as an error of the decoder (``ValueError``) that names no
    store; ``make check-results`` says which one it is.

    Raises
    ------
    DataError
        If there is no store below ``folder``, or one of them is incomplete.
    """
    folder = Path(folder)
    stores = {
        node: _open(path, lazy=True, complete=True)
        for node, path in sorted(_stores(folder).items())
    }
    if not stores:
        raise DataError(
            f"{folder}: there is no result here; run `snakemake all` in the project folder first, "
            f"or pass the folder that holds the results: open_results('path/to/results')"
        )
    return xr.DataTree.from_dict(stores)


def _stores(folder: Path) -> dict[str, Path]:
    """Map node names to the stores below ``folder``; leave out what only feeds other stages."""
    found = {}
    for path in folder.glob("**/*.zarr"):
        parts = path.relative_to(folder).with_suffix("").parts
        hidden = any(part.startswith(".") for part in parts)
        if path.is_dir() and parts[0] not in INTERMEDIATE and not hidden:
            found["/".join(parts)] = path
    return found


def content(path: str | Path) -> str:
    """Digest of what a store holds, whatever made it."""
    return (Path(path) / file_digests.CONTENT).read_text(encoding="utf-8").strip()


def open_lazily(path: str | Path) -> xr.Dataset:
    """Open a store after a look at every file of it, which costs far less than to decode them.

    Coordinates are loaded, variables are read when they are used.

    Raises
    ------
    DataError
        If there is no store at ``path``, or a file of it is missing or not as it was written.
    """
    return _sound(Path(path), lazy=True)


def _sound(path: Path, lazy: bool) -> xr.Dataset:
    """Open a store after a look at every file of it."""
    dataset = _open(path, lazy)
    changed = file_digests.differences(path)
    if changed:
        # A variable says more than its files.
        _check_complete(path)
        raise _broken(path, "; ".join(changed[:_MOST_NAMED]))
    dataset.attrs.pop(PROVENANCE, None)
    return dataset


def _open(path: Path, lazy: bool, complete: bool = False) -> xr.Dataset:
    """Open a store, after a look at its metadata and maybe at whether all chunks are there."""
    if not path.exists():
        raise DataError(f"{path}: there is no store here; `snakemake {path}` makes it")
    try:
        if complete:
            _check_complete(path)
        if file_digests.sha256(path / _METADATA) != file_digests.read_list(path)[_METADATA]:
            raise _broken(path, f"{_METADATA} was changed")
        dataset = xr.open_zarr(path, consolidated=True, chunks={} if lazy else None)
        for coordinate in dataset.coords.values():
            coordinate.load()
    except DataError:
        raise
    except _BROKEN as error:
        raise _broken(path, str(error)) from error
    return dataset


def _check_complete(path: Path) -> None:
    """Refuse a store of which a chunk is missing; looks at file names only."""
    group = zarr.open_group(path, mode="r", use_consolidated=True)
    for name, array in group.arrays():
        if array.nchunks_initialized != array.nchunks:
            there = f"{array.nchunks_initialized} of {array.nchunks}"
            raise _broken(path, f"variable {name} has only {there} of its chunks")


def _broken(path: Path, why: str) -> DataError:
    if not (path.is_dir() and path.suffix == ".zarr"):
        return DataError(
            f"{path}: this is no store ({why}); a store is a folder whose name ends in .zarr, such "
            f"as results/counts.zarr"
        )
    return DataError(
        f"{path}: this is not a whole store ({why}); delete the folder and make it again with "
        f"`snakemake {path}`"
    )


def encodings(dataset: xr.Dataset, path: Path) -> dict[str, dict[str, Any]]:
    """Say how each variable is stored.

    Raises
    ------
    DataError
        If a variable is unlabelled or of a type that a store cannot hold, or an attribute is not a
        plain value; ``path`` is named.
    """
    _check_attributes(path, "the dataset", dataset.attrs)
    return {str(name): _encoding(path, str(name), v) for name, v in dataset.variables.items()}


@contextmanager
def quiet_about_metadata() -> Iterator[None]:
    """Leave out a warning: consolidated metadata is an extension of zarr format 3."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Consolidated metadata", ZarrUserWarning)
        yield


def _encoding(path: Path, name: str, variable: xr.Variable) -> dict[str, Any]:
    """How a variable is stored, after a check that it may be stored at all."""
    for needed in ("units", "long_name"):
        label = variable.attrs.get(needed)
        if not (isinstance(label, str) and label):
            raise DataError(
                f"{path}: variable {name} has no {needed}; add it to its family in pipeline/vocab "
                f"and label the dataset with pipeline.vocab.variable.annotate before writing"
            )
    _check_attributes(path, f"variable {name}", variable.attrs)
    compressed: dict[str, Any] = {"compressors": _CODECS}
    if _is_text(variable):
        return compressed | {"dtype": _TEXT}
    if variable.dtype.str[1:] not in _NUMBERS:
        raise DataError(
            f"{path}: variable {name} is of type {variable.dtype}, which a store cannot hold; "
            f"allowed are bool, integers, float32, float64 and text: convert it with "
            f".astype(...), and give times as seconds"
        )
    return compressed


def _in_order(dataset: xr.Dataset) -> xr.Dataset:
    """Lay text out row by row: its codec takes elements as they lie in memory.

    A transposed array lies column by column, and would be stored with its elements mixed up.
    """
    ordered = dataset.copy()
    for name, variable in dataset.variables.items():
        if variable.ndim > 1 and _is_text(variable):
            ordered[name] = variable.copy(data=np.ascontiguousarray(variable.values))
    return ordered


def _is_text(variable: xr.Variable) -> bool:
    """Whether all elements are str; object arrays count when nothing else is in them."""
    if variable.dtype.kind in "OT":
        return all(isinstance(value, str) for value in variable.values.flat)
    return variable.dtype.kind == "U"


def _check_attributes(path: Path, owner: str, attributes: dict[Any, Any]) -> None:
    """Refuse attributes that are not plain text, numbers or lists of these."""
    plain = (str, bool, int, float, np.number, np.bool_)
    for key, value in attributes.items():
        items = value if isinstance(value, list | tuple) else [value]
        if not all(isinstance(item, plain) for item in items):
            raise DataError(
                f"{path}: attribute {key} of {owner} is a {type(value).__name__}; "
                f"allowed are text, numbers and lists of these"
            )
