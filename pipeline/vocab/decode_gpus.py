"""What decoding depends on, per GPU."""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.gpus import FIGURES
from pipeline.vocab.variable import Variable

DECODE_GPUS = DIMENSIONS | {
    "sm_count": FIGURES["sm_count"],
    "read_share": Variable("1", "share of the DRAM bandwidth that a plain read reaches"),
    "read_bandwidth": Variable("byte/s", "DRAM bandwidth of a plain read"),
    "dram_latency": Variable("s", "from a load to its value in DRAM, nothing else under way"),
    "memory_hop": Variable("s", "a store or load by which SMs tell each other something"),
    "launch_stream": Variable("s", "from kernel to kernel on a stream"),
    "launch_graph": Variable("s", "from kernel to kernel in a CUDA graph"),
    "smallest_gemv": Variable("s", "a GEMV that reads next to nothing, with its launch in a graph"),
    "sm_read_bandwidth": Variable("byte/s", "what one SM takes in at most"),
    "multiply_rate": Variable("s-1", "weights that one SM of a megakernel multiplies per second"),
    "prefetch_pages": Variable("1", "pages of 16 KiB that an SM reads weights ahead into"),
    "in_flight_pages": Variable("1", "pages under way per SM that saturate DRAM"),
    "gemv_reach": Variable("1", "share of read_bandwidth that GEMV kernels reach"),
    "attention_kernel": Variable("s", "attention of one layer and few tokens, launch in a graph"),
    "instruction_setup": Variable("s", "to set up an instruction of a megakernel"),
    "instruction_sync": Variable("s", "barriers between warps, per instruction"),
    "norm_time": Variable("s", "to norm the input of an instruction"),
    "figure": Variable("1", "a figure that some GPUs were measured at"),
    "is_measured": Variable("1", "whether the figure was measured on this very GPU"),
}
