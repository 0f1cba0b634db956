"""What a replay tells: time, where it goes, and if wanted what happened in a span of cycles."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.decode import Program

STALLS = {
    "selected": "issued an instruction",
    "not_selected": "could issue, but another warp did",
    "wait": "a fixed number of cycles after the last instruction",
    "long_scoreboard": "for global or local memory",
    "short_scoreboard": "for shared memory, special functions or moves between register files",
    "mio_throttle": "the queue of shared memory and special instructions is full",
    "lg_throttle": "the queue of global and local memory is full",
    "math_pipe_throttle": "the pipe is busy with another warp's instruction",
    "barrier": "for other warps of the block",
    "dispatch": "the operands of an instruction could not be read in time",
    "no_instruction": "the next instruction had to be fetched",
    "drain": "for stores before the end",
}
"""Why a warp did not issue in a cycle, with Nsight Compute's names for warp states."""

PIPES = {
    "issue": "issue slots",
    "fma_heavy": "multiply-add pipe that also does integer multiply-adds",
    "fma_lite": "multiply-add pipe that does nothing else",
    "alu": "integer and logic pipe",
    "uniform": "pipe of uniform registers",
    "special": "special functions and conversions",
    "tensor": "tensor cores",
    "lsu": "load/store unit: warp accesses taken",
    "l1_data": "data stage of L1 and shared memory",
    "l1_tags": "tag stage of L1",
    "l2": "share of the L2 bandwidth",
    "dram": "share of the DRAM bandwidth",
}
"""What can be busy."""


class Window(NamedTuple):
    """A span of replayed cycles of which every step is wanted."""

    first: int
    cycles: int


@dataclass(frozen=True)
class Log:
    """Every cycle of a span of the replay, for all resident warps.

    Attributes
    ----------
    first
        Cycle of the replay at which it begins.
    position : (cycles, warps)
        Next instruction of each warp, as its number in the program; -1 before its start and after
        its end.
    state : (cycles, warps)
        What the warp did, as the place of its name in ``STALLS``; it issued ``position`` if this is
        ``selected``.
    subcore : (warps,)
        Which quarter of the SM holds the warp.
    block : (warps,)
        Which of the resident blocks it belongs to.
    """

    first: int
    position: NDArray[np.int32]
    state: NDArray[np.int8]
    subcore: NDArray[np.int32]
    block: NDArray[np.int32]


@dataclass(frozen=True)
class Prediction:
    """The time of a launch, and where it goes.

    Attributes
    ----------
    program
        What was launched.
    gpu
        Id of the GPU.
    seconds
        From launch to end (s), ``launch_seconds`` of it before and after the work.
    cycles
        SM cycles of the work.
    clock_hz
        Clock that the card keeps under this load (Hz).
    blocks_per_sm
        Resident blocks; the last wave may have fewer.
    waves
        Waves of resident blocks, the last one as its share.
    instructions
        Warp instructions that one SM issues in all.
    utilisation
        Share of the cycles in which a pipe was busy, by the names in ``PIPES``.
    warp_cycles
        Sum of the resident warps' cycles on one SM, which all stalls sum to.
    stalls : (instructions, reasons)
        Warp cycles of one SM in which a warp stood before each instruction, by reason in the order
        of ``STALLS``.
    executed : (instructions,)
        Warp instructions of one SM, per instruction.
    l1_hit_rate
        Share of the sectors loaded from global memory that L1 held; NaN where none was.
    l2_bytes, dram_bytes
        Traffic of the whole launch between L1 and L2, and L2 and DRAM (B).
    log
        A span of cycles, if one was asked for.
    """

    program: Program
    gpu: str
    seconds: float
    launch_seconds: float
    cycles: float
    clock_hz: float
    blocks_per_sm: int
    waves: float
    instructions: float
    utilisation: dict[str, float]
    warp_cycles: float
    stalls: NDArray[np.float64]
    executed: NDArray[np.float64]
    l1_hit_rate: float
    l2_bytes: float
    dram_bytes: float
    log: Log | None = None

    @property
    def ipc(self) -> float:
        """Warp instructions per cycle and SM."""
        return self.instructions / self.cycles

    @property
    def by_reason(self) -> dict[str, float]:
        """Warp cycles of one SM by reason; they sum to ``warp_cycles``."""
        return dict(zip(STALLS, self.stalls.sum(axis=0).tolist(), strict=True))

    def rate(self, flop: float) -> float:
        """Return FLOP/s for a launch that does so many operations."""
        return flop / self.seconds
