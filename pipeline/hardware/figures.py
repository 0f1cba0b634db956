"""What may stand in a GPU sheet and in the table of compute capabilities.

A figure is ``{value, unit, source}``. Each field takes one unit only, so that no number is ever
read in another scale than it was written in.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

# Larger than any machine, and still exact as int64 and as float64.
_LARGEST = 10**15
_Whole = Annotated[int, Field(gt=0, le=_LARGEST)]
# A clock below 1 MHz or a bandwidth below 1 MB/s was written in GHz or GB/s.
_Rate = Annotated[float, Field(ge=1e6, le=1e18, allow_inf_nan=False)]
# A document and a place in it need at least one blank between them; a bare address has none.
_Source = Annotated[str, StringConstraints(min_length=12, pattern=r"\S\s+\S")]


class Record(BaseModel):
    """Nothing is guessed: unknown fields and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Figure(Record):
    """A number from the world with the place it was read in."""

    value: int | float
    unit: str
    source: _Source


class Count(Figure):
    """A whole number of things."""

    value: _Whole
    unit: Literal["1"]


class Size(Figure):
    """A whole number of bytes."""

    value: _Whole
    unit: Literal["byte"]


class Reserve(Figure):
    """A whole number of bytes that may be none."""

    value: Annotated[int, Field(ge=0, le=_LARGEST)]
    unit: Literal["byte"]


class Frequency(Figure):
    """Clocks per second."""

    value: _Rate
    unit: Literal["Hz"]


class Bandwidth(Figure):
    """Bytes per second."""

    value: _Rate
    unit: Literal["byte/s"]


class PerClock(Figure):
    """Events per SM and clock, not always whole."""

    value: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)]
    unit: Literal["1"]


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
    """What one GPU sheet holds. The rates of an SM may stand here where a GPU differs."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
    compute_capability: str
    sm_count: Count
    fp32_lanes_per_sm: Count
    clock_hz: Frequency
    dram_bandwidth: Bandwidth
    l2_bytes: Size
    issue_per_clk: PerClock | None = None
    l1_lines_per_clk: PerClock | None = None
    smem_wavefronts_per_clk: PerClock | None = None
