"""What a cubin says beside its instructions: an ELF file, read as far as launching needs it.

Layout of ELF64: System V ABI. Attributes of kernels (``.nv.info``) are records of a format byte, an
attribute byte and a value; their numbers are those that ``nvdisasm`` prints names for (EIATTR).
"""

import struct
from dataclasses import dataclass

from pipeline.errors import MachineCodeError

_REGISTER_COUNT, _FRAME_SIZE, _MIN_STACK, _PARAMETERS = 0x2F, 0x11, 0x12, 0x0A
_PARAMETER, _MAX_THREADS, _BARRIERS = 0x17, 0x05, 0x4C
_PARAMETER_SIZE_SHIFT = 18
_NO_BITS = 8
_SIZED = 4
_MAGIC = b"\x7fELF"
_FIRST_CAPABILITY = 50
_HOPPER, _RESERVED_SHARED = 90, 1024
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


@dataclass(frozen=True)
class Section:
    """One section; ``data`` is empty where the file holds no bytes for it."""

    name: str
    size: int
    data: bytes


@dataclass(frozen=True)
class Symbol:
    """A name for a place in a section."""

    name: str
    section: str
    value: int
    size: int


@dataclass(frozen=True)
class Relocation:
    """A place in a section that is to hold the address of a symbol."""

    section: str
    offset: int
    symbol: Symbol
    addend: int


@dataclass(frozen=True)
class Cubin:
    """Sections, symbols and relocations of a cubin, and the compute capability it is for."""

    sections: dict[str, Section]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]
    capability: int

    @property
    def kernels(self) -> list[str]:
        """Names of the kernels, sorted."""
        prefix = ".text."
        return sorted(name[len(prefix) :] for name in self.sections if name.startswith(prefix))


@dataclass(frozen=True)
class Facts:
    """What a kernel needs to be launched.

    Attributes
    ----------
    registers, local_bytes
        Per thread.
    shared_bytes
        Static shared memory per block (B), without what the system reserves.
    barriers
        Named barriers that the kernel uses.
    max_threads
        Threads per block that ``__launch_bounds__`` allows, 0 without.
    parameter_base
        Where parameters start in constant bank 0.
    parameters
        Offset from there and size of each (B).
    """

    registers: int
    local_bytes: int
    shared_bytes: int
    barriers: int
    max_threads: int
    parameter_base: int
    parameters: tuple[tuple[int, int], ...]


def read(image: bytes) -> Cubin:
    """Take a cubin apart.

    Raises
    ------
    MachineCodeError
        If the bytes are no ELF file of 64 bits.
    """
    if image[:5] != b"\x7fELF\x02":
        raise MachineCodeError("is no cubin: it does not start as an ELF file of 64 bits does")
    header = _HEADER.unpack_from(image)
    table, entry, count, names_at = header[6], header[11], header[12], header[13]
    raw = [_SECTION.unpack_from(image, table + i * entry) for i in range(count)]
    strings = _bytes(image, raw[names_at])
    names = [_string(strings, section[0]) for section in raw]
    sections = {
        name: Section(name, section[5], _bytes(image, section))
        for name, section in zip(names, raw, strict=True)
    }
    symbols = _symbols(sections, names)
    return Cubin(sections, symbols, tuple(_relocations(sections, symbols)), architecture(image))


_CUDA_MACHINE = 190


def embedded(image: bytes) -> list[bytes]:
    """Return the cubins in a file: the file itself, or those that an executable holds unpacked."""
    found, at = [], image.find(_MAGIC)
    while at >= 0:
        part = image[at:]
        if len(part) > _HEADER.size and _HEADER.unpack_from(part)[2] == _CUDA_MACHINE:
            header = _HEADER.unpack_from(part)
            # The tables of sections and segments end the file.
            ends = (header[6] + header[11] * header[12], header[5] + header[9] * header[10])
            found.append(part[: max(ends)])
        at = image.find(_MAGIC, at + 4)
    return found


def architecture(image: bytes) -> int:
    """Return the compute capability that a cubin is for, 80 for sm_80."""
    flags = int(_HEADER.unpack_from(image)[7])
    # Newer cubins keep it a byte higher, and mark that in the lowest one.
    low, high = flags & 0xFF, flags >> 8 & 0xFF
    return high if low < _FIRST_CAPABILITY else low


