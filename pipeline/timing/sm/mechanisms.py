"""What the replay models: each mechanism has a name and a switch, so that an ablation is a setting.

Where a mechanism lives and what it follows is said beside each name; the figures that it uses, with
their sources, are those of ``pipeline.hardware.sm_figures``.
"""

from dataclasses import dataclass, fields, replace
from typing import Self


@dataclass(frozen=True)
class Mechanisms:
    """Switches of the replay; all are on in a prediction.

    Attributes
    ----------
    wavefronts
        Accesses take the data pipe for as many cycles as their wavefronts; off: for one.
    lsu_acceptance
        The load/store unit takes a warp's access only every so many cycles; off: every cycle.
    scoreboards
        Wait masks of the control word; off: results are there at once.
    stall_counts
        Stall cycles of the control word; off: 1.
    yield_hint
        The yield bit lets another warp go first.
    greedy
        A scheduler stays with its last warp while that is ready; off: it takes turns.
    youngest
        Of other warps the youngest goes first; off: the oldest.
    register_banks
        Operands of one bank are read one after the other.
    reuse_cache
        Operands that the control word keeps are not read again.
    queue_limit
        A sub-core's queue of accesses is short, and one address is generated every few cycles.
    loads_pending
        L1 keeps only so many loads waiting for data.
    pipes
        A pipe takes an instruction only every so many cycles.
    tags
        An access takes a cycle of the tag stage for every few lines.
    l1
        Sectors that L1 holds are hits; off: every access goes to L2.
    beyond_l1
        L2 and DRAM answer later than L1.
    l2_bandwidth, dram_bandwidth
        An SM has its share of the chip's bandwidth.
    barriers
        A barrier holds warps for some cycles after the last has come.
    async_copies
        Waits for groups of asynchronous copies; off: copies are there at once.
    local_memory
        Spilled registers take their way through L1; off: they are there at once.
    instruction_cache
        A jump to code that a sub-core's instruction cache has lost waits for it.
    launch
        A launch takes time.
    wave_quantisation
        The last wave takes the time of its own residency; off: its share of a whole one.
    power_clock
        The clock falls where a card is limited by power.
    """

    wavefronts: bool = True
    lsu_acceptance: bool = True
    scoreboards: bool = True
    stall_counts: bool = True
    yield_hint: bool = True
    greedy: bool = True
    youngest: bool = True
    register_banks: bool = True
    reuse_cache: bool = True
    queue_limit: bool = True
    loads_pending: bool = True
    pipes: bool = True
    tags: bool = True
    l1: bool = True
    beyond_l1: bool = True
    l2_bandwidth: bool = True
    dram_bandwidth: bool = True
    barriers: bool = True
    async_copies: bool = True
    local_memory: bool = True
    instruction_cache: bool = True
    launch: bool = True
    wave_quantisation: bool = True
    power_clock: bool = True

    def without(self, name: str) -> Self:
        """Return the same with one mechanism off."""
        return replace(self, **{name: False})


NAMES: tuple[str, ...] = tuple(field.name for field in fields(Mechanisms))
ALL = Mechanisms()
