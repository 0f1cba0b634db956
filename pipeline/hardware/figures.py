"""What may stand in a GPU sheet and in the table of compute capabilities."""

from typing import Self

from pydantic import model_validator

from pipeline.sheets.figures import (
    Bandwidth,
    Count,
    Cycles,
    Duration,
    Flops,
    Frequency,
    Name,
    PerClock,
    Record,
    Reserve,
    Share,
    Size,
    Sizes,
)


class SmReplayEntry(Record):
    """How an SM works, for the replay cycle by cycle; see ``pipeline/timing/sm``."""

    fma_pipes: Count
    fma_interval: Cycles
    alu_interval: Cycles
    uniform_interval: Cycles
    special_interval: Cycles
    double_interval: Cycles
    special_latency: Cycles
    operand_latency: Cycles
    operand_window: Cycles
    access_queue: Count
    address_interval: Cycles
    address_latency: Cycles
    access_interval: Cycles
    operand_release: Cycles
    loads_pending: Count
    data_backlog: Cycles
    shared_latency: Cycles
    l1_latency: Cycles
    l1_tags_per_clk: PerClock
    l1_fills_per_clk: PerClock
    l1_bytes: Size
    smem_configurations: Sizes
    l2_port_bytes_per_clk: PerClock
    barrier_latency: Cycles
    code_bytes: Size
    code_latency: Cycles
    launch_gap: Duration


class GpuReplayEntry(Record):
    """What the replay needs of a GPU beyond its SMs.

    The share of power stands only where the card cannot keep its clock under load; the clock where
    it runs above that of the data sheet while power allows.
    """

    l2_latency_near: Cycles
    l2_latency_far: Cycles
    l2_partitions: Count
    l2_bytes_per_clk: PerClock
    dram_latency: Cycles
    clock_light: Frequency | None = None
    power_share: Share | None = None


class CapabilityEntry(Record):
    """What all GPUs of one compute capability share: limits and rates of one SM."""

    warp_size: Count
    max_threads_per_block: Count
    max_threads_per_sm: Count
    max_warps_per_sm: Count
    max_blocks_per_sm: Count
    registers_per_sm: Count
    registers_per_block_max: Count
    registers_per_thread_max: Count
    register_allocation_unit: Count
    warp_allocation_unit: Count
    smem_per_sm: Size
    smem_per_block_max: Size
    smem_reserved_per_block: Reserve
    smem_allocation_unit: Size
    issue_per_clk: PerClock
    l1_lines_per_clk: PerClock
    smem_wavefronts_per_clk: PerClock
    replay: SmReplayEntry | None = None

    @model_validator(mode="after")
    def _figures_fit_together(self) -> Self:
        if self.max_warps_per_sm.value * self.warp_size.value != self.max_threads_per_sm.value:
            raise ValueError(
                f"max_warps_per_sm ({self.max_warps_per_sm.value}) times warp_size "
                f"({self.warp_size.value}) must be max_threads_per_sm "
                f"({self.max_threads_per_sm.value})"
            )
        if self.registers_per_sm.value % self.warp_allocation_unit.value:
            raise ValueError(
                f"registers_per_sm ({self.registers_per_sm.value}) must divide into "
                f"warp_allocation_unit ({self.warp_allocation_unit.value}) equal shares"
            )
        largest = self.smem_per_block_max.value + self.smem_reserved_per_block.value
        if largest > self.smem_per_sm.value:
            raise ValueError(
                f"smem_per_block_max plus smem_reserved_per_block ({largest}) must not exceed "
                f"smem_per_sm ({self.smem_per_sm.value})"
            )
        return self


class SheetEntry(Record):
    """What one GPU sheet holds.

    The rates of an SM may stand here where a GPU differs, and launch costs where they are known.
    """

    name: Name
    compute_capability: str
    sm_count: Count
    fp32_lanes_per_sm: Count
    clock_hz: Frequency
    peak_tensor_fp16_flops: Flops
    dram_bandwidth: Bandwidth
    l2_bytes: Size
    issue_per_clk: PerClock | None = None
    l1_lines_per_clk: PerClock | None = None
    smem_wavefronts_per_clk: PerClock | None = None
    launch_stream: Duration | None = None
    launch_graphs: Duration | None = None
    replay: GpuReplayEntry | None = None
