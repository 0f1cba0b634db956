"""Compiler and disassembler of the CUDA toolkit: found, asked, and turned into listings.

Both run without a GPU. They are looked for on the path, and in the packages of NVIDIA on PyPI
(``pip install paper-gpu[cuda]``).
"""

import hashlib
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pipeline.compiled import elf, listing
from pipeline.compiled.listing import Data, Listing
from pipeline.errors import MachineCodeError, ToolError

_FOLDER = "cu13/bin"
_INSTALL = "pip install 'paper-gpu[cuda]' brings both compiler and disassembler"


def find(tool: str) -> Path | None:
    """Return where a tool is: on the path, or in NVIDIA's packages; None if it is nowhere."""
    found = shutil.which(tool)
    if found:
        return Path(found)
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        candidate = Path(folder) / _FOLDER / tool
        if candidate.is_file():
            return candidate
    return None


def require(tool: str) -> Path:
    """Return where a tool is.

    Raises
    ------
    ToolError
        Saying how to get it.
    """
    found = find(tool)
    if found is None:
        raise ToolError(f"{tool} is not installed; {_INSTALL}, or put a CUDA toolkit on the path")
    return found


def _run(command: list[str], what: str) -> str:
    # NVIDIA's packages do not always keep the right to be executed.
    if not os.access(command[0], os.X_OK):
        raise ToolError(f"{command[0]} may not be executed; run chmod +x on it")
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise ToolError(f"{what}:\n{(done.stdout + done.stderr).strip()}")
    return done.stdout


def version(tool: str) -> str:
    """Return the version that a tool says it has, such as ``13.0.88``."""
    told = _run([str(require(tool)), "--version"], f"{tool} does not run")
    match = re.search(r"V(\d+\.\d+\.\d+)", told)
    if match is None:
        raise ToolError(f"{tool} does not tell its version:\n{told.strip()}")
    return match[1]


def source_digest(path: Path) -> str:
    """Return a digest of a source file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def compile_source(
    path: Path, architecture: str, defines: Mapping[str, int | str] | None = None,
    options: tuple[str, ...] = (),
) -> bytes:  # fmt: skip
    """Compile a CUDA source file with line information; return the cubin.

    Raises
    ------
    ToolError
        With what the compiler says, if it refuses the source or the architecture.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.cubin"
        command = [str(require("nvcc")), "-cubin", "-lineinfo", f"-arch={architecture}", *options]
        command += [f"-D{name}={value}" for name, value in (defines or {}).items()]
        _run([*command, "-o", str(target), str(path)], f"{path}: nvcc for {architecture}")
        return target.read_bytes()


def disassemble(image: bytes, name: str = "the cubin") -> str:
    """Return the disassembler's text of a cubin, with encodings and source lines.

    Parameters
    ----------
    image
        The cubin.
    name
        What messages call it.

    Raises
    ------
    ToolError
        With what the disassembler says, if it refuses the cubin.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.cubin"
        source.write_bytes(image)
        command = [str(require("nvdisasm")), "-hex", "-g", "-c", str(source)]
        try:
            return _run(command, f"{name}: nvdisasm")
        except ToolError as error:
            raise ToolError(str(error).replace(str(source), name)) from None


def listings(image: bytes, text: str, made_by: Mapping[str, str]) -> dict[str, Listing]:
    """Join a cubin and its disassembly to listings, one per kernel.

    Raises
    ------
    MachineCodeError
        If the cubin or the text cannot be read.
    """
    try:
        return _listings(image, text, made_by)
    except MachineCodeError:
        raise
    except (struct.error, LookupError, StopIteration, ValueError) as error:
        raise MachineCodeError(
            "is damaged: its tables do not fit each other; compile it again"
        ) from error


def _listings(image: bytes, text: str, made_by: Mapping[str, str]) -> dict[str, Listing]:
    cubin = elf.read(image)
    match = re.search(r"\.target\s+(sm_\w+)", text)
    if match is None:
        raise MachineCodeError("the disassembler does not name an architecture")
    return {
        kernel: Listing(
            kernel=kernel,
            architecture=match[1],
            facts=elf.facts(cubin, kernel),
            lines=lines,
            files=files,
            labels=labels,
            data=tuple(module_data(cubin, kernel)),
            made_by=dict(made_by),
        )
        for kernel, (lines, files, labels) in listing.disassembled(text).items()
    }


def module_data(cubin: elf.Cubin, kernel: str) -> list[Data]:
    """Return constant banks and global arrays that a kernel may read.

    Addresses of functions outside of the module, such as printf's, stay zero: a call of one is
    refused when it is decoded.
    """
    pattern = re.compile(rf"\.nv\.(constant[1-9]\d*|global(?:\.init)?)(?:\.{re.escape(kernel)})?$")
    found = []
    for section in cubin.sections.values():
        if match := pattern.match(section.name):
            pointers = tuple(
                (one.offset, one.symbol.section.removeprefix(".nv."), one.symbol.value + one.addend)
                for one in cubin.relocations
                if one.section == section.name and pattern.match(one.symbol.section)
            )
            found.append(Data(match[1], section.size, section.data, pointers))
    return found


def from_source(
    path: Path, architecture: str, defines: Mapping[str, int | str] | None = None
) -> dict[str, Listing]:
    """Compile and disassemble a source file; return the listings of its kernels by name."""
    image = compile_source(path, architecture, defines)
    made_by = {
        "source": f"{path.name} {source_digest(path)}",
        "compiler": f"nvcc {version('nvcc')}",
        "disassembler": f"nvdisasm {version('nvdisasm')}",
    }
    if defines:
        made_by["defines"] = " ".join(f"{name}={value}" for name, value in defines.items())
    return listings(image, disassemble(image), made_by)


def from_binary(path: Path, architecture: str) -> dict[str, Listing]:
    """Disassemble a cubin, or the cubins that an executable or a library holds.

    Raises
    ------
    ToolError
        If nothing for the architecture is found in the file.
    """
    image = path.read_bytes()
    wanted = int(re.sub(r"\D", "", architecture))
    found: dict[str, Listing] = {}
    for cubin in elf.embedded(image):
        if elf.architecture(cubin) == wanted:
            text = disassemble(cubin, str(path))
            try:
                found |= listings(cubin, text, {"binary": path.name})
            except MachineCodeError as error:
                raise MachineCodeError(f"{path}: {error}") from error
    if not found:
        raise ToolError(
            f"{path}: holds no machine code for {architecture} that can be read; compile it with "
            f"nvcc -arch={architecture} -no-compress"
        )
    return found
