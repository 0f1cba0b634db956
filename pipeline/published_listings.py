"""Listings of code in the structure of that whose rates are published, for the GPUs of these rates.

``data/sass/published.csv`` says which there are; ``make sass`` compiles them. They take other
arguments than the twins: :func:`pipeline.compiled.twin.published_product`.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import kernels
from pipeline.compiled.decode import Program, decode
from pipeline.listing_files import TWINS, ProgramFinder, read_listing

_STATE = "first_state"


@dataclass(frozen=True)
class Published:
    """Code of a kernel for one architecture.

    Attributes
    ----------
    kernel, architecture
        What it is.
    source
        The CUDA source.
    tiles
        Those that are not the kernel's own; none if all are.
    first_state
        Whether it is the older state that rates on the A100 are of.
    """

    kernel: str
    architecture: str
    source: Path
    tiles: Mapping[str, int]
    first_state: bool

    @property
    def defines(self) -> dict[str, int | str]:
        """Macros of the source."""
        state: dict[str, int | str] = {_STATE.upper(): 1} if self.first_state else {}
        return state | {name.upper(): size for name, size in self.tiles.items()}

    def listing(self, folder: Path = TWINS) -> Path:
        """Return the file that holds its listing."""
        return folder / "published" / f"{self.kernel}_{self.architecture}.sass"


def published(folder: Path = TWINS) -> list[Published]:
    """Read which listings there are."""
    with (folder / "published.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return [_published(row) for row in rows]


def _published(row: dict[str, str]) -> Published:
    kernel, architecture, source, state = (
        row.pop(name) for name in ("kernel", "arch", "source", _STATE)
    )
    tiles = {name: int(size) for name, size in row.items() if size}
    path = Path(kernels.__path__[0]) / source
    return Published(kernel, architecture, path, tiles, state == "1")


def published_listings(architectures: Iterable[str]) -> list[str]:
    """List the listings for some architectures."""
    chosen = set(architectures)
    return [str(one.listing()) for one in published() if one.architecture in chosen]


def published_finder(paths: Iterable[str]) -> ProgramFinder:
    """Return a function that finds published code by kernel, architecture and options.

    Parameters
    ----------
    paths
        Listings to look among; one is read when it is asked for.
    """
    known = set(paths)
    there = {(one.kernel, one.architecture): one for one in published()}

    def find(kernel: str, architecture: str, options: Mapping[str, Any]) -> Program | None:
        one = there.get((kernel, architecture))
        if one is None or str(one.listing()) not in known or bool(options) != bool(one.tiles):
            return None
        fits = all(options[name] == size for name, size in one.tiles.items())
        return decode(read_listing(one.listing())) if fits else None

    return find
