"""What of the model stands for each metric of Nsight Compute, and why the two can differ.

A metric of a request (``l1tex__t_requests``) counts instructions: each sends one to the L1 cache,
however many lines it touches. Lines per instruction are another metric, per line of source
(``memory_l1_tag_requests_global``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from pipeline import units
from pipeline.hardware.occupancy import block_limits
from pipeline.kernels.kernel import Launch
from pipeline.words import message

EQUAL = message("Equal.")
UNKNOWN_GPU = message("The GPU is not among gpus in the configuration.")
UNEXPLAINED = message("{off}, unexplained.")
MORE, FEWER = message("{amount:,.10g} more"), message("{amount:,.10g} fewer")
OFF = message("{amount} ({share})")
READS_C = message("The measured kernel also reads C: {also:,} more, then equal.")
READS_C_AND_MORE = message(
    "The measured kernel also reads C: {also:,} more, then {off} are measured, for a reason that "
    "addresses do not give."
)
FOLLOWS_MORE = message(
    "Follows from sectors and requests: with the read of C {share:.2%} more are measured."
)
FOLLOWS_FEWER = message(
    "Follows from sectors and requests: with the read of C {share:.2%} fewer are measured."
)
ARBITRATION_OF_LOADS = message(
    "{off} than the addresses need: probably arbitration, which is known from stores and depends "
    "on timing."
)
ARBITRATION_OF_STORES = message(
    "{off} than the addresses need: arbitration makes stores take more turns."
)
BEYOND = message(
    "What is measured beyond, {beyond:,.0f}, is {share:.3%} of the load wavefronts: probably "
    "arbitration."
)
NO_CONFLICT = message("No conflict follows from the addresses.")
CONFLICTS = message("{conflicts:,.0f} follow from the addresses.")
EXACTLY_ADDED = message(
    "The profiler counts exactly the wavefronts that arbitration adds to the stores as conflicts."
)
ADDED = message(
    "The profiler counts the wavefronts that arbitration adds to the stores as conflicts."
)
NEEDS_FEWER = message(
    "Assumed from accumulators, operands and addresses; the compiler needs fewer."
)
NEEDS_MORE = message("Assumed from accumulators, operands and addresses; the compiler needs more.")
SAME_UNITS = message("In units of {unit} both take {taken}.")
REGISTER_LIMIT = message(
    "The ladder assumes {assumed} registers per thread; {blocks:.0f} blocks of {threads:,} threads "
    "fit if the compiler needs no more than {needed}."
)
SHARED_LIMIT = message(
    "The profiler divides what the driver set aside for this launch, enough for {blocks:.0f} "
    "blocks of {each:.0f} KiB; the model divides the most that an SM can give, {most:.0f} KiB."
)
SENTENCES = (
    UNEXPLAINED,
    READS_C,
    READS_C_AND_MORE,
    FOLLOWS_MORE,
    FOLLOWS_FEWER,
    ARBITRATION_OF_LOADS,
    ARBITRATION_OF_STORES,
    BEYOND,
    CONFLICTS,
    SAME_UNITS,
    REGISTER_LIMIT,
    SHARED_LIMIT,
    OFF,
    MORE,
    FEWER,
)
"""Templates of what is said of differences, sentence by sentence, and of their parts."""

SMALL = 1e-3
DIGITS = 2
"""Digits after the point with which the profiler prints ratios."""


@dataclass(frozen=True)
class Modelled:
    """One launch by the model, and what was measured of the like.

    Attributes
    ----------
    variant
        Options of the kernel that was counted.
    counters
        Every counter, by the ``hardware`` rule.
    launch
        Block, tile, registers and shared memory.
    gpu
        Figures of the GPU that was measured; None if it takes no part.
    limits
        Blocks per SM that each limit allows; empty without ``gpu``.
    measured
        Every measured metric of the launch.
    """

    variant: str
    counters: Mapping[str, int]
    launch: Launch
    gpu: xr.Dataset | None
    limits: Mapping[str, int]
    measured: Mapping[str, float]

    @property
    def store_conflicts(self) -> int:
        """Wavefronts of stores beyond one per instruction, which 32-bit stores need at least."""
        return self.counters["sts_wavefronts"] - self.counters["sts_instr"]

    @property
    def load_conflicts(self) -> int:
        """Wavefronts of loads beyond the ideal."""
        both = self.counters["smem_wavefronts"] - self.counters["ideal_smem_wavefronts"]
        return both - self.store_conflicts


Value = Callable[[Modelled], float]
Explain = Callable[[Modelled, float, float], str]


@dataclass(frozen=True)
class Metric:
    """What stands for one metric.

    Attributes
    ----------
    counter
        What of the model, in words of its vocabulary.
    value
        The model's value of a launch.
    expected
        The same with the read of C: one load for each store of C, at the same addresses.
    explain
        Says why ``expected`` and the measured value differ.
    """

    counter: str
    value: Value
    expected: Value
    explain: Explain


def counted(counter: str, explain: Explain, also: str | None = None) -> Metric:
    """Take a counter as it is; ``also`` counts what the read of C adds."""

    def value(one: Modelled) -> float:
        return one.counters[counter]

    def expected(one: Modelled) -> float:
        return one.counters[counter] + (one.counters[also] if also else 0)

    return Metric(counter, value, expected, explain)


LIMIT = message("blocks per SM by {name}")
"""What stands for a limit of resident blocks."""


def limit(name: str, explain: Explain) -> Metric:
    """Take one limit of resident blocks; unknown if the GPU takes no part."""

    def value(one: Modelled) -> float:
        return one.limits.get(name, np.nan)

    return Metric(LIMIT.format(name=name), value, value, explain)


def _off(expected: float, measured: float) -> str:
    """Say by how much a measured value differs, and which share of the expected one that is."""
    amount = (MORE if measured > expected else FEWER).format(amount=abs(measured - expected))
    if not expected:
        return amount
    share = abs(measured / expected - 1)
    return OFF.format(amount=amount, share=f"{share:{'.4%' if share < SMALL else '.2%'}}")


def _plain(_one: Modelled, expected: float, measured: float) -> str:
    """Where nothing is known to make a difference."""
    if expected == measured:
        return EQUAL
    if np.isnan(expected):
        return UNKNOWN_GPU
    return UNEXPLAINED.format(off=_off(expected, measured))


def _reads_c(counter: str) -> Explain:
    def explain(one: Modelled, expected: float, measured: float) -> str:
        also = one.counters[counter]
        if expected == measured:
            return READS_C.format(also=also)
        return READS_C_AND_MORE.format(also=also, off=_off(expected, measured))

    return explain


def _per_request(_one: Modelled, expected: float, measured: float) -> str:
    if round(expected, DIGITS) == measured:
        return EQUAL
    follows = FOLLOWS_MORE if measured > expected else FOLLOWS_FEWER
    return follows.format(share=abs(measured / expected - 1))


def _load_wavefronts(_one: Modelled, expected: float, measured: float) -> str:
    if expected == measured:
        return EQUAL
    return ARBITRATION_OF_LOADS.format(off=_off(expected, measured))


def _load_conflicts(one: Modelled, expected: float, measured: float) -> str:
    if expected == measured:
        return EQUAL
    share = (measured - expected) / one.counters["lds_wavefronts"]
    return f"{_from_addresses(expected)} " + BEYOND.format(beyond=measured - expected, share=share)


def _from_addresses(conflicts: float) -> str:
    if not conflicts:
        return NO_CONFLICT
    return CONFLICTS.format(conflicts=conflicts)


def _store_wavefronts(one: Modelled, expected: float, measured: float) -> str:
    if expected == measured:
        return EQUAL
    arbitration = ARBITRATION_OF_STORES.format(off=_off(expected, measured))
    return f"{arbitration} {_from_addresses(one.store_conflicts)}"


def _store_conflicts(one: Modelled, expected: float, measured: float) -> str:
    if expected == measured:
        return EQUAL
    added = one.measured.get(STORE_WAVEFRONTS, np.nan) - one.counters["sts_wavefronts"]
    counted_as = EXACTLY_ADDED if added == measured - expected else ADDED
    return f"{_from_addresses(expected)} {counted_as}"


def _registers(one: Modelled, expected: float, measured: float) -> str:
    if expected == measured:
        return EQUAL
    said = NEEDS_FEWER if measured < expected else NEEDS_MORE
    if one.gpu is None:
        return said
    unit = int(one.gpu["register_allocation_unit"]) // int(one.gpu["warp_size"])
    ours, theirs = (-(-int(number) // unit) * unit for number in (expected, measured))
    return f"{said} {SAME_UNITS.format(unit=unit, taken=ours)}" if ours == theirs else said


def _register_limit(one: Modelled, expected: float, measured: float) -> str:
    if expected == measured or one.gpu is None:
        return _plain(one, expected, measured)
    fit = [
        registers
        for registers in range(1, int(one.gpu["registers_per_thread_max"]) + 1)
        if block_limits(one.launch.threads, registers, 0, one.gpu)["registers"] >= measured
    ]
    return REGISTER_LIMIT.format(
        assumed=one.launch.registers,
        blocks=measured,
        threads=one.launch.threads,
        needed=max(fit, default=0),
    )


def _shared_limit(one: Modelled, expected: float, measured: float) -> str:
    if expected == measured or one.gpu is None:
        return _plain(one, expected, measured)
    each = one.launch.smem_bytes + float(one.gpu["smem_reserved_per_block"])
    most = float(one.gpu["smem_per_sm"])
    return SHARED_LIMIT.format(
        blocks=measured, each=units.to_kibibytes(each), most=units.to_kibibytes(most)
    )


STORE_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"

# In the order in which readers see them.
METRICS: Mapping[str, Metric] = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": counted(
        "lds_wavefronts", _load_wavefronts
    ),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": Metric(
        message("lds_wavefronts beyond the ideal"),
        lambda one: one.load_conflicts,
        lambda one: one.load_conflicts,
        _load_conflicts,
    ),
    STORE_WAVEFRONTS: counted("sts_wavefronts", _store_wavefronts),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": Metric(
        message("sts_wavefronts beyond the ideal"),
        lambda one: one.store_conflicts,
        lambda one: one.store_conflicts,
        _store_conflicts,
    ),
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": counted(
        "gld_instr", _reads_c("gst_instr"), also="gst_instr"
    ),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": counted(
        "gld_sectors", _reads_c("gst_sectors"), also="gst_sectors"
    ),
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio": Metric(
        "gld_sectors / gld_instr",
        lambda one: one.counters["gld_sectors"] / one.counters["gld_instr"],
        lambda one: (
            (one.counters["gld_sectors"] + one.counters["gst_sectors"])
            / (one.counters["gld_instr"] + one.counters["gst_instr"])
        ),
        _per_request,
    ),
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": counted("gst_instr", _plain),
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": counted("gst_sectors", _plain),
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio": Metric(
        "gst_sectors / gst_instr",
        lambda one: one.counters["gst_sectors"] / one.counters["gst_instr"],
        lambda one: one.counters["gst_sectors"] / one.counters["gst_instr"],
        _per_request,
    ),
    "Registers Per Thread [register/thread]": Metric(
        "registers_per_thread",
        lambda one: one.launch.registers,
        lambda one: one.launch.registers,
        _registers,
    ),
    "Block Limit Warps [block]": limit("warps", _plain),
    "Block Limit Registers [block]": limit("registers", _register_limit),
    "Block Limit Shared Mem [block]": limit("shared", _shared_limit),
    "Block Limit SM [block]": limit("blocks", _plain),
}
