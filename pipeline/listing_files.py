"""Files with machine code: listings of the CUDA twins, and whatever kernels users bring.

``data/sass`` holds a listing of every kernel of the ladder for several architectures, so that
nothing needs a compiler. ``make sass`` writes them anew after a change of a source.
"""

from collections.abc import Iterable
from pathlib import Path

from pipeline import kernels
from pipeline.compiled import listing, toolchain
from pipeline.compiled.decode import Program, decode
from pipeline.compiled.listing import Listing
from pipeline.errors import MachineCodeError, ToolError

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_120")
"""Architectures for which listings are kept."""

TWINS = Path("data/sass")
"""Where they lie, from the project folder."""


def twin_source(kernel: str) -> Path:
    """Return the CUDA source of a kernel of the ladder."""
    return Path(kernels.__path__[0]) / f"{kernel}.cu"


def twin_listing(kernel: str, architecture: str, folder: Path = TWINS) -> Path:
    """Return the file that holds a kernel's listing."""
    return folder / f"{kernel}_{architecture}.sass"


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


def outdated(folder: Path, kernel: str, architecture: str) -> str:
    """Say why a listing is not that of the present source; nothing if it is."""
    path = twin_listing(kernel, architecture, folder)
    if not path.exists():
        return f"{path} is missing"
    source = twin_source(kernel)
    named = read_listing(path).made_by.get("source", "")
    if named != f"{source.name} {toolchain.source_digest(source)}":
        return f"{path} was made from another {source.name}"
    return ""


def compiled(path: Path, architecture: str, entry: str) -> Program:
    """Return the kernel ``entry`` of a file: a CUDA source, a cubin, or a listing (``.sass``).

    Raises
    ------
    ToolError
        If a tool is missing or refuses the file.
    MachineCodeError
        If the entry is not in the file, or the file is for another architecture.
    """
    if not path.exists():
        raise ToolError(f"{path}: there is no such file")
    if path.suffix == ".sass":
        one = read_listing(path)
        found = {one.kernel: one}
    elif path.suffix == ".cu":
        found = toolchain.from_source(path, architecture)
    else:
        found = toolchain.from_binary(path, architecture)
    if entry not in found:
        raise MachineCodeError(
            f"{path}: there is no kernel {entry}; there are {', '.join(sorted(found)) or 'none'}. "
            f'Names of C++ are mangled: write extern "C" before the kernel'
        )
    if found[entry].architecture != architecture:
        raise MachineCodeError(
            f"{path}: {entry} is compiled for {found[entry].architecture}, not for {architecture}"
        )
    return decode(found[entry])
