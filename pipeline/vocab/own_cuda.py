"""What is known of compiled kernels of the user's own: by instruction, by line, in all."""

from pipeline.vocab.compiled import (
    ARCHITECTURE,
    COMPILED_COUNTS,
    COMPILED_PREDICTIONS,
    INSTRUCTIONS,
    MEMORY_KINDS,
    SOURCE_LINES,
)
from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.occupancy import RESIDENCY
from pipeline.vocab.sm import SM_PREDICTIONS
from pipeline.vocab.traffic import TRAFFIC
from pipeline.vocab.variable import Variable

OWN_CUDA_COUNTS = (
    {name: DIMENSIONS[name] for name in ("kernel", "kernel_number", "kernel_label")}
    | ARCHITECTURE
    | COUNTERS
    | {
        name: COMPILED_COUNTS[name]
        for name in ("warp_instr", "registers", "threads_per_block", "opcode_class", "instructions",
                     "opcodes")
    }
    | TRAFFIC
    | {
        "smem_bytes": Variable("byte", "shared memory per block, static and dynamic"),
        "local_bytes": Variable("byte", "local memory per thread: stack and spilled registers"),
        "failure": Variable("1", "why the kernel failed its check; empty if it passed"),
        "counted": Variable("1", "whether there are counts: the kernel was compiled and launched"),
        "how": Variable(
            "1", "run: every block, with values; counted: exact counts without values; none"
        ),
        "max_abs_error": Variable("1", "largest difference from the kernel's specification"),
        "checked": Variable("1", "whether the result was compared with a specification"),
        "hazard_count": Variable("1", "hazards found: reports, one per block and instruction"),
    }
)  # fmt: skip

OWN_CUDA_INSTRUCTIONS = INSTRUCTIONS | {
    "hazard": Variable("1", "number of the hazard, in the order of the code"),
    "hazard_kind": Variable("1", "kind of hazard"),
    "hazard_position": Variable("1", "position of the instruction that shows it"),
    "hazard_blocks": Variable("1", "how often blocks show it"),
    "hazard_text": Variable("1", "first block that shows it, in words"),
}

_ROWS = {name: OWN_CUDA_COUNTS[name] for name in ("kernel", "kernel_label", "arch")} | {
    "row": Variable("1", "number of the row: kernels, architectures and entries in order")
}
OWN_CUDA_LINES = SOURCE_LINES | _ROWS
OWN_CUDA_MEMORY = MEMORY_KINDS | _ROWS

OWN_CUDA_PREDICTIONS = COMPILED_PREDICTIONS | RESIDENCY

OWN_CUDA_REPLAYS = SM_PREDICTIONS | {
    "not_replayed": Variable(
        "1", "why the launch cannot be replayed there; empty if it is, or no code is for the GPU"
    )
}
