"""Files with machine code: listings of the CUDA twins, and whatever kernels users bring.

``data/sass`` holds a listing of every kernel of the ladder for several architectures, so that
nothing needs a compiler. ``make sass`` writes them anew after a change of a source.
"""

import csv
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline import kernels
from pipeline.compiled import listing, toolchain
from pipeline.compiled.decode import Program, decode
from pipeline.compiled.listing import Listing
from pipeline.errors import MachineCodeError, ToolError

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120")
"""Architectures for which listings are kept."""

SOURCES = (".cu", ".cuh", ".h", ".hpp", ".inl")
"""Endings of CUDA sources and of what they include."""

ProgramFinder = Callable[[str, str, Mapping[str, Any]], Program | None]
"""Kernel, architecture and options, none for the kernel's own -> program, if there is one."""

TWINS = Path("data/sass")
"""Where they lie, from the project folder."""


def twin_source(kernel: str) -> Path:
    """Return the CUDA source of a kernel of the ladder."""
    return Path(kernels.__path__[0]) / f"{kernel}.cu"


def twin_listing(kernel: str, architecture: str, folder: Path = TWINS) -> Path:
    """Return the file that holds a kernel's listing."""
    return folder / f"{kernel}_{architecture}.sass"


def tiled_listing(
    kernel: str, architecture: str, tiles: Mapping[str, int], folder: Path = TWINS
) -> Path:
    """Return the file that holds the listing of a kernel with other tiles.

    >>> tiled_listing("k09_autotuned", "sm_80", {"bm": 64, "tm": 4}).name
    'k09_autotuned_sm_80_bm64_tm4.sass'
    """
    named = "_".join(f"{name}{size}" for name, size in tiles.items())
    return folder / "tiles" / f"{kernel}_{architecture}_{named}.sass"


@dataclass(frozen=True)
class Tiling:
    """A kernel with other tiles than its own, for one architecture."""

    kernel: str
    architecture: str
    tiles: Mapping[str, int]

    @property
    def defines(self) -> dict[str, int | str]:
        """Macros of the CUDA source that set the tiles."""
        return {name.upper(): size for name, size in self.tiles.items()}


def tilings(folder: Path = TWINS) -> list[Tiling]:
    """Read which kernels with other tiles have a listing (``tiles.csv``)."""
    with (folder / "tiles.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return [
        Tiling(
            row["kernel"],
            row["arch"],
            {name: int(size) for name, size in list(row.items())[2:] if size},
        )
        for row in rows
    ]


def listings_of(architectures: Iterable[str], folder: Path = TWINS) -> list[str]:
    """List all listings of the ladder for some architectures, those with other tiles as well."""
    found = (
        path
        for architecture in architectures
        for pattern in (f"k*_{architecture}.sass", f"tiles/k*_{architecture}_*.sass")
        for path in folder.glob(pattern)
    )
    return sorted(str(path) for path in found)


def tilings_of(kernel: str, architecture: str, folder: Path = TWINS) -> list[str]:
    """List the listings of a kernel with its own tiles and with others."""
    others = (
        tiled_listing(one.kernel, one.architecture, one.tiles, folder)
        for one in tilings(folder)
        if (one.kernel, one.architecture) == (kernel, architecture)
    )
    return [str(path) for path in (twin_listing(kernel, architecture, folder), *others)]


def program_finder(paths: Iterable[str], folder: Path = TWINS) -> ProgramFinder:
    """Return a function that finds the program of a kernel, an architecture and options.

    Parameters
    ----------
    paths
        Listings to look among; one is read when it is asked for.
    folder
        Where listings lie.
    """
    known = set(paths)
    tiled = tilings(folder)

    def find(kernel: str, architecture: str, options: Mapping[str, Any]) -> Program | None:
        path = twin_listing(kernel, architecture, folder)
        if options:
            fit = [
                tiled_listing(kernel, architecture, one.tiles, folder)
                for one in tiled
                if (one.kernel, one.architecture) == (kernel, architecture)
                and all(options[name] == size for name, size in one.tiles.items())
            ]
            path = fit[0] if fit else folder
        return decode(read_listing(path)) if str(path) in known else None

    return find


