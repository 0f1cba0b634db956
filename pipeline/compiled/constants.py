"""Constant banks: what the driver and the compiler put where a kernel looks for its launch."""

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.decode import Program
from pipeline.compiled.geometry import Triple
from pipeline.errors import MachineCodeError

_STACK_UNIT = 16
_BANK_BYTES = 1 << 16
_FIRST_LATE = 100
"""From this compute capability on, the driver's words of bank 0 lie elsewhere."""

_HOPPER = 90

# Where a kernel finds block, grid and the top of its stack in bank 0, as the compiler's code shows
# (up to sm_90, and later).
_EARLY = {"block": 0x0, "grid": 0xC, "stack": 0x28}
_LATE = {"block": 0x360, "grid": 0x370, "stack": 0x37C}

USER_BANK = 3
"""Bank of ``__constant__`` variables."""

SHARED_WINDOW, LOCAL_WINDOW = 3, 5
"""Upper words of generic addresses of shared and local memory; no global array lies there. The
lower words are the addresses within, as compiled code takes for granted."""
_WINDOWS_AT = {False: (0x18, 0x20), True: (None, 0x2F8)}
"""Where both are found in bank 0, early and late; late code asks a special register for shared."""


class ConstantBanks:
    """Words of the constant banks of a launch."""

    def __init__(self) -> None:
        self._banks: dict[int, NDArray[np.uint8]] = {}

    def put(self, bank: int, offset: int, content: bytes) -> None:
        """Place bytes in a bank."""
        memory = self._banks.setdefault(bank, np.zeros(_BANK_BYTES, np.uint8))
        memory[offset : offset + len(content)] = np.frombuffer(content, np.uint8)

    def word(self, bank: int, offset: int) -> int:
        """Return the 32 bits at an offset (B); 0 where nothing was placed."""
        memory = self._banks.get(bank)
        if memory is None or not 0 <= offset <= _BANK_BYTES - 4:
            return 0
        return int(memory[offset : offset + 4].view(np.uint32)[0])

    def memory(self, bank: int) -> NDArray[np.uint8]:
        """Return all bytes of a bank."""
        if bank not in self._banks:
            raise MachineCodeError(f"constant bank {bank} is empty")
        return self._banks[bank]


def user_bank_at(capability: int) -> int:
    """Return where bank 0 holds the address in memory of the bank of ``__constant__`` variables."""
    if capability >= _FIRST_LATE:
        return 0x120
    return 0xD0 if capability >= _HOPPER else 0x50


def launch_banks(
    program: Program, grid: Triple, block: Triple, parameters: bytes, stack: int
) -> ConstantBanks:
    """Return the banks of a launch without what the module itself brings.

    Parameters
    ----------
    program
        The kernel.
    grid, block
        Its launch configuration.
    parameters
        Bytes of its parameters.
    stack
        Bytes of local memory per thread.
    """
    banks = ConstantBanks()
    late = program.capability >= _FIRST_LATE
    places = _LATE if late else _EARLY
    banks.put(0, places["block"], np.array(block, np.uint32).tobytes())
    banks.put(0, places["grid"], np.array(grid, np.uint32).tobytes())
    banks.put(0, places["stack"], np.uint32(-(-stack // _STACK_UNIT) * _STACK_UNIT).tobytes())
    for window, at in zip((SHARED_WINDOW, LOCAL_WINDOW), _WINDOWS_AT[late], strict=True):
        if at is not None:
            banks.put(0, at, np.uint64(window << 32).tobytes())
    banks.put(0, program.facts.parameter_base, parameters)
    return banks
