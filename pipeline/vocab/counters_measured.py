"""Counters of a profiler beside those of the simulator."""

from pipeline.vocab.measured import PROFILED
from pipeline.vocab.variable import Variable

COUNTERS_MEASURED = PROFILED | {
    "variant": Variable("1", "options with which the kernel was counted, as its code is compiled"),
    "counter": Variable("1", "what of the model stands for the metric"),
    "simulated": Variable("1", "value by the model; NaN if nothing stands for the metric"),
    "expected": Variable(
        "1", "value by the model, with the read of C that the measured kernel has beside"
    ),
    "ratio": Variable("1", "simulated over measured"),
    "deviation": Variable("1", "measured over expected, less one"),
    "explained": Variable("1", "where the difference comes from"),
}
