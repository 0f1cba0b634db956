"""Replays of machine code on one SM: times, where they go, and every cycle of a span."""

from pipeline.vocab.compiled import ARCHITECTURE, INSTRUCTIONS
from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.measured import MEASURED
from pipeline.vocab.predictions import PREDICTIONS
from pipeline.vocab.sweeps import TILE_AXES
from pipeline.vocab.variable import Variable

_REASONS = {
    "stall_reason": Variable("1", "what a warp does in a cycle, with Nsight Compute's names"),
    "stall_meaning": Variable("1", "the same in words"),
}
_STALLS = Variable(
    "1",
    "cycles of the resident warps of one SM, by what they did; a warp that issues is selected",
    "smsp__average_warps_issue_stalled_per_issue_active",
)

SM_PREDICTIONS = (
    DIMENSIONS
    | ARCHITECTURE
    | _REASONS
    | {
        "pipe": Variable("1", "part of an SM that can be busy"),
        "pipe_meaning": Variable("1", "the same in words"),
        "t": Variable("s", "replayed time from launch to end"),
        "launch_t": Variable("s", "part of it before and after the work"),
        "cycles": Variable("1", "SM cycles of the work", "sm__cycles_elapsed.max"),
        "gflops": PREDICTIONS["gflops"],
        "clock_hz": Variable("Hz", "clock that the card keeps under this load"),
        "ipc": Variable(
            "1", "warp instructions per cycle and SM", "sm__inst_executed.avg.per_cycle_elapsed"
        ),
        "blocks_per_sm": Variable("1", "resident blocks per SM, with the compiler's registers"),
        "waves": Variable("1", "waves of resident blocks, the last one as its share"),
        "utilisation": Variable("1", "share of the cycles in which a pipe is busy"),
        "stall_cycles": _STALLS,
        "warp_cycles": Variable(
            "1", "cycles of all resident warps of one SM, to which stall_cycles sum"
        ),
        "l1_hit_rate": Variable(
            "1", "share of the sectors loaded from global memory that L1 holds; NaN if none is",
            "l1tex__t_sector_hit_rate",
        ),
        "l2_bytes": Variable("byte", "traffic between L1 and L2", "lts__t_bytes.sum"),
        "dram_bytes": Variable("byte", "traffic between L2 and DRAM", "dram__bytes.sum"),
    }
)  # fmt: skip

SM_INSTRUCTIONS = (
    DIMENSIONS
    | ARCHITECTURE
    | _REASONS
    | {
        name: INSTRUCTIONS[name]
        for name in ("instruction", "address", "text", "opcode_class", "source_line", "source_file")
    }
    | {
        "executed": Variable("1", "warp instructions of one SM"),
        "stall_cycles": Variable(
            "1",
            "cycles of the resident warps of one SM that they stood before the instruction, by "
            "reason",
            "smsp__pcsamp_warps_issue_stalled",
        ),
    }
)

SM_SPANS = (
    DIMENSIONS
    | ARCHITECTURE
    | {
        "span": Variable("1", "stretch of cycles in which one warp does one thing"),
        "span_kernel": Variable("1", "kernel of the span"),
        "begin": Variable("1", "first cycle, from the start of what is shown"),
        "end": Variable("1", "cycle after the last"),
        "warp": Variable("1", "number of the resident warp on its SM"),
        "subcore": Variable("1", "quarter of the SM that holds the warp"),
        "block": Variable("1", "number of the resident block that the warp belongs to"),
        "state": Variable("1", "what the warp does, with Nsight Compute's names"),
        "span_instruction": Variable("1", "position of the instruction that is issued or awaited"),
        "text": INSTRUCTIONS["text"],
        "opcode_class": INSTRUCTIONS["opcode_class"],
        "source_line": INSTRUCTIONS["source_line"],
        "first_cycle": Variable("1", "cycle of the replay at which what is shown begins"),
    }
)

SM_MEASURED = {
    "measurement": MEASURED["measurement"],
    "predicted_gflops": Variable("GFLOP/s", "replayed rate of the tiling that was measured"),
    "bound": Variable("1", "busiest pipe; none without a replay"),
}

SM_ABLATION = DIMENSIONS | {
    "measurement": MEASURED["measurement"],
    "mechanism": Variable("1", "mechanism of the replay that is left out; none: none is"),
    "predicted_gflops": Variable("GFLOP/s", "replayed rate without the mechanism"),
    "measured_gflops": MEASURED["measured_gflops"],
    "study_error": Variable(
        "1",
        "mean absolute error without it in a feasibility study, as a share; NaN: it hardly "
        "changed, or was not tried",
    ),
}

SM_GEMVS = {
    "measurement": MEASURED["measurement"],
    "gpu": DIMENSIONS["gpu"],
    "gpu_name": DIMENSIONS["gpu_name"],
    "rows": Variable("1", "outputs of the matrix-vector product"),
    "columns": Variable("1", "inputs of the matrix-vector product"),
    "weight_bytes": Variable("byte", "weights that are read"),
    "measured": Variable(
        "s", "published time of the kernel, from one launch of a graph to the next"
    ),
    "t": Variable("s", "replayed time from launch to end; NaN for a shape that the kernel lacks"),
    "launch_t": SM_PREDICTIONS["launch_t"],
    "ratio": Variable("1", "replayed over published time"),
    "dram_share": Variable("1", "share of the DRAM bandwidth that the replay reaches"),
    "stall": Variable("1", "what warps mostly do or wait for, with Nsight Compute's names"),
}

SM_TILES = (
    DIMENSIONS
    | TILE_AXES
    | {
        "tiling": Variable("1", "tiles of one compiled variant of a kernel"),
        "roofline_gflops": Variable("GFLOP/s", "rate of the tiling by the roofline"),
        "roofline_bound": Variable("1", "resource that sets the roofline's time"),
        "replay_gflops": Variable(
            "GFLOP/s", "rate of the tiling by the replay; NaN if it cannot be replayed"
        ),
        "busiest": Variable("1", "busiest pipe in the replay"),
        "stall": SM_GEMVS["stall"],
        "blocks_per_sm": SM_PREDICTIONS["blocks_per_sm"],
        "registers": Variable("1", "32-bit registers per thread, as the compiler allots them"),
        "measured_here": Variable("1", "whether this tiling was published for this GPU"),
    }
)
