"""Launches of compiled kernels: arguments in, results and counts out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.constants import USER_BANK, ConstantBanks, launch_banks, user_bank_at
from pipeline.compiled.decode import Program
from pipeline.compiled.elf import reserved_shared
from pipeline.compiled.geometry import Geometry, Triple
from pipeline.compiled.link import link
from pipeline.compiled.machine import Machine
from pipeline.compiled.space import GlobalMemory
from pipeline.compiled.totals import Totals
from pipeline.errors import LaunchError

BATCH_LANES = 8192
"""Lanes that run together: their registers stay in a core's second cache."""
_MAX_THREADS = 1024
_MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65_535, 65_535)
"""Blocks along x, y and z that CUDA allows (CUDA C++ guide, technical specifications)."""
_POINTER = 8


@dataclass(frozen=True)
class Space:
    """A global array without contents: to count what a kernel does with one of this size (B)."""

    size: int


Argument = NDArray[Any] | Space | int | float | np.generic | bytes


@dataclass(frozen=True)
class Launch:
    """A kernel with its configuration and what it is given.

    Attributes
    ----------
    program, grid, block
        What runs, and on how many blocks of how many threads.
    arguments
        Arrays, or their sizes, for pointers; numbers; bytes for structures.
    dynamic_shared
        Shared memory beyond what the kernel declares (B).
    """

    program: Program
    grid: Triple
    block: Triple
    arguments: tuple[Argument, ...]
    dynamic_shared: int = 0

    @property
    def shared_bytes(self) -> int:
        """Shared memory that addresses of a block reach (B)."""
        reserved = reserved_shared(self.program.capability)
        return reserved + self.program.facts.shared_bytes + self.dynamic_shared

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return int(np.prod(self.grid))


def prepare(
    program: Program,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    arguments: Sequence[Argument],
    dynamic_shared: int = 0,
) -> Launch:
    """Check a launch.

    Parameters
    ----------
    program
        The kernel.
    grid, block
        Blocks and threads along x, y and z.
    arguments
        One for each parameter: arrays (changed by the kernel's stores) or :class:`Space` for
        pointers, numbers for numbers.
    dynamic_shared
        Bytes of shared memory of undeclared size.

    Raises
    ------
    LaunchError
        If a size is not allowed, or an argument does not fit its parameter.
    """
    wrong = misfits(program, grid, block, arguments)
    if wrong:
        raise LaunchError(f"{program.kernel}: " + "; ".join(wrong))
    grid3, block3 = _filled(grid), _filled(block)
    return Launch(program, grid3, block3, tuple(arguments), dynamic_shared)


def misfits(
    program: Program,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    arguments: Sequence[Argument],
    names: Sequence[str] | None = None,
) -> list[str]:
    """Say what is wrong with a launch; nothing if it is right.

    Parameters
    ----------
    program, grid, block, arguments
        As in :func:`prepare`.
    names
        What messages call the arguments; their numbers, if not given.
    """
    wrong = [*_beyond("grid", grid, MAX_GRID), *_beyond("block", block, _MAX_BLOCK)]
    threads = 1 if wrong else math.prod(_filled(block))
    most = program.facts.max_threads or _MAX_THREADS
    if threads > most:
        bound = " by its launch bounds" if program.facts.max_threads else ""
        wrong.append(f"a block of {threads} threads; at most {most} are allowed{bound}")
    wanted = program.facts.parameters
    if len(arguments) != len(wanted):
        sizes = ", ".join(str(size) for _, size in wanted)
        of = f", of {sizes} bytes" if wanted else ""
        wrong.append(f"{len(arguments)} arguments, but the kernel takes {len(wanted)}{of}")
        return wrong
    called = names or [str(number) for number in range(len(arguments))]
    for name, argument, (_, size) in zip(called, arguments, wanted, strict=True):
        misfit = _misfit(argument, size)
        if misfit:
            wrong.append(f"argument {name}: {misfit}")
    return wrong


