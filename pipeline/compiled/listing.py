"""Listings: machine code of one kernel as text that needs no tool of NVIDIA's to be read.

A listing holds what the disassembler and the cubin say of a kernel: a head of keys and values, and
a line per instruction with its address, source line, encoding and text. The files in ``data/sass``
are listings.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pipeline.compiled.elf import Facts
from pipeline.errors import MachineCodeError

_VERSION = "listing 1"
_SHOWN = 40
"""Characters of a line that a message shows."""
_FACTS = ("registers", "local_bytes", "shared_bytes", "barriers", "max_threads", "parameter_base")


@dataclass(frozen=True)
class Line:
    """One instruction as text.

    Attributes
    ----------
    address
        Bytes from the start of the kernel.
    lower, upper
        The two 64-bit halves of the encoding.
    text
        Guard, opcode and operands.
    file, line
        Number of the source file in the listing, from 1, and line; 0 where not known.
    """

    address: int
    lower: int
    upper: int
    text: str
    file: int = 0
    line: int = 0


@dataclass(frozen=True)
class Data:
    """Bytes of a module that a kernel finds in memory or in a constant bank.

    Attributes
    ----------
    place
        ``constant3`` is constant bank 3; any other name is a global array.
    size
        In bytes; those beyond ``content`` are zero.
    content
        First bytes.
    pointers
        Offset, name of a global array and addend: addresses that the bytes are to hold.
    """

    place: str
    size: int
    content: bytes
    pointers: tuple[tuple[int, str, int], ...] = ()


@dataclass(frozen=True)
class Listing:
    """Machine code of one kernel.

    Attributes
    ----------
    kernel, architecture
        Entry and target, such as ``sm_80``.
    made_by
        What is said of the origin: compiler, options, digest of the source.
    facts
        What a launch needs.
    files
        Names of source files, without folders.
    labels
        Names of places in the code, by name.
    data
        Contents of constant banks and global arrays.
    lines
        The instructions.
    """

    kernel: str
    architecture: str
    facts: Facts
    lines: tuple[Line, ...]
    files: tuple[str, ...] = ()
    labels: dict[str, int] = field(default_factory=dict)
    data: tuple[Data, ...] = ()
    made_by: dict[str, str] = field(default_factory=dict)


def write(listing: Listing) -> str:
    """Return a listing as text; :func:`read` takes it back."""
    return "\n".join([*_head(listing), *_code(listing.lines)]) + "\n"


def _head(listing: Listing) -> Iterator[str]:
    yield f"# {_VERSION}"
    yield f"kernel {listing.kernel}"
    yield f"architecture {listing.architecture}"
    for key, value in listing.made_by.items():
        yield f"made_by {key}: {value}"
    for name in _FACTS:
        yield f"{name} {getattr(listing.facts, name)}"
    for offset, size in listing.facts.parameters:
        yield f"parameter {offset} {size}"
    for name in listing.files:
        yield f"file {name}"
    for name, address in listing.labels.items():
        yield f"label {address:04x} {name}"
    for data in listing.data:
        yield f"data {data.place} {data.size} {data.content.hex() or '-'}"
        for offset, name, addend in data.pointers:
            yield f"pointer {offset} {name} {addend}"
    yield "code"


def _code(lines: tuple[Line, ...]) -> Iterator[str]:
    for one in lines:
        source = f"{one.file}:{one.line}" if one.line else "-"
        yield f"{one.address:04x} {source} {one.lower:016x} {one.upper:016x} {one.text}"


def read(text: str, name: str = "listing") -> Listing:
    """Read what :func:`write` wrote.

    Raises
    ------
    MachineCodeError
        Naming file and line, if something is not as it should be.
    """
    rows = text.splitlines()
    if not rows or rows[0] != f"# {_VERSION}":
        raise MachineCodeError(f"{name}: does not start with '# {_VERSION}'; make it again")
    head = _Head()
    lines: list[Line] = []
    in_head = True
    for number, row in enumerate(rows[1:], start=2):
        try:
            if not in_head:
                lines.append(_line(row))
            elif row == "code":
                in_head = False
            else:
                head.take(*row.split(" ", 1))
        except (ValueError, IndexError, TypeError) as error:
            raise MachineCodeError(
                f"{name}, line {number}: {row[:_SHOWN]!r} is not whole, or no line of a listing; "
                f"make it again"
            ) from error
    missing = [key for key in ("kernel", "architecture", *_FACTS) if key not in head.values]
    if missing or in_head:
        raise MachineCodeError(f"{name}: lacks {', '.join(missing) or 'its code'}; make it again")
    try:
        return head.listing(tuple(lines))
    except ValueError as error:
        raise MachineCodeError(
            f"{name}: one of {', '.join(_FACTS)} in its head is no number; make it again"
        ) from error


class _Head:
    """What the head of a listing says, line by line."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self._parameters: list[tuple[int, int]] = []
        self._files: list[str] = []
        self._labels: dict[str, int] = {}
        self._data: list[Data] = []
        self._made_by: dict[str, str] = {}

    def take(self, key: str, value: str) -> None:
        """Take in one line."""
        several = {
            "parameter": self._parameter,
            "file": self._files.append,
            "label": self._label,
            "made_by": self._origin,
            "data": self._bytes,
            "pointer": self._pointer,
        }
        if key in several:
            several[key](value)
        else:
            self.values[key] = value

    def _parameter(self, value: str) -> None:
        offset, size = value.split()
        self._parameters.append((int(offset), int(size)))

    def _label(self, value: str) -> None:
        address, label = value.split(" ", 1)
        self._labels[label] = int(address, 16)

    def _origin(self, value: str) -> None:
        what, told = value.split(": ", 1)
        self._made_by[what] = told

    def _bytes(self, value: str) -> None:
        place, size, content = value.split()
        self._data.append(Data(place, int(size), bytes.fromhex(content.strip("-"))))

    def _pointer(self, value: str) -> None:
        self._data[-1] = _pointed(self._data[-1], value)

    def listing(self, lines: tuple[Line, ...]) -> Listing:
        """Return the listing with its code."""
        registers, local, shared, barriers, most, base = (int(self.values[key]) for key in _FACTS)
        return Listing(
            kernel=self.values["kernel"],
            architecture=self.values["architecture"],
            facts=Facts(registers, local, shared, barriers, most, base, tuple(self._parameters)),
            lines=lines,
            files=tuple(self._files),
            labels=self._labels,
            data=tuple(self._data),
            made_by=self._made_by,
        )


