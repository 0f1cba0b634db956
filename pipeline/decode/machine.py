"""The machine that runs a megakernel, and when it does what."""

from dataclasses import dataclass

from pipeline.decode.program import Floats, Ints

NOBODY = -1
"""Stands for the instruction that one waited for last, where it waited for none."""


@dataclass(frozen=True)
class Machine:
    """Figures of one GPU and its software, in SI units.

    Attributes
    ----------
    bandwidth
        What DRAM serves, all SMs together (B/s).
    latency
        From the end of a service until the bytes are in shared memory (s).
    sm_bandwidth
        What one SM takes in at most (B/s).
    pages, page_bytes
        Pages of shared memory per SM, and bytes of each.
    in_flight
        Pages per SM that are asked for and not there, at most.
    numbers_per_second
        Weights that one SM multiplies (1/s).
    setup
        To set an instruction up (s).
    signal
        From the end of an instruction until its counters are seen elsewhere (s).
    fetch
        To read a counter and then the inputs (s).
    sync
        To pass the barriers between the warps of an SM, per instruction (s).
    norm
        To norm the inputs (s).
    """

    bandwidth: float
    latency: float
    sm_bandwidth: float
    pages: int
    page_bytes: float
    in_flight: int
    numbers_per_second: float
    setup: float
    signal: float
    fetch: float
    sync: float
    norm: float


@dataclass(frozen=True)
class Schedule:
    """Moments (s) of every instruction, in the order in which they come.

    Attributes
    ----------
    begin : (instruction,)
        Its SM turns to it.
    ready : (instruction,)
        The last of its counters is seen; 0 without counters.
    read : (instruction,)
        It begins to read keys and values: inputs are there.
    start : (instruction,)
        It begins to work weights off.
    end : (instruction,)
        It is done.
    waited_for : (instruction,)
        The instruction whose counter came last; ``NOBODY`` without counters.
    served_at, served_bytes : (service,)
        When DRAM had served how many bytes (s, B), in order.
    """

    begin: Floats
    ready: Floats
    read: Floats
    start: Floats
    end: Floats
    waited_for: Ints
    served_at: Floats
    served_bytes: Floats

    @property
    def time(self) -> float:
        """When the last instruction is done (s)."""
        return float(self.end.max())


def moments_of(moments: Floats, waited_for: Ints, served: Floats) -> Schedule:
    """Name the rows of ``moments`` and ``served``, in the order of :class:`Schedule`."""
    begin, ready, read, start, end = moments
    return Schedule(begin, ready, read, start, end, waited_for, *served)
