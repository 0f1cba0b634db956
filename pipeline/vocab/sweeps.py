"""Sweeps: tiles of the matrix-product kernels, and what is best among them."""

from pipeline.vocab.decode import DECODE_DIMENSIONS, TIMES
from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.variable import Variable

NO_RULE = "none"
"""Stands for the rule where no rule excludes a point."""

RULES = {
    "positive": "every part of a tile is at least 1",
    "thread_tile": "the kernel has no such tile of a thread",
    "vector_width": "128-bit accesses need multiples of 4",
    "divisibility": "tiles divide into those of threads and into equal rounds of loads",
    "threads": "a block has between 1 and 1024 threads",
    "size": "the matrix size is a multiple of the tile and of a line",
    "shared_memory": "a block's tiles of A and B fit into the shared memory it may have",
    "registers": "accumulators, operands and addresses of all threads fit into registers",
    "occupancy": "at least one block is resident",
}
"""Why a tile is excluded; of several rules the first one is said to exclude it."""

TILE_AXES = {
    "bm": Variable("1", "rows of C that a block computes"),
    "bn": Variable("1", "columns of C that a block computes"),
    "bk": Variable("1", "depth of a step along k"),
    "wm": Variable("1", "rows of C that a warp computes"),
    "wn": Variable("1", "columns of C that a warp computes"),
    "wniter": Variable("1", "passes of a warp along its columns"),
    "tm": Variable("1", "rows of C that a thread computes, in each pass of its warp if it has any"),
    "tn": Variable("1", "columns of C that a thread computes, in each pass of its warp"),
}

TILES = (
    DIMENSIONS
    | TILE_AXES
    | {
        "gflops": Variable("GFLOP/s", "predicted rate of the fastest kernel with this tile"),
        "bound": Variable("1", "resource that sets its time; none if no kernel takes the tile"),
        "valid": Variable("1", "whether any of the kernels runs with this tile on this GPU"),
        "invalid_reason": Variable(
            "1", "why no kernel runs: rule and condition, of the kernel that comes closest"
        ),
        "filled_by": Variable("1", "id of the fastest kernel with this tile; none if none runs"),
        "blocks_per_sm": Variable("1", "resident blocks per SM of that kernel; 0 if none runs"),
        "smem_bytes": Variable("byte", "shared memory per block that the tile takes"),
        "registers_per_thread": Variable(
            "1", "registers per thread of that kernel, from accumulators, operands and addresses"
        ),
        "threads_per_block": Variable("1", "threads per block of that kernel; 0 if none runs"),
        "kernel_t": Variable("s", "predicted run time per kernel and matrix size"),
        "kernel_gflops": Variable("GFLOP/s", "predicted rate per kernel and matrix size"),
        "kernel_bound": Variable("1", "resource that sets the time per kernel and matrix size"),
        "excluded_by": Variable("1", "rule that excludes the tile, per kernel and matrix size"),
    }
)

TILE_COUNTS = (
    DIMENSIONS
    | TILE_AXES
    | {
        "counter": Variable("1", "what is counted; pipeline/vocab/counters.py says how"),
        "count": Variable("1", "events of one launch, exact; 0 where no kernel runs on any GPU"),
    }
)

_OF = {"best": "of the best tile", "published": "of the published tile; 0 without one"}

BEST_TILES = (
    DIMENSIONS
    | TILE_AXES
    | {
        f"{which}_{name}": Variable(axis.units, f"{axis.long_name}, {words}")
        for which, words in _OF.items()
        for name, axis in TILE_AXES.items()
    }
    | {
        "best_kernel": Variable("1", "kernel that is fastest; none if none runs"),
        "best_gflops": Variable("GFLOP/s", "predicted rate of the best tile"),
        "best_bound": Variable("1", "resource that sets the time of the best tile"),
        "best_smem_bytes": Variable("byte", "shared memory per block of the best tile"),
        "tied": Variable("1", "kernels and tiles that are exactly as fast as the best"),
        "published_kernel": Variable("1", "kernel with a published tile for this GPU, or none"),
        "published_gflops": Variable("GFLOP/s", "predicted rate of the published tile"),
        "published_share": Variable("1", "predicted rate of the published tile over the best"),
        "valid_tiles": Variable("1", "tiles with which any kernel runs at the size of the sweep"),
        "on_front": Variable(
            "1", "whether no tile is as fast with less shared memory, or faster with no more"
        ),
    }
)

TIMELINE_AXES = {
    "launch": Variable("s", "from the end of one kernel to the start of the next"),
    "ramp": Variable("s", "from a kernel's start to its first weights"),
    "small": Variable("s", "time of a kernel that reads no weights"),
    "sync": Variable("s", "from a result being there to the next instruction seeing it"),
    "instr_overhead": Variable("s", "what a megakernel's instruction costs beyond reading"),
    "eff": Variable("1", "share of the DRAM bandwidth that reading reaches"),
    "smem_buf": Variable("byte", "shared memory per SM into which weights are read ahead"),
    "context": DECODE_DIMENSIONS["context"],
    "batch": DECODE_DIMENSIONS["batch"],
}

TIMELINES = DECODE_DIMENSIONS | TIMELINE_AXES | TIMES

GAIN_PAIRS = (
    ("launch", "instr_overhead"),
    ("small", "sync"),
    ("ramp", "smem_buf"),
    ("context", "batch"),
)
"""Parameters that are looked at together: what kernels pay against what a megakernel pays, what
each can hide, and what is read."""

_GAIN = "time of the reference execution over that of the one compared"

TIMELINE_GAIN = (
    DECODE_DIMENSIONS
    | TIMELINE_AXES
    | {
        "gain": Variable("1", f"{_GAIN}, all parameters at the middle of their values"),
        "least_gain": Variable("1", f"least {_GAIN}, over all parameters"),
        "most_gain": Variable("1", f"largest {_GAIN}, over all parameters"),
        "points": Variable("1", "points of the sweep per GPU and execution"),
        "losing": Variable("1", "points at which the execution compared is no faster"),
    }
)