def _bytes(image: bytes, section: tuple[int, ...]) -> bytes:
    kind, start, size = section[1], section[4], section[5]
    return b"" if kind == _NO_BITS else image[start : start + size]


def _string(table: bytes, start: int) -> str:
    return table[start : table.index(b"\0", start)].decode()


def _symbols(sections: dict[str, Section], names: list[str]) -> tuple[Symbol, ...]:
    strings = sections[".strtab"].data
    found = []
    for name, _, _, index, value, size in _SYMBOL.iter_unpack(sections[".symtab"].data):
        where = names[index] if index < len(names) else ""
        found.append(Symbol(_string(strings, name), where, value, size))
    return tuple(found)


def _relocations(sections: dict[str, Section], symbols: tuple[Symbol, ...]) -> list[Relocation]:
    found = []
    for section in sections.values():
        for prefix, record in ((".rela.", "<QQq"), (".rel.", "<QQ")):
            if section.name.startswith(prefix):
                target = section.name[len(prefix) - 1 :]
                for entry in struct.iter_unpack(record, section.data):
                    addend = entry[2] if len(entry) == 3 else 0
                    found.append(Relocation(target, entry[0], symbols[entry[1] >> 32], addend))
                break
    return found


def facts(cubin: Cubin, kernel: str) -> Facts:
    """Return what a kernel of the cubin needs."""
    index = next(
        number
        for number, symbol in enumerate(cubin.symbols)
        if symbol.name == kernel and symbol.section == f".text.{kernel}"
    )
    shared = _attributes(cubin.sections[".nv.info"].data)
    own = _attributes(cubin.sections[f".nv.info.{kernel}"].data)
    per_kernel = {
        attribute: struct.unpack_from("<I", value, 4)[0]
        for attribute, value in shared
        if len(value) == 8 and struct.unpack_from("<I", value)[0] == index
    }
    base = next((value for code, value in own if code == _PARAMETERS), None)
    static = cubin.sections.get(f".nv.shared.{kernel}")
    return Facts(
        registers=per_kernel.get(_REGISTER_COUNT, 0),
        local_bytes=max(per_kernel.get(_FRAME_SIZE, 0), per_kernel.get(_MIN_STACK, 0)),
        shared_bytes=static.size - reserved_shared(cubin.capability) if static else 0,
        barriers=_number(own, _BARRIERS),
        max_threads=_most_threads(own),
        parameter_base=struct.unpack_from("<H", base, 4)[0] if base else 0,
        parameters=_parameters(own),
    )


def reserved_shared(capability: int) -> int:
    """Return the bytes that the system keeps at the start of a block's shared memory."""
    return _RESERVED_SHARED if capability >= _HOPPER else 0


def _number(attributes: list[tuple[int, bytes]], wanted: int) -> int:
    return next((value[0] for code, value in attributes if code == wanted), 0)


def _most_threads(attributes: list[tuple[int, bytes]]) -> int:
    for code, value in attributes:
        if code == _MAX_THREADS:
            x, y, z = struct.unpack_from("<III", value)
            return int(x * y * z)
    return 0


def _parameters(attributes: list[tuple[int, bytes]]) -> tuple[tuple[int, int], ...]:
    found = {}
    for code, value in attributes:
        if code == _PARAMETER:
            _, ordinal, offset, flags = struct.unpack_from("<IHHI", value)
            found[ordinal] = (offset, flags >> _PARAMETER_SIZE_SHIFT)
    return tuple(found[ordinal] for ordinal in sorted(found))


def _attributes(data: bytes) -> list[tuple[int, bytes]]:
    """Cut a section of attributes into codes and values."""
    found, at = [], 0
    while at + 4 <= len(data):
        form, code = data[at], data[at + 1]
        size = struct.unpack_from("<H", data, at + 2)[0] if form == _SIZED else 0
        value = data[at + 4 : at + 4 + size] if form == _SIZED else data[at + 2 : at + 4]
        found.append((code, value))
        at += 4 + size
    return found
