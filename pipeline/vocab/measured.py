"""What others measured and published."""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.variable import Variable

MEASURED = DIMENSIONS | {
    "measurement": Variable("1", "GPU, kernel and size of one published rate"),
    "measured_gflops": Variable("GFLOP/s", "published rate, two FLOP per multiply-add"),
    "bm": Variable("1", "rows of C that one block computes; NaN if not stated"),
    "bn": Variable("1", "columns of C that one block computes; NaN if not stated"),
    "bk": Variable("1", "depth of the tiles of A and B; NaN if there are none or not stated"),
    "wm": Variable("1", "rows of C that one warp computes; NaN if not stated"),
    "wn": Variable("1", "columns of C that one warp computes; NaN if not stated"),
    "wniter": Variable("1", "passes of a warp along its columns; NaN if not stated"),
    "tm": Variable("1", "rows of C that one thread computes; NaN if not stated"),
    "tn": Variable("1", "columns of C that one thread computes; NaN if not stated"),
    "threads_per_block": Variable("1", "threads per block; NaN if not stated"),
    "source": Variable("1", "where the rate was published"),
    "conditions": Variable("1", "clock, repetitions and checks of the measurement"),
}

CLAIMED_READS = {
    "kernel": DIMENSIONS["kernel"],
    "reads_per_fma": Variable("1", "published reads of shared memory by a thread per multiply-add"),
    "claim": Variable("1", "what was published"),
    "source": MEASURED["source"],
}

PROFILED = DIMENSIONS | {
    "measurement": Variable("1", "GPU, kernel, size and metric of one published counter"),
    "metric": Variable("1", "metric of Nsight Compute, as it prints it"),
    "measured": Variable("1", "value of the metric for one launch"),
    "source": MEASURED["source"],
    "conditions": Variable("1", "code and tools of the measurement"),
}

REPLAY_STUDY = {
    "mechanism": Variable("1", "mechanism of a replay that is left out; none: none is"),
    "mean_error": Variable("1", "mean absolute error without it, as a share; NaN: hardly changed"),
    "source": MEASURED["source"],
}