def _filled(sizes: int | Sequence[int]) -> Triple:
    given = [sizes] if isinstance(sizes, int | np.integer) else list(sizes)
    x, y, z = ([int(size) for size in given] + [1, 1])[:3]
    return x, y, z


def _beyond(name: str, sizes: int | Sequence[int], most: Triple) -> list[str]:
    given = [sizes] if isinstance(sizes, int | np.integer) else list(sizes)
    full = _filled(sizes) if 0 < len(given) <= len(most) else (0, 0, 0)
    if all(1 <= one <= top for one, top in zip(full, most, strict=True)):
        return []
    return [f"{name} {tuple(given)} is not allowed; at least 1 and at most {most}"]


def _misfit(argument: Argument, size: int) -> str:
    """Say why an argument does not fit a parameter of ``size`` bytes; nothing if it does."""
    if isinstance(argument, np.ndarray | Space):
        if isinstance(argument, np.ndarray) and not argument.flags.c_contiguous:
            return "an array that is not contiguous; pass a copy"
        return "" if size == _POINTER else f"an array for a parameter of {size} bytes"
    if isinstance(argument, bytes | np.generic):
        own = len(argument) if isinstance(argument, bytes) else argument.itemsize
        kind = "bytes" if isinstance(argument, bytes) else argument.dtype
        return "" if own == size else f"{kind} of {own} bytes for a parameter of {size}"
    if isinstance(argument, bool) or not isinstance(argument, int | float):
        return f"{type(argument).__name__}, allowed are arrays, numbers and bytes"
    if isinstance(argument, int):
        fits = size <= 8 and -(1 << (8 * size - 1)) <= argument < 1 << (8 * size)
        return "" if fits else f"{argument} does not fit a parameter of {size} bytes"
    return "" if size in (4, 8) else f"a real number for a parameter of {size} bytes"


def _encoded(argument: Argument, size: int, address: int) -> bytes:
    if isinstance(argument, np.ndarray | Space):
        return np.uint64(address).tobytes()
    if isinstance(argument, bytes):
        return argument
    if isinstance(argument, np.generic):
        return argument.tobytes()
    if isinstance(argument, float):
        return (np.float32 if size == 4 else np.float64)(argument).tobytes()
    return (argument % (1 << 8 * size)).to_bytes(size, "little")


Observe = Callable[[Machine], None]
"""Called with every machine before it runs, to look on."""


@dataclass(frozen=True)
class Loaded:
    """A launch whose arrays and constants lie in memory.

    Attributes
    ----------
    launch, memory, banks
        What is launched, and what it sees.
    names
        Names of the global arrays by argument, None for numbers.
    observe
        Called with every machine that is made for the launch, before it runs.
    """

    launch: Launch
    memory: GlobalMemory
    banks: ConstantBanks
    names: tuple[str | None, ...]
    observe: tuple[Observe, ...] = ()


def load(launch: Launch, with_values: bool, observe: Sequence[Observe] = ()) -> Loaded:
    """Place arrays, parameters and the module's data where the kernel looks for them."""
    program = launch.program
    memory = GlobalMemory(with_values)
    known: dict[int, tuple[str, int]] = {}
    parameters, names = bytearray(_parameter_bytes(program)), []
    for number, (argument, (offset, size)) in enumerate(
        zip(launch.arguments, program.facts.parameters, strict=True)
    ):
        name, address = None, 0
        if isinstance(argument, np.ndarray | Space):
            # One array passed twice is one array.
            if id(argument) not in known:
                name = f"argument {number}"
                known[id(argument)] = name, _place(memory, name, argument)
            name, address = known[id(argument)]
        names.append(name)
        parameters[offset : offset + size] = _encoded(argument, size, address)
    banks = launch_banks(
        program, launch.grid, launch.block, bytes(parameters), program.stack_bytes
    )  # fmt: skip
    _place_module(program, memory, banks)
    memory.finish()
    _point(program, memory)
    return Loaded(launch, memory, banks, tuple(names), tuple(observe))


