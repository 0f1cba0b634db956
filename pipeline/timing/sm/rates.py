"""The figures of a GPU as the replay reads them: whole numbers of cycles and of parts of them."""

from collections.abc import Mapping
from typing import NamedTuple

from pipeline.timing.sm.mechanisms import Mechanisms

PARTS = 1024
"""Parts of a cycle in which stages with a bandwidth are counted."""

_SECTOR_BYTES = 32
_LINE_BYTES = 128
_MANY_LOADS, _LONG_QUEUE = 1 << 12, 480
"""More than warps can have under way where nothing limits them; what the replay has room for."""
_DRAM_BURST = 8


class Rates(NamedTuple):
    """Figures of one SM in cycles; costs of a sector or a line in ``PARTS`` of a cycle.

    ``dram_burst`` is how many times its share of the bandwidth an SM takes at most while others do
    something else; on average it has no more than its share. ``stagger`` is how many cycles after
    the block before it each block of the SM starts.
    """

    fma_pipes: int
    fma_interval: int
    alu_interval: int
    uniform_interval: int
    special_interval: int
    double_interval: int
    tensor_rate: float
    special_latency: int
    operand_latency: int
    operand_window: int
    banks: int
    reuse: int
    greedy: int
    youngest: int
    hints: int
    queue: int
    address_interval: int
    address_latency: int
    access_interval: int
    backlog: int
    operand_release: int
    pending: int
    shared_latency: int
    l1_latency: int
    tag_part: int
    fill_part: int
    l1: int
    l1_lines: int
    l2_near: int
    l2_far: int
    l2_two: int
    l2_part: int
    l2_burst: int
    dram_burst: int
    dram_extra: int
    dram_part: int
    barrier_latency: int
    code_lines: int
    code_latency: int
    stagger: int
    log_first: int
    log_cycles: int


def rates(
    figures: Mapping[str, float], l1_bytes: int, sms: int, on: Mechanisms, window: tuple[int, int]
) -> Rates:
    """Return the rates of an SM.

    Parameters
    ----------
    figures
        Of the GPU, by their names in ``pipeline.vocab.sm_gpus``.
    l1_bytes
        What shared memory leaves of L1.
    sms
        SMs that share L2 and DRAM.
    on
        What is modelled.
    window
        First cycle and number of cycles to be logged.
    """
    whole = {name: round(value) for name, value in figures.items() if value == value}
    near, far = whole["l2_latency_near"], whole["l2_latency_far"]
    issue_to_data = whole["address_latency"] if on.queue_limit else 0
    l1_latency = whole["l1_latency"] - whole["address_latency"]
    beyond = whole["dram_latency"] - (near + far) // 2
    dram_bytes_per_clk = figures["dram_bandwidth"] / figures["clock_light"]
    port = figures["l2_port_bytes_per_clk"]
    l2_part = _cost(_SECTOR_BYTES, min(figures["l2_bytes_per_clk"] / sms, port))
    if not on.beyond_l1:
        near = far = l1_latency
        beyond = 0
    return Rates(
        fma_pipes=whole["fma_pipes"],
        fma_interval=whole["fma_interval"] if on.pipes else 0,
        alu_interval=whole["alu_interval"] if on.pipes else 0,
        uniform_interval=whole["uniform_interval"] if on.pipes else 0,
        special_interval=whole["special_interval"] if on.pipes else 0,
        double_interval=whole["double_interval"] if on.pipes else 0,
        tensor_rate=_tensor_rate(figures) if on.pipes else float(1 << 20),
        special_latency=whole["special_latency"],
        operand_latency=whole["operand_latency"],
        operand_window=whole["operand_window"],
        banks=int(on.register_banks),
        reuse=int(on.reuse_cache),
        greedy=int(on.greedy),
        youngest=int(on.youngest),
        hints=int(on.yield_hint),
        queue=whole["access_queue"] if on.queue_limit else _LONG_QUEUE,
        address_interval=whole["address_interval"] if on.queue_limit else 0,
        address_latency=issue_to_data,
        access_interval=whole["access_interval"] if on.lsu_acceptance else 0,
        backlog=whole["data_backlog"],
        operand_release=whole["operand_release"],
        pending=whole["loads_pending"] if on.loads_pending else _MANY_LOADS,
        shared_latency=whole["shared_latency"] - whole["address_latency"],
        l1_latency=l1_latency,
        tag_part=_cost(1, figures["l1_tags_per_clk"]) if on.tags else 0,
        fill_part=_cost(1, figures["l1_fills_per_clk"]) if on.wavefronts else 0,
        l1=int(on.l1),
        l1_lines=l1_bytes // _LINE_BYTES,
        l2_near=near,
        l2_far=far,
        l2_two=int(whole["l2_partitions"] > 1),
        l2_part=l2_part if on.l2_bandwidth else 0,
        l2_burst=_cost(_SECTOR_BYTES, port) if on.l2_bandwidth else 0,
        dram_burst=_DRAM_BURST,
        dram_extra=max(beyond, 0),
        dram_part=_cost(_SECTOR_BYTES, dram_bytes_per_clk / sms) if on.dram_bandwidth else 0,
        barrier_latency=whole["barrier_latency"] if on.barriers else 0,
        code_lines=whole["code_bytes"] // _LINE_BYTES,
        code_latency=whole["code_latency"] if on.instruction_cache else 0,
        stagger=0,
        log_first=window[0],
        log_cycles=window[1],
    )


def _cost(amount: float, per_cycle: float) -> int:
    return round(PARTS * amount / per_cycle)


def _tensor_rate(figures: Mapping[str, float]) -> float:
    """Return the multiply-adds per cycle of a sub-core's tensor core."""
    per_clk = figures["peak_tensor_fp16_flops"] / 2 / figures["sm_count"] / figures["clock_hz"]
    return per_clk / figures["warp_allocation_unit"]
