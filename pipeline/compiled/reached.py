"""What a launch did to its arrays: which it read and wrote, and who stored an element last."""

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.binding import Mask
from pipeline.compiled.machine import Machine
from pipeline.compiled.totals import access_bytes

READ, WRITTEN = "read", "written"
_LOADS = frozenset(["LDG", "LD", "LDGSTS"])
_STORES = frozenset(["STG", "ST"])
_ATOMICS = frozenset(["ATOMG", "ATOM", "RED", "REDG"])


class Reached:
    """Notes which arrays are read and written.

    Attributes
    ----------
    arrays
        Name of an array with ``READ`` or ``WRITTEN``; atomics do both.
    """

    def __init__(self) -> None:
        self.arrays: set[tuple[str, str]] = set()

    def attach(self, machine: Machine) -> None:
        """Look on while a batch of blocks runs."""
        known: dict[int, set[int]] = {}
        starts, ends = machine.memory.starts, machine.memory.ends

        def accessed(position: int, address: NDArray[np.int64], lanes: Mask, kind: str) -> None:
            if kind != "global" or not lanes.any():
                return
            touched = address[lanes]
            places = np.searchsorted(starts, touched, side="right") - 1
            here = known.setdefault(position, set())
            if places[0] in here and (places == places[0]).all():
                return
            for place in np.unique(places).tolist():
                here.add(place)
                if place >= 0 and (touched < ends[place]).any():
                    opcode = machine.program.instructions[position].opcode
                    self._note(machine.memory.arrays[place].name, opcode)

        machine.observers.append(accessed)

    def _note(self, name: str, opcode: str) -> None:
        if opcode in _LOADS | _ATOMICS:
            self.arrays.add((name, READ))
        if opcode in _STORES | _ATOMICS:
            self.arrays.add((name, WRITTEN))


class LastStore:
    """Notes which thread stored to a place in global memory last.

    Parameters
    ----------
    array, offset
        Name of the array, and the first byte of the element in it.

    Attributes
    ----------
    said
        The place in the code and the thread, in words; empty while nobody has stored there.
    """

    def __init__(self, array: str, offset: int) -> None:
        self._array, self._offset = array, offset
        self.said = ""

    def attach(self, machine: Machine) -> None:
        """Look on while a batch of blocks runs."""
        array = next(one for one in machine.memory.arrays if one.name == self._array)
        wanted = array.address + self._offset
        instructions = machine.program.instructions

        def accessed(position: int, address: NDArray[np.int64], lanes: Mask, kind: str) -> None:
            instruction = instructions[position]
            if kind != "global" or instruction.opcode not in _STORES | _ATOMICS:
                return
            size = access_bytes(instruction)
            hit = lanes & (address <= wanted) & (wanted < address + size)
            if hit.any():
                # Of several lanes the last one's value stays.
                lane = int(np.flatnonzero(hit)[-1])
                self.said = f"{instruction.place}, {machine.thread(lane)}"

        machine.observers.append(accessed)
