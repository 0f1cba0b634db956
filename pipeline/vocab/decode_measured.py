"""Published measurements of decoding one token."""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.variable import Variable

DECODE_MEASURED = DIMENSIONS | {
    "measurement": Variable("1", "GPU, workload, shape, engine, mode and metric of one figure"),
    "workload": Variable("1", "gemv, gemv_fit, id of a model (one decode step), or a probe"),
    "rows": Variable("1", "outputs of a matrix-vector product; NaN for other workloads"),
    "columns": Variable("1", "inputs of a matrix-vector product; NaN for other workloads"),
    "dtype": Variable("1", "type of the weights; empty if none or not stated"),
    "batch": Variable("1", "sequences in a step; NaN if it does not apply"),
    "engine": Variable("1", "software that was measured"),
    "mode": Variable("1", "how kernels are launched: stream, graph, megakernel; empty if none"),
    "metric": Variable("1", "what was measured"),
    "relation": Variable("1", "equal, about (said roughly), above or below (only a bound)"),
    "measured": Variable("1", "figure in the SI unit that belongs to unit"),
    "value": Variable("1", "figure as published, in unit"),
    "unit": Variable("1", "unit of the figure as published"),
    "source": Variable("1", "where the figure was published"),
    "conditions": Variable("1", "what is known about the measurement"),
}
