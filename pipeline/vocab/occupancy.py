"""What a launch asks of an SM, and how many of its blocks fit."""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.variable import Variable

LAUNCH_FACTS = {
    "threads_per_block": Variable("1", "threads per block"),
    "registers_per_thread": Variable("1", "32-bit registers per thread (assumed)"),
    "smem_bytes": Variable("byte", "shared memory per block"),
    "tile_m": Variable("1", "rows of C that one block computes"),
    "tile_n": Variable("1", "columns of C that one block computes"),
    "element_bytes": Variable("byte", "bytes of an element of A and B"),
    "capability_min": Variable(
        "1",
        "lowest compute capability that has the instructions, ten times major plus minor; 0 for "
        "any",
    ),
    "multiple_m": Variable("1", "M must be a multiple of this"),
    "multiple_n": Variable("1", "N must be a multiple of this"),
    "multiple_k": Variable("1", "K must be a multiple of this"),
}

RESIDENCY = {
    "blocks_per_sm": Variable("1", "resident blocks per SM"),
    "warps_per_sm": Variable("1", "resident warps per SM"),
    "occupancy": Variable("1", "resident warps as a share of the most that an SM can hold"),
    "limited_by": Variable(
        "1",
        "what keeps another block out: warps, registers, shared, blocks; or capability, where the "
        "GPU lacks an instruction",
    ),
}

OCCUPANCY = DIMENSIONS | LAUNCH_FACTS | RESIDENCY