def _pointed(data: Data, value: str) -> Data:
    offset, name, addend = value.split()
    pointers = (*data.pointers, (int(offset), name, int(addend)))
    return Data(data.place, data.size, data.content, pointers)


def _line(row: str) -> Line:
    address, source, lower, upper, text = row.split(" ", 4)
    file, _, line = source.partition(":")
    return Line(
        int(address, 16), int(lower, 16), int(upper, 16), text, int(file.strip("-") or 0),
        int(line or 0),
    )  # fmt: skip


_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*/\* (0x[0-9a-f]{16}) \*/")
_SECOND = re.compile(r"\s*/\* (0x[0-9a-f]{16}) \*/\s*$")
_SOURCE = re.compile(r'\s*//## File "(.*?)", line (\d+)')
_LABEL = re.compile(r"([.$\w]+):\s*$")


def disassembled(text: str) -> dict[str, tuple[tuple[Line, ...], tuple[str, ...], dict[str, int]]]:
    """Read the disassembler's text (``nvdisasm -hex -g -c``): lines, files, labels per kernel.

    Raises
    ------
    MachineCodeError
        If something that looks like an instruction is not of the expected form.
    """
    found = {}
    for part in re.split(r"(?m)^//-+ (?=\.text\.)", text)[1:]:
        name = part.split(None, 1)[0][len(".text.") :]
        found[name] = _section(part, name)
    return found


def _section(text: str, name: str) -> tuple[tuple[Line, ...], tuple[str, ...], dict[str, int]]:
    lines: list[Line] = []
    files: dict[str, int] = {}
    labels: dict[str, int] = {}
    waiting: list[str] = []
    source = (0, 0)
    rows = iter(text.splitlines())
    for row in rows:
        if match := _INSTRUCTION.match(row):
            second = _SECOND.match(next(rows, ""))
            if second is None:
                raise MachineCodeError(f"{name}, {row.strip()}: the second half is missing")
            address = int(match[1], 16)
            labels |= dict.fromkeys(waiting, address)
            waiting = []
            words = re.sub(r"\s+", " ", match[2])
            lines.append(Line(address, int(match[3], 16), int(second[1], 16), words, *source))
        elif match := _SOURCE.match(row):
            file = match[1].replace("\\", "/").rsplit("/", 1)[-1]
            source = (files.setdefault(file, len(files) + 1), int(match[2]))
        elif match := _LABEL.match(row):
            waiting.append(match[1])
        elif re.match(r"\s*/\*[0-9a-f]{4,}\*/", row):
            raise MachineCodeError(f"{name}: cannot read the disassembler's line {row.strip()!r}")
    labels |= dict.fromkeys(waiting, lines[-1].address + 16 if lines else 0)
    return tuple(lines), tuple(files), labels