def _place(memory: GlobalMemory, name: str, argument: NDArray | Space) -> int:
    if isinstance(argument, Space):
        return memory.add(name, argument.size)
    return memory.add(name, argument.nbytes, argument)


def _parameter_bytes(program: Program) -> int:
    return max((offset + size for offset, size in program.facts.parameters), default=0)


def _place_module(program: Program, memory: GlobalMemory, banks: ConstantBanks) -> None:
    """Place the module's own arrays and constants."""
    user = f"constant{USER_BANK}"
    addresses = {
        data.place: memory.add(data.place, data.size, np.frombuffer(data.content, np.uint8))
        for data in program.data
        if data.place == user or not data.place.startswith("constant")
    }
    if user in addresses:
        address = np.uint64(addresses[user])
        banks.put(0, user_bank_at(program.capability), address.tobytes())
    for data in program.data:
        if data.place.startswith("constant"):
            content = bytearray(data.content.ljust(data.size, b"\0"))
            for offset, name, addend in data.pointers:
                content[offset : offset + 8] = np.uint64(addresses[name] + addend).tobytes()
            banks.put(int(data.place[len("constant") :]), 0, bytes(content))


def _point(program: Program, memory: GlobalMemory) -> None:
    """Put addresses into the module's own arrays, once they lie in memory."""
    places = {array.name: index for index, array in enumerate(memory.arrays)}
    for data in program.data:
        for offset, name, addend in data.pointers:
            if data.place in places:
                address = memory.arrays[places[name]].address
                memory.patch(places[data.place], offset, address + addend)


def machine(
    loaded: Loaded, numbers: NDArray[np.int64], computed: frozenset[int] | None = None
) -> Machine:
    """Return a machine for some blocks of a launch, ready to run."""
    launch = loaded.launch
    geometry = Geometry(launch.grid, launch.block, numbers)
    one = Machine(
        launch.program, geometry, loaded.banks, loaded.memory, launch.shared_bytes,
        with_values=computed is None,
    )  # fmt: skip
    link(one, computed)
    for look in loaded.observe:
        look(one)
    return one


def batches(launch: Launch, batch_lanes: int) -> list[NDArray[np.int64]]:
    """Cut a grid into batches of at most ``batch_lanes`` lanes, but of one block at least."""
    lanes = Geometry(launch.grid, launch.block, np.zeros(1, np.int64)).lanes
    size = max(1, batch_lanes // lanes)
    numbers = np.arange(launch.blocks, dtype=np.int64)
    return [numbers[first : first + size] for first in range(0, launch.blocks, size)]


def execute(
    launch: Launch, batch_lanes: int = BATCH_LANES, observe: Sequence[Observe] = ()
) -> Totals:
    """Run a launch with values: arrays among the arguments are changed as by the kernel.

    Blocks run in batches in the order of their numbers; a kernel that waits for a block that comes
    later never ends.

    Parameters
    ----------
    launch
        What to run.
    batch_lanes
        Lanes that run together.
    observe
        Called with the machine of every batch.

    Raises
    ------
    MachineCodeError
        If the code does what is not modelled, or waits for ever.
    OutOfRangeError
        If a thread leaves its arrays.
    """
    loaded = load(launch, with_values=True, observe=observe)
    totals = Totals(launch.program, launch.grid, launch.block)
    for numbers in batches(launch, batch_lanes):
        one = machine(loaded, numbers)
        one.run()
        totals.add(one.tally, np.ones(len(numbers), np.int64))
    for argument, name in zip(launch.arguments, loaded.names, strict=True):
        if isinstance(argument, np.ndarray) and name is not None and argument.flags.writeable:
            argument.reshape(-1).view(np.uint8)[:] = loaded.memory.content(name)
    return totals
