"""Loops that never end: a batch that comes back to a state it has been in goes round for ever."""

import zlib
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pipeline.compiled.machine import Group, Machine

_FIRST = 1 << 14
_WINDOW = 512
"""Jumps back that are compared with a state, longer than groups take to give way to each other."""


class Standstill:
    """Compares the state of a machine with an earlier one, ever more rarely.

    Parameters
    ----------
    machine
        Runs, and tells of its jumps back.
    """

    def __init__(self, machine: "Machine") -> None:
        self._machine = machine
        self._next, self._left = _FIRST, 0
        self._where: object = None
        self._registers: NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._contents = 0

    def reached(self, group: "Group") -> bool:
        """Say whether all is as it was at an earlier jump back."""
        if self._machine.clock < self._next:
            return False
        if not self._left:
            self._keep(group)
            return False
        self._left -= 1
        if not self._left:
            self._next *= 2
        return (
            self._where == self._position(group)
            and np.array_equal(self._registers, self._machine.registers.rows)
            and self._contents == self._checksum()
        )

    def _keep(self, group: "Group") -> None:
        self._left = _WINDOW
        self._where = self._position(group)
        self._registers = self._machine.registers.rows.copy()
        self._contents = self._checksum()

    def _position(self, group: "Group") -> object:
        machine = self._machine
        return (
            group.position,
            machine.patience_used,
            group.lanes.tobytes(),
            [(one.position, one.lanes.tobytes()) for one in machine.ready],
            machine.convergence.waiting.tobytes(),
            machine.barriers.waiting.tobytes(),
            machine.registers.predicates.tobytes(),
        )

    def _checksum(self) -> int:
        machine = self._machine
        found = 0
        for memory in (machine.memory.buffer, machine.shared, machine.local):
            found = zlib.crc32(memory.data, found)
        return found
