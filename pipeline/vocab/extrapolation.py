"""Counters carried to sizes that nobody simulated."""

from pipeline.vocab.counters import COUNTERS
from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.traffic import TRAFFIC
from pipeline.vocab.variable import Variable

EXTRAPOLATION = (
    DIMENSIONS
    | COUNTERS
    | TRAFFIC
    | {
        "held_out_error": Variable(
            "1", "largest relative error over all counters at the size that was held out"
        ),
        "held_out_n": Variable("1", "matrix size that was held out"),
        "per_fma_base_n": Variable("1", "matrix size whose counts per multiply-add were kept"),
        "held_out_counter": Variable(
            "1", "counter with the largest relative error at the held-out size; none if all agree"
        ),
    }
)
