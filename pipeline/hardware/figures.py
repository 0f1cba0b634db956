"""What may stand in a GPU sheet and in the table of compute capabilities."""

from typing import Self

from pydantic import model_validator

from pipeline.sheets.figures import (
    Bandwidth,
    Count,
    Duration,
    Flops,
    Frequency,
    Name,
    PerClock,
    Record,
    Reserve,
    Size,
)


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
