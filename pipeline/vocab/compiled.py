"""What compiled code does: counters of whole launches, and of every instruction."""

from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.occupancy import LAUNCH_FACTS
from pipeline.vocab.predictions import PREDICTIONS
from pipeline.vocab.variable import Variable

ARCHITECTURE = {"arch": Variable("1", "architecture that the code is compiled for")}

_LAUNCHED = ("threads_per_block", "tile_m", "tile_n", "element_bytes")

# In machine code every instruction counts, address arithmetic and loop control among them.
_EVERY = {
    "warp_instr": Variable("1", "warp instructions of all kinds", "smsp__inst_executed.sum"),
}

COMPILED_COUNTS = (
    DIMENSIONS
    | ARCHITECTURE
    | COUNTERS
    | _EVERY
    | {
        "simulated": Variable("1", "whether the kernel takes this size and was counted at it"),
        "registers": Variable(
            "1", "32-bit registers per thread, as the compiler allots them",
            "launch__registers_per_thread",
        ),
        "registers_assumed": LAUNCH_FACTS["registers_per_thread"],
        "smem_bytes": Variable("byte", "shared memory per block, as compiled"),
        **{name: LAUNCH_FACTS[name] for name in _LAUNCHED},
        "lds_words": Variable("1", "32-bit words per lane and load from shared memory, on average"),
        "gld_words": Variable("1", "32-bit words per lane and load from global memory, on average"),
        "opcode_class": Variable("1", "class of opcodes"),
        "instructions": Variable("1", "warp instructions of each class"),
        "opcodes": Variable("1", "opcodes that make up each class"),
    }
)  # fmt: skip

INSTRUCTIONS = {
    "instruction": Variable("1", "position of the instruction in the code"),
    "kernel": DIMENSIONS["kernel"],
    "arch": ARCHITECTURE["arch"],
    "n": DIMENSIONS["n"],
    "address": Variable("byte", "address of the instruction from the start of the kernel"),
    "text": Variable("1", "instruction as the disassembler writes it"),
    "opcode_class": COMPILED_COUNTS["opcode_class"],
    "source_line": Variable("1", "line of the source file; 0 if not known"),
    "source_file": Variable("1", "source file of the line"),
    "stall": Variable("1", "cycles that the compiler asks to wait before the next instruction"),
    "executed": Variable("1", "warps that ran it", "smsp__inst_executed"),
    "threads": Variable("1", "threads that ran it", "smsp__thread_inst_executed"),
    "threads_on": Variable(
        "1", "threads that ran it and for which its guard held",
        "smsp__thread_inst_executed_pred_on",
    ),
    "requests": Variable("1", "warps that accessed memory with it"),
    "sectors": Variable(
        "1", "32-byte sectors of global and local memory, distinct per warp",
        "memory_l2_theoretical_sectors_global",
    ),
    "ideal_sectors": Variable(
        "1", "sectors that the same bytes would fill without gaps",
        "memory_l2_theoretical_sectors_global_ideal",
    ),
    "lines": Variable(
        "1", "128-byte lines of global and local memory, distinct per warp",
        "memory_l1_tag_requests_global",
    ),
    "wavefronts": Variable(
        "1", "wavefronts of shared memory by the hardware rule", "memory_l1_wavefronts_shared"
    ),
    "ideal_wavefronts": Variable(
        "1", "wavefronts of shared memory without bank conflicts",
        "memory_l1_wavefronts_shared_ideal",
    ),
}  # fmt: skip

SOURCE_LINES = {
    "line": Variable("1", "rank of the source line, the most wasteful first"),
    **{
        name: INSTRUCTIONS[name]
        for name in (
            "source_file", "source_line", "executed", "requests", "sectors", "ideal_sectors",
            "wavefronts", "ideal_wavefronts",
        )
    },
    "excess_sectors": Variable(
        "1", "sectors beyond those that the same bytes would fill",
        "memory_l2_theoretical_sectors_global_excessive",
    ),
    "excess_wavefronts": Variable(
        "1", "wavefronts beyond those that accesses without bank conflicts take",
        "memory_l1_wavefronts_shared_excessive",
    ),
}  # fmt: skip

MEMORY_KINDS = {
    "access": Variable("1", "kind of access to memory"),
    **{
        name: INSTRUCTIONS[name]
        for name in (
            "executed", "requests", "sectors", "ideal_sectors", "lines", "wavefronts",
            "ideal_wavefronts",
        )
    },
}  # fmt: skip

COMPILED_PREDICTIONS = (
    PREDICTIONS
    | ARCHITECTURE
    | {
        "source": Variable("1", "where counts come from: compiled code"),
        "registers_per_thread": COMPILED_COUNTS["registers"],
        "blocks_per_sm": Variable("1", "resident blocks per SM, with the compiler's registers"),
        "warps_per_sm": Variable("1", "resident warps per SM, with the compiler's registers"),
        "limited_by": Variable("1", "what keeps another block out"),
    }
)
