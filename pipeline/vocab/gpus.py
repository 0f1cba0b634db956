"""The figures of the GPU sheets, in the order in which they are stored."""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.variable import Variable

FIGURES = {
    "sm_count": Variable("1", "streaming multiprocessors (SM)"),
    "fp32_lanes_per_sm": Variable("1", "FP32 lanes per SM: multiply-adds per clock"),
    "clock_hz": Variable("Hz", "SM clock under boost"),
    "peak_tensor_fp16_flops": Variable(
        "FLOP/s",
        "peak dense rate of tensor cores, FP16 with FP32 accumulation, two FLOP per multiply-add",
    ),
    "dram_bandwidth": Variable("byte/s", "DRAM bandwidth"),
    "l2_bytes": Variable("byte", "L2 cache"),
    "warp_size": Variable("1", "threads per warp"),
    "max_threads_per_block": Variable("1", "most threads in a block"),
    "max_threads_per_sm": Variable("1", "most resident threads per SM"),
    "max_warps_per_sm": Variable("1", "most resident warps per SM"),
    "max_blocks_per_sm": Variable("1", "most resident blocks per SM"),
    "registers_per_sm": Variable("1", "32-bit registers per SM"),
    "registers_per_block_max": Variable("1", "most 32-bit registers that a block may hold"),
    "registers_per_thread_max": Variable("1", "most 32-bit registers that a thread may hold"),
    "register_allocation_unit": Variable("1", "registers are given to a warp in multiples of this"),
    "warp_allocation_unit": Variable(
        "1", "sub-partitions of an SM, each with its own share of the register file"
    ),
    "smem_per_sm": Variable("byte", "shared memory per SM"),
    "smem_per_block_max": Variable("byte", "most shared memory that a block may ask for"),
    "smem_reserved_per_block": Variable("byte", "shared memory that the driver adds to each block"),
    "smem_allocation_unit": Variable("byte", "shared memory is given in multiples of this"),
    "issue_per_clk": Variable("1", "warp instructions issued per SM and clock"),
    "l1_lines_per_clk": Variable("1", "128-byte lines that L1 serves per SM and clock"),
    "smem_wavefronts_per_clk": Variable("1", "shared-memory wavefronts per SM and clock"),
}

LAUNCH_FIGURES = {
    "launch_stream": Variable("s", "from one kernel to the next in a stream; NaN if not measured"),
    "launch_graphs": Variable(
        "s", "from one kernel to the next in a CUDA graph; NaN if not measured"
    ),
}
"""Figures that a sheet may leave out."""

GPUS = (
    DIMENSIONS
    | {"compute_capability": Variable("1", "CUDA compute capability")}
    | FIGURES
    | LAUNCH_FIGURES
    | {"peak_fp32_flops": Variable("FLOP/s", "peak FP32 rate, two FLOP per multiply-add")}
)