def read_tilings(paths: Iterable[str]) -> list[tuple[dict[str, int], Program]]:
    """Read and decode listings of one kernel with different options, and say which."""
    found = [read_listing(Path(path)) for path in paths]
    return [(_options(one), decode(one)) for one in found]


def _options(listing: Listing) -> dict[str, int]:
    """Return the options that a listing was compiled with."""
    pairs = (one.partition("=") for one in listing.made_by.get("defines", "").split())
    return {name.lower(): int(value) for name, _, value in pairs}


def read_listing(path: Path) -> Listing:
    """Read a listing.

    Raises
    ------
    MachineCodeError
        If the file cannot be read, or is no listing.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MachineCodeError(f"{path}: cannot be read ({error})") from error
    return listing.read(text, str(path))


def read_twin(kernel: str, architecture: str, folder: Path = TWINS) -> Program:
    """Read and decode a kernel of the ladder."""
    return decode(read_listing(twin_listing(kernel, architecture, folder)))


def read_programs(paths: Iterable[str]) -> list[Program]:
    """Read and decode several listings."""
    return [decode(read_listing(Path(path))) for path in paths]


def outdated(path: Path, kernel: str) -> str:
    """Say why a listing is not that of the present source; nothing if it is."""
    if not path.exists():
        return f"{path} is missing"
    source = twin_source(kernel)
    named = read_listing(path).made_by.get("source", "")
    if named != f"{source.name} {toolchain.source_digest(source)}":
        return f"{path} was made from another {source.name}"
    return ""


def read_sources(paths: Iterable[str]) -> dict[str, list[str]]:
    """Read the lines of CUDA sources, by the names that listings know them by.

    Files that are no sources, such as cubins, are left out.
    """
    texts = [path for path in map(Path, paths) if path.suffix in SOURCES]
    return {
        path.name: path.read_text(encoding="utf-8", errors="replace").splitlines() for path in texts
    }


def compiled(path: str | Path, architecture: str, entry: str) -> Program:
    """Return the kernel ``entry`` of a file: a CUDA source, a cubin, or a listing (``.sass``).

    The name may also be that of the source, where it is mangled in the code and one kernel has it.

    Raises
    ------
    ToolError
        If a tool is missing or refuses the file.
    MachineCodeError
        If the entry is not in the file, or the file is for another architecture.
    """
    path = Path(path)
    if not path.exists():
        raise ToolError(f"{path}: there is no such file")
    if path.suffix == ".sass":
        one = read_listing(path)
        found = {one.kernel: one}
    elif path.suffix == ".cu":
        found = toolchain.from_source(path, architecture)
    else:
        found = toolchain.from_binary(path, architecture)
    chosen = _named(path, entry, found)
    if chosen.architecture != architecture:
        raise MachineCodeError(
            f"{path}: {entry} is compiled for {chosen.architecture}, not for {architecture}"
        )
    return decode(chosen)


def _named(path: Path, entry: str, found: Mapping[str, Listing]) -> Listing:
    """Choose a kernel by its name, or by its name in the source if that is mangled."""
    if entry in found:
        return found[entry]
    mangled = [name for name in found if _in_source(name) == entry]
    if len(mangled) == 1:
        return found[mangled[0]]
    there = ", ".join(mangled or sorted(found)) or "none"
    several = f"several kernels are called {entry}" if mangled else f"there is no kernel {entry}"
    raise MachineCodeError(
        f"{path}: {several}; there are {there}. Names of C++ are mangled: give one of these, or "
        f'write extern "C" before the kernel'
    )


def _in_source(mangled: str) -> str:
    """Return the name that a function has in the source; nothing if its name is not mangled.

    Names stand with their lengths before them, and those of namespaces, after ``N``, before that of
    the function (Itanium C++ ABI).

    >>> _in_source("_ZN12_GLOBAL__N_15scaleIfEEvPT_")
    'scale'
    """
    head = re.match(r"_ZL?(N?)", mangled)
    name, rest = "", mangled[head.end() :] if head else ""
    while length := re.match(r"L?([0-9]+)", rest):
        end = length.end() + int(length[1])
        name, rest = rest[length.end() : end], rest[end:] if head and head[1] else ""
    return name
